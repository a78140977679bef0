"""Reads the settings of a front: one file, the Cards and secrets it names, and the Router of the environment."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from aop.agent.guard import DEFAULT_MAX_BODY
from aop.agent.settings import DEVELOPMENT_ADDRESS, ISSUER, KEY_ID, PUBLIC_KEY
from aop.agent.verifier import Trust
from aop.base import json as strict_json
from aop.base import settings as read
from aop.base.settings import SettingProblem, SettingsRefused
from aop.contracts.card import AgentCard
from aop.contracts.documents import document
from aop.contracts.front_settings import FrontAgent, FrontLimits, FrontSettings, Speaks
from aop.contracts.signing import VerifyKey
from aop.front.agent import path_of
from aop.front.limits import DEFAULT_CALLS
from aop.front.secrets import CA_FILE, SecretHeaders, SecretNotUsable, secret_headers, tls_context
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint
from aop.serving.held import DEFAULT_HELD_BYTES

DOCUMENT: Final = "front-settings/1"
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
PROOFS: Final = ".proofs"
_ENVIRONMENT: Final = (ISSUER, KEY_ID, PUBLIC_KEY)
_IN_FILE: Final = ("/router/issuer", "/router/keyId", "/router/publicKey")


@dataclass(frozen=True)
class AgentBehind:
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
    agents: tuple[AgentBehind, ...]
    max_calls: int = DEFAULT_CALLS
    max_request_bytes: int = DEFAULT_MAX_BODY
    max_held_bytes: int = DEFAULT_HELD_BYTES


def read_front_settings(path: Path, environment: Mapping[str, str]) -> ReadFrontSettings:
    """SettingsRefused names every problem at once: pointers into the file, names of variables, no values."""
    return resolve(_document(path), path.absolute().parent, environment)


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
    agents = [_agent(reader, number, one, folder, environment.get(CA_FILE)) for number, one in enumerate(found.agents)]
    _require_paths(reader, agents, origin)
    reader.conclude()
    limits = FrontLimits() if found.limits is msgspec.UNSET else found.limits
    return ReadFrontSettings(
        listen,
        trust,
        proofs,
        tuple(agent for agent in agents if agent is not None),
        limits.max_calls or DEFAULT_CALLS,
        limits.max_request_bytes or DEFAULT_MAX_BODY,
        limits.max_held_bytes or DEFAULT_HELD_BYTES,
    )


def _texts(found: FrontSettings) -> dict[str, str]:
    """The members that are read like variables of an environment, by their pointers."""
    texts = {"/listen": found.listen, "/origin": found.origin}
    if found.router is not msgspec.UNSET:
        texts |= dict(zip(_IN_FILE, msgspec.structs.astuple(found.router), strict=True))
    texts |= {f"/agents/{number}/url": agent.url for number, agent in enumerate(found.agents)}
    return {name: text for name, text in texts.items() if text is not msgspec.UNSET}


def _agent(
    reader: read.SettingsReader, number: int, found: FrontAgent, folder: Path, roots: str | None
) -> AgentBehind | None:
    place = f"/agents/{number}"
    endpoint = reader.required(f"{place}/url", Endpoint.parse)
    routes = {} if found.routes is msgspec.UNSET else {route.skill: route.path for route in found.routes}
    try:
        card = read_card_of(folder / found.card)
        headers = secret_headers(found.authentication, folder)
        tls = tls_context(found.tls, folder, roots if found.url.lower().startswith("https:") else None)
    except SettingsRefused as refused:
        reader.refuse(f"{place}/card", refused.problems[0].reason)
        return None
    except SecretNotUsable as problem:
        reader.refuse(place, str(problem))
        return None
    skill_ids = {} if found.skill_ids is msgspec.UNSET else {one.skill: one.id for one in found.skill_ids}
    if not skill_ids.keys() <= {skill.id for skill in card.skills}:
        reader.refuse(f"{place}/skillIds", "must name Skills of the Card")
    if found.speaks is Speaks.HTTP and routes.keys() != {skill.id for skill in card.skills}:
        reader.refuse(f"{place}/routes", "must name exactly the Skills of the Card")
    if found.speaks is Speaks.HTTP and card.limits.streaming:
        reader.refuse(f"{place}/card", "declares streaming, which plain HTTP has not")
    tenant = None if found.tenant is msgspec.UNSET else found.tenant
    forwards = found.delegation == "forward"
    return AgentBehind(card, endpoint, found.speaks, tenant, routes, skill_ids, forwards, headers, tls)


def read_card_of(path: Path) -> AgentCard:
    content, value = _json(path)
    violations = document("agent-card/0.2").violations(value)
    if violations:
        first = violations[0]
        raise _refused(path, f"is not an Agent Card: {first.pointer} breaks the rule {first.rule}")
    return msgspec.json.decode(content, type=AgentCard)


def _require_paths(reader: read.SettingsReader, agents: Sequence[AgentBehind | None], origin: str) -> None:
    """The Router calls an Agent where its Card says, so that must be the path that the front has for it."""
    taken: set[str] = set()
    for number, agent in enumerate(agents):
        if agent is None:
            continue
        path = path_of(agent.card)
        if path in taken:
            reader.refuse(f"/agents/{number}/card", "has the agentId and version of another one")
        taken.add(path)
        if agent.card.protocol.endpoint != origin + path:
            reader.refuse(f"/agents/{number}/card", f"must have the endpoint {origin}{path}")


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
