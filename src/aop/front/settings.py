"""Reads the settings of a front: one file, the Cards and secrets it names, and the Router of the environment."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from aop.agent.guard.guard import DEFAULT_MAX_BODY
from aop.agent.guard.settings import DEVELOPMENT_ADDRESS, ISSUER, KEY_ID, PUBLIC_KEY
from aop.agent.guard.verifier import Trust
from aop.base import json as strict_json
from aop.base import settings as read
from aop.base.settings import SettingProblem, SettingsRefused
from aop.contracts.card import AgentCard
from aop.contracts.documents import document
from aop.contracts.front_settings import FrontAgent, FrontLimits, FrontSettings, Speaks, versions_folder
from aop.contracts.signing import VerifyKey
from aop.front.agent import path_of
from aop.front.limits import DEFAULT_CALLS
from aop.front.secrets import CA_FILE, Roots, SecretHeaders, SecretNotUsable, secret_headers, tls_context
from aop.net import address_settings as addresses
from aop.net.authorities import CA_FILE as PRIVATE_CA_FILE
from aop.net.authorities import ca_file
from aop.net.origin import Endpoint
from aop.serving.unit.held import DEFAULT_HELD_BYTES

DOCUMENT: Final = "front-settings/2"
MAX_VERSIONS: Final = 1_000
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
PROOFS: Final = ".proofs"
_ENVIRONMENT: Final = (ISSUER, KEY_ID, PUBLIC_KEY)
_IN_FILE: Final = ("/router/issuer", "/router/keyId", "/router/publicKey")


@dataclass(frozen=True)
class AgentEntry:
    card: AgentCard
    endpoint: Endpoint
    speaks: Speaks
    tenant: str | None = None
    routes: Mapping[str, str] = field(default_factory=dict)
    skill_ids: Mapping[str, str] = field(default_factory=dict)
    forwards_delegation: bool = False
    headers: SecretHeaders = field(default=(), repr=False)
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True)
class ReadFrontSettings:
    listen: addresses.ListenAddress
    trust: Trust
    challenge_directory: Path
    agents: tuple[AgentEntry, ...]
    max_calls: int = DEFAULT_CALLS
    max_request_bytes: int = DEFAULT_MAX_BODY
    max_held_bytes: int = DEFAULT_HELD_BYTES
    watched: tuple[Path, ...] = ()
    """The files and folders that can give the front something more to serve."""


def read_front_settings(path: Path, environment: Mapping[str, str]) -> ReadFrontSettings:
    """SettingsRefused names every problem at once: pointers into the file, names of variables, no values."""
    found = resolve(_document(path), path.absolute().parent, environment)
    return replace(found, watched=(path.absolute(), *found.watched))


def resolve(found: FrontSettings, folder: Path, environment: Mapping[str, str]) -> ReadFrontSettings:
    """Relative paths are below the folder."""
    reader = read.SettingsReader({**environment, **_texts(found)})
    listen = reader.optional("/listen", addresses.listen_address, DEVELOPMENT_ADDRESS) or DEVELOPMENT_ADDRESS
    origin = reader.optional("/origin", addresses.origin, listen.origin)
    issuer, key_id, public_key = _ENVIRONMENT if found.router is msgspec.UNSET else _IN_FILE
    trust = Trust(
        issuer=reader.required(issuer, addresses.origin),
        audience=origin,
        key_id=reader.required(key_id, read.identifier),
        public_key=reader.required(public_key, VerifyKey.parse),
    )
    proofs = folder / (PROOFS if found.challenge_directory is msgspec.UNSET else found.challenge_directory)
    if not proofs.is_dir():
        reader.refuse("/challengeDirectory", f"is not a folder: {proofs}")
    roots = Roots(environment.get(CA_FILE), reader.optional(PRIVATE_CA_FILE, ca_file, None))
    agents = [_versions(reader, number, one, folder, roots) for number, one in enumerate(found.agents)]
    _require_paths(reader, agents, origin)
    reader.conclude()
    cards = [folder / one.card for one in found.agents]
    limits = FrontLimits() if found.limits is msgspec.UNSET else found.limits
    return ReadFrontSettings(
        listen,
        trust,
        proofs,
        _served(agents, origin),
        limits.max_calls or DEFAULT_CALLS,
        limits.max_request_bytes or DEFAULT_MAX_BODY,
        limits.max_held_bytes or DEFAULT_HELD_BYTES,
        tuple(path for card in cards for path in (card, versions_folder(card))),
    )


def _texts(found: FrontSettings) -> dict[str, str]:
    """The members that are read like variables of an environment, by their pointers."""
    texts = {"/listen": found.listen, "/origin": found.origin}
    if found.router is not msgspec.UNSET:
        texts |= dict(zip(_IN_FILE, msgspec.structs.astuple(found.router), strict=True))
    texts |= {f"/agents/{number}/url": agent.url for number, agent in enumerate(found.agents)}
    return {name: text for name, text in texts.items() if text is not msgspec.UNSET}


def _versions(
    reader: read.SettingsReader, number: int, found: FrontAgent, folder: Path, roots: Roots
) -> tuple[AgentEntry, ...]:
    """The version of its Card first, then the others."""
    place = f"/agents/{number}"
    endpoint = reader.required(f"{place}/url", Endpoint.parse)
    try:
        cards = [read_card_of(folder / found.card), *_other_cards(versions_folder(folder / found.card))]
        headers = secret_headers(found.authentication, folder)
        tls = tls_context(found.tls, folder, roots if found.url.lower().startswith("https:") else Roots())
    except SettingsRefused as refused:
        reader.refuse(f"{place}/card", refused.problems[0].reason)
        return ()
    except SecretNotUsable as problem:
        reader.refuse(place, str(problem))
        return ()
    _require_skills(reader, place, found, cards)
    tenant = None if found.tenant is msgspec.UNSET else found.tenant
    forwards = found.delegation == "forward"
    routes = {one.skill: one.path for one in found.routes or ()}
    skill_ids = {one.skill: one.id for one in found.skill_ids or ()}
    behind = AgentEntry(cards[0], endpoint, found.speaks, tenant, routes, skill_ids, forwards, headers, tls)
    return tuple(replace(behind, card=card) for card in cards)


def _other_cards(folder: Path) -> list[AgentCard]:
    files = sorted(folder.glob("*.json"))
    if len(files) > MAX_VERSIONS:
        raise _refused(folder, f"holds more than {MAX_VERSIONS} Cards")
    return [read_card_of(file) for file in files]


def _require_skills(reader: read.SettingsReader, place: str, found: FrontAgent, cards: Sequence[AgentCard]) -> None:
    skills = {skill.id for card in cards for skill in card.skills}
    if not {one.skill for one in found.skill_ids or ()} <= skills:
        reader.refuse(f"{place}/skillIds", "must name Skills of the Card")
    if found.speaks is not Speaks.HTTP:
        return
    if {route.skill for route in found.routes or ()} != skills:
        reader.refuse(f"{place}/routes", "must name exactly the Skills of the Card")
    if any(card.limits.streaming for card in cards):
        reader.refuse(f"{place}/card", "declares streaming, which plain HTTP has not")


def read_card_of(path: Path) -> AgentCard:
    content, value = _json(path)
    violations = document("agent-card/0.2").violations(value)
    if violations:
        first = violations[0]
        raise _refused(path, f"is not an Agent Card: {first.pointer} breaks the rule {first.rule}")
    return msgspec.json.decode(content, type=AgentCard)


def _require_paths(reader: read.SettingsReader, agents: Sequence[tuple[AgentEntry, ...]], origin: str) -> None:
    """The Router calls an Agent where its Card says, so that must be the path that the front has for it."""
    taken: set[str] = set()
    for number, versions in enumerate(agents):
        if not versions:
            continue
        path = path_of(versions[0].card)
        if path in taken:
            reader.refuse(f"/agents/{number}/card", "has the agentId and version of another one")
        taken.add(path)
        if versions[0].card.protocol.endpoint != origin + path:
            reader.refuse(f"/agents/{number}/card", f"must have the endpoint {origin}{path}")
        if any(one.card.agent_id != versions[0].card.agent_id for one in versions):
            reader.refuse(f"/agents/{number}/card", "has the Card of another Agent among its versions")


def _served(agents: Sequence[tuple[AgentEntry, ...]], origin: str) -> tuple[AgentEntry, ...]:
    """What the settings name comes first. A Card of another origin is of a front that moved: it is not called here."""
    named = [versions[0] for versions in agents if versions]
    others = [one for versions in agents for one in versions[1:]]
    served = {path_of(one.card): one for one in named}
    for one in others:
        if one.card.protocol.endpoint == origin + path_of(one.card):
            served.setdefault(path_of(one.card), one)
    return tuple(served.values())


def _document(path: Path) -> FrontSettings:
    content, value = _json(path)
    violations = document(DOCUMENT).violations(value)
    if violations:
        raise SettingsRefused([SettingProblem(one.pointer or "/", f"breaks the rule {one.rule}") for one in violations])
    return msgspec.json.decode(content, type=FrontSettings)


def _json(path: Path) -> tuple[bytes, object]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as problem:
        raise _refused(path, f"cannot be read: {problem.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise _refused(path, "is larger than 4 MiB")
    try:
        return content, strict_json.parse(content)
    except strict_json.JsonRefused as refused:
        raise _refused(path, f"is not strict JSON: {refused.rule}") from None


def _refused(path: Path, reason: str) -> SettingsRefused:
    return SettingsRefused([SettingProblem(str(path), reason)])
