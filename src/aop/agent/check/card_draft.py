"""Makes the draft of a Card from an A2A agent card, and lists what an agent card cannot say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_card import MAX_SKILLS, A2ACard, A2ASkill
from aop.base import json as strict_json
from aop.base.canonical import NotCanonical, canonical
from aop.base.ids import is_safe_identifier
from aop.base.semver import Version, VersionSyntax
from aop.net.origin import Endpoint, InvalidEndpoint

UNKNOWN: Final = "CHANGE-ME"
"""Stands in a draft where only the author knows the identifier. `aop card check` finds it."""

_LIMITS = {"timeoutMs": 60_000, "maxInputBytes": 65_536, "maxOutputBytes": 1_048_576}
_PARTIAL_VERSION = re.compile(r"v?(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?(?:\.(0|[1-9][0-9]{0,8}))?", re.ASCII)
_LOCAL_HOSTS = ("localhost", "0.0.0.0", "::", "127.0.0.1", "::1")  # noqa: S104  compared, never bound
_MAX_EXAMPLES, _MAX_EXAMPLE, _EXAMPLE_DEPTH = 3, 2000, 16
_TEXT: Final = frozenset({"text", "*/*", "*"})
_JSON: Final = frozenset({"application/json", "json"})
_EDGES = re.compile(r"\A[\s\ufeff]+|[\s\ufeff]+\Z")


@dataclass(frozen=True)
class OpenPoint:
    """What the author has to decide or check: where, and what the draft has there."""

    pointer: str
    text: str


@dataclass(frozen=True)
class CardDraft:
    """A Card that follows every rule, as the JSON document it is, and the points that are open."""

    card: dict[str, Any]
    open_points: tuple[OpenPoint, ...]
    skill_ids: Mapping[str, str]
    """The Agent's own ids of the Skills that have another one in the draft, by that one."""


def draft_of(found: A2ACard, *, endpoint: str, owner_id: str | None = None, agent_id: str | None = None) -> CardDraft:
    """`endpoint` is where the Router will call: the Agent's own address (`endpoint_of`), or that of what stands before
    it."""
    points: list[OpenPoint] = []
    changed: dict[str, str] = {}
    owner, name, description = owner_id or UNKNOWN, _cut(found.name, 120), _cut(found.description, 4000)
    if owner_id is None:
        points.append(OpenPoint("/owner/id", "write the principal of your access token"))
    if agent_id is None:
        agent_id = proposed_agent_id(found, owner)
        points.append(OpenPoint("/agentId", f"{agent_id} is a proposal; it can never be changed later"))
    if not name:
        points.append(OpenPoint("/name", "the agent card has no name"))
    if not description:
        points.append(OpenPoint("/description", "the agent card has no description"))
    card = {
        "schemaVersion": "0.2",
        "agentId": agent_id,
        "name": name or "Agent",
        "description": description or name or "Agent",
        "owner": {"id": owner, "displayName": _cut(found.organization, 120) or owner},
        "version": _version(found.version, points),
        "protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": endpoint},
        "skills": _skills(found, name or "Agent", points, changed),
        "authentication": {"type": "http_bearer"},
        "permissions": [],
        "limits": {**_LIMITS, "streaming": found.streaming},
    }
    points.append(OpenPoint("/permissions", "an agent card names none; add those that a Workspace must accept"))
    points.append(OpenPoint("/limits", "the times and sizes are defaults; set what the Agent needs"))
    return CardDraft(card, tuple(points), changed)


def proposed_agent_id(found: A2ACard, owner_id: str | None) -> str:
    return f"{owner_id or UNKNOWN}:{_slug(_cut(found.name, 120)) or 'agent'}"[:128]


def endpoint_of(found: A2ACard, read_from: Endpoint | None) -> tuple[str, OpenPoint | None]:
    """The Agent's own address: what its card says, unless that names the machine it runs on.

    `read_from` is where the card was read, None for a file.
    """
    named = found.url_of(A2AVersion.V0_3) or found.url_of(A2AVersion.V1_0)
    pointer = "/protocol/endpoint"
    try:
        endpoint = Endpoint.parse(named or "")
    except InvalidEndpoint:
        place = f"http://{UNKNOWN.lower()}.invalid/" if read_from is None else f"{read_from.origin}/"
        return place, OpenPoint(pointer, "the agent card names no usable JSON-RPC address; write the Agent's")
    if read_from is None or endpoint.origin == read_from.origin:
        return endpoint.canonical, None
    if endpoint.host in _LOCAL_HOSTS:
        place = read_from.origin + endpoint.path
        return place, OpenPoint(pointer, f"the agent card names {endpoint.origin}; the address that answered is used")
    return endpoint.canonical, OpenPoint(pointer, f"the agent card was read from {read_from.origin}; check it")


