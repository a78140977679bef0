"""The A2A agent card of any Agent, as A2A 0.3 and A2A 1.0 write it: what the Agent says of itself, read with care.

A member of another type than A2A gives it counts as absent, because cards in use differ from the documents of A2A.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from aop.a2a.versions import A2AVersion
from aop.contracts.card import AGENT_ID_EXTENSION

JSONRPC: Final = "JSONRPC"
MAX_SKILLS: Final = 200
"""Further Skills of a card are not read."""

_VERSION = re.compile(r"([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:\.[0-9]{1,4})?", re.ASCII)
_MAX_ITEMS = 50


class A2ASecurity(StrEnum):
    """What an Agent asks of its callers, in the words for people."""

    API_KEY = "an API key"
    HTTP_BEARER = "an HTTP bearer token"
    HTTP_OTHER = "another HTTP authentication"
    OAUTH2 = "OAuth 2.0"
    OPEN_ID_CONNECT = "OpenID Connect"
    MUTUAL_TLS = "mutual TLS"


_SCHEMES = {
    "apiKey": A2ASecurity.API_KEY,
    "oauth2": A2ASecurity.OAUTH2,
    "openIdConnect": A2ASecurity.OPEN_ID_CONNECT,
    "mutualTLS": A2ASecurity.MUTUAL_TLS,
    "apiKeySecurityScheme": A2ASecurity.API_KEY,
    "oauth2SecurityScheme": A2ASecurity.OAUTH2,
    "openIdConnectSecurityScheme": A2ASecurity.OPEN_ID_CONNECT,
    "mtlsSecurityScheme": A2ASecurity.MUTUAL_TLS,
}
"""By the `type` of A2A 0.3 and by the one member of A2A 1.0; HTTP schemes differ by their name."""


class NotAnAgentCard(ValueError):
    """The document is not an A2A agent card."""


@dataclass(frozen=True)
class A2AInterface:
    """An address of the Agent; `version` is major and minor as the card declares them."""

    url: str
    binding: str
    version: str
    tenant: str = ""


@dataclass(frozen=True)
class A2ASkill:
    id: str
    name: str
    description: str
    examples: tuple[str, ...]
    input_modes: tuple[str, ...]


@dataclass(frozen=True)
class A2ACard:
    """Texts may be empty: the draft of a Card says so."""

    name: str
    description: str
    version: str
    organization: str
    interfaces: tuple[A2AInterface, ...]
    streaming: bool
    skills: tuple[A2ASkill, ...]
    security: frozenset[A2ASecurity]
    agent_id: str = ""
    """Which Agent of this platform it is; only Agents made with `aop.agent` say so."""

    @property
    def declared(self) -> frozenset[A2AVersion]:
        """The versions that the card declares over JSON-RPC. The Agent may answer others; see `a2a_address`."""
        found = {one.version for one in self.interfaces if one.binding == JSONRPC}
        return frozenset(version for version in A2AVersion if version in found)

    def url_of(self, version: A2AVersion) -> str | None:
        """Where the card says that the Agent speaks this version over JSON-RPC."""
        interface = self.interface_of(version)
        return None if interface is None else interface.url

    def interface_of(self, version: A2AVersion) -> A2AInterface | None:
        return next((one for one in self.interfaces if (one.binding, one.version) == (JSONRPC, version)), None)


def is_agent_card(value: object) -> bool:
    """Whether this is an A2A agent card, and not a Card of this platform with mistakes."""
    if not isinstance(value, dict) or "schemaVersion" in value:
        return False
    if isinstance(value.get("supportedInterfaces"), list):
        return True
    return isinstance(value.get("url"), str) and any(
        name in value for name in ("capabilities", "defaultInputModes", "protocolVersion")
    )


def read_agent_card(value: object) -> A2ACard:
    """`value` is parsed JSON."""
    if not is_agent_card(value):
        raise NotAnAgentCard("the document is not an A2A agent card")
    card = _object(value)
    modes = _texts(card, "defaultInputModes")
    skills = tuple(_skill(one, modes) for one in _objects(card, "skills", MAX_SKILLS))
    return A2ACard(
        name=_text(card, "name"),
        description=_text(card, "description"),
        version=_text(card, "version"),
        organization=_text(_object(card.get("provider")), "organization"),
        interfaces=tuple(dict.fromkeys(_interfaces(card))),
        streaming=_object(card.get("capabilities")).get("streaming") is True,
        skills=skills,
        security=frozenset(_security(_object(card.get("securitySchemes")))),
        agent_id=next(_agent_ids(_object(card.get("capabilities"))), ""),
    )


def _agent_ids(capabilities: Mapping[str, Any]) -> Iterator[str]:
    for extension in _objects(capabilities, "extensions"):
        if extension.get("uri") == AGENT_ID_EXTENSION:
            yield _text(_object(extension.get("params")), "agentId")


def _interfaces(card: Mapping[str, Any]) -> Iterator[A2AInterface]:
    for one in _objects(card, "supportedInterfaces"):
        version, tenant = _version(one, A2AVersion.V1_0), _text(one, "tenant")
        yield A2AInterface(_text(one, "url"), _text(one, "protocolBinding"), version, tenant)
    version = _version(card, A2AVersion.V0_3)
    if url := _text(card, "url"):
        yield A2AInterface(url, _text(card, "preferredTransport") or JSONRPC, version)
    for one in _objects(card, "additionalInterfaces"):
        yield A2AInterface(_text(one, "url"), _text(one, "transport"), version)


def _version(holder: Mapping[str, Any], default: A2AVersion) -> str:
    """Those who leave it out write the form of the default."""
    match = _VERSION.fullmatch(_text(holder, "protocolVersion"))
    return default.value if match is None else f"{match[1]}.{match[2] or 0}"


def _skill(skill: Mapping[str, Any], default_modes: tuple[str, ...]) -> A2ASkill:
    return A2ASkill(
        id=_text(skill, "id"),
        name=_text(skill, "name"),
        description=_text(skill, "description"),
        examples=_texts(skill, "examples"),
        input_modes=_texts(skill, "inputModes") or default_modes,
    )


def _security(schemes: Mapping[str, Any]) -> Iterator[A2ASecurity]:
    for scheme in map(_object, schemes.values()):
        http = _object(scheme.get("httpAuthSecurityScheme")) or (scheme if scheme.get("type") == "http" else {})
        if http:
            bearer = _text(http, "scheme").lower() == "bearer"
            yield A2ASecurity.HTTP_BEARER if bearer else A2ASecurity.HTTP_OTHER
        for name in (_text(scheme, "type"), *scheme):
            if name in _SCHEMES:
                yield _SCHEMES[name]


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(holder: Mapping[str, Any], name: str, limit: int = _MAX_ITEMS) -> list[Mapping[str, Any]]:
    found = holder.get(name)
    return [one for one in found[:limit] if isinstance(one, dict)] if isinstance(found, list) else []


def _text(holder: Mapping[str, Any], name: str) -> str:
    found = holder.get(name)
    return found.strip() if isinstance(found, str) else ""


def _texts(holder: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = holder.get(name)
    return tuple(one for one in found[:_MAX_ITEMS] if isinstance(one, str)) if isinstance(found, list) else ()
