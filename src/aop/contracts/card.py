"""Reader of the Agent Card v0.2 and of the parts of it that other documents show."""

from enum import StrEnum
from typing import Final, Literal

import msgspec

from aop.contracts.wire import Wire


class AuthenticationType(StrEnum):
    NONE = "none"
    API_KEY = "api_key"
    HTTP_BEARER = "http_bearer"
    OAUTH2_CLIENT_CREDENTIALS = "oauth2_client_credentials"
    MUTUAL_TLS = "mutual_tls"


class Owner(Wire, frozen=True, kw_only=True):
    id: str
    display_name: str


class Protocol(Wire, frozen=True, kw_only=True):
    type: Literal["a2a"]
    version: Literal["0.3.0"]
    transport: Literal["JSONRPC"]
    endpoint: str


class Skill(Wire, frozen=True, kw_only=True):
    """One capability; its schemas belong to the provider and keep their bytes."""

    id: str
    name: str
    description: str
    input_schema: msgspec.Raw
    output_schema: msgspec.Raw
    required_permissions: tuple[str, ...]


class Authentication(Wire, frozen=True, kw_only=True):
    type: AuthenticationType


class Permission(Wire, frozen=True, kw_only=True):
    id: str
    description: str


class Limits(Wire, frozen=True, kw_only=True):
    timeout_ms: int
    max_input_bytes: int
    max_output_bytes: int
    streaming: bool


class AgentCard(Wire, frozen=True, kw_only=True):
    schema_version: Literal["0.2"]
    agent_id: str
    name: str
    description: str
    owner: Owner
    version: str
    protocol: Protocol
    skills: tuple[Skill, ...]
    authentication: Authentication
    permissions: tuple[Permission, ...]
    limits: Limits


class AgentIdParams(Wire, frozen=True, kw_only=True):
    agent_id: str


class AgentIdExtension(Wire, frozen=True, kw_only=True):
    """In the public agent card: which Agent of the platform this is, so that none at a port is taken for another."""

    uri: Literal["urn:aop:agent-id"]
    params: AgentIdParams


AGENT_ID_EXTENSION: Final = "urn:aop:agent-id"
READERS: dict[str, type] = {"agent-card/0.2": AgentCard, "agent-id-extension/1": AgentIdExtension}