def usable_skill_id(text: str) -> str:
    """The id that a draft gives to a Skill with this id."""
    return text if is_safe_identifier(text) else _slug(text)[:128] or "skill"


def _skills(found: A2ACard, name: str, points: list[OpenPoint], changed: dict[str, str]) -> list[dict[str, Any]]:
    """Adds to the points, and to the ids that are changed."""
    listed: Sequence[A2ASkill] = found.skills
    if not listed:
        listed = (A2ASkill("chat", name, found.description or name, (), ("text/plain",)),)
        points.append(OpenPoint("/skills", "the agent card names no Skill; `chat` stands for all that the Agent does"))
    if len(listed) == MAX_SKILLS:
        points.append(OpenPoint("/skills", f"the draft ends after {MAX_SKILLS} Skills"))
    made: list[dict[str, Any]] = []
    taken: set[str] = set()
    for number, skill in enumerate(listed):
        pointer, skill_id = f"/skills/{number}", usable_skill_id(skill.id)
        if skill_id in taken:
            skill_id = f"{skill_id[:120]}-{number}"
        taken.add(skill_id)
        if skill_id != skill.id:
            points.append(OpenPoint(f"{pointer}/id", f"{_cut(skill.id, 60)!r} cannot be an id here"))
            if skill.id:
                changed[skill_id] = skill.id
        made.append(_skill(skill, skill_id, pointer, points))
    points.append(OpenPoint("/skills/*/outputSchema", "an agent card says nothing of it; the draft accepts any result"))
    return made


def _skill(skill: A2ASkill, skill_id: str, pointer: str, points: list[OpenPoint]) -> dict[str, Any]:
    # Some frameworks write `text` for text/plain and `json` for application/json.
    modes = set(skill.input_modes)
    takes_text = not modes or not modes.isdisjoint(_TEXT) or any(mode.startswith("text/") for mode in modes)
    takes_json = not modes.isdisjoint(_JSON)
    if takes_json:
        only = "it also takes JSON; for objects write their schema" if takes_text else "write the members it needs"
        points.append(OpenPoint(f"{pointer}/inputSchema", only))
    elif not takes_text:
        listed = _cut(", ".join(skill.input_modes), 120)
        points.append(OpenPoint(f"{pointer}/inputSchema", f"it takes {listed}, which the platform does not send"))
    return {
        "id": skill_id,
        "name": _cut(skill.name, 120) or skill_id,
        "description": _cut(skill.description, 2000) or _cut(skill.name, 120) or skill_id,
        "inputSchema": _object_schema(skill) if takes_json and not takes_text else _text_schema(skill),
        "outputSchema": {"description": "Any result of the Agent."},
        "requiredPermissions": [],
    }


def _text_schema(skill: A2ASkill) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": "The text for the Agent.", "type": "string", "minLength": 1}
    examples = [text for text in skill.examples if 0 < len(text) <= _MAX_EXAMPLE][:_MAX_EXAMPLES]
    return schema | ({"examples": examples} if examples else {})


def _object_schema(skill: A2ASkill) -> dict[str, Any]:
    examples = [value for value in map(_json_object, skill.examples) if value is not None][:_MAX_EXAMPLES]
    return {"type": "object"} | ({"examples": examples} if examples else {})


def _json_object(text: str) -> dict[str, Any] | None:
    """Many examples are sentences for people, also where the input is JSON."""
    try:
        value = strict_json.parse(text[:_MAX_EXAMPLE].encode(), _EXAMPLE_DEPTH)
        canonical(value)
    except (strict_json.JsonRefused, NotCanonical):
        return None
    return value if isinstance(value, dict) else None


def _version(text: str, points: list[OpenPoint]) -> str:
    try:
        return Version.parse(text).text
    except VersionSyntax:
        match = _PARTIAL_VERSION.fullmatch(text)
    made = "1.0.0" if match is None else ".".join(part or "0" for part in match.groups())
    points.append(OpenPoint("/version", f"{_cut(text, 40)!r} is not a SemVer version; {made} is used"))
    return made


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()[:500]).strip("-")


def _cut(text: str, length: int) -> str:
    """At most that long, without the one character that no Card may hold and without blanks around it."""
    return _EDGES.sub("", _EDGES.sub("", text.replace("\0", ""))[:length])
