"""Readers of the Router-to-Agent credential v1, its context headers and the Agent's fixed rejection."""

from enum import StrEnum
from typing import Literal

import msgspec

from aop.contracts.token import TokenClaims, TokenHeader
from aop.contracts.wire import Wire

CREDENTIAL_TYP = "platform-router+jwt"

# Header to claim, in the order of the document's x-context-headers; the parent pair exists for children only.
CONTEXT_HEADERS = {
    "x-platform-trace-id": "traceId",
    "x-platform-invocation-id": "invocationId",
    "x-platform-root-task-id": "rootTaskId",
    "x-platform-parent-invocation-id": "parentInvocationId",
    "x-platform-workspace-id": "workspaceId",
    "x-platform-target-agent-id": "agentId",
    "x-platform-agent-card-version": "agentVersion",
    "x-platform-agent-release-id": "releaseId",
    "x-platform-agent-card-digest": "cardDigest",
    "x-platform-capability": "capability",
}


class CredentialHeader(TokenHeader, frozen=True, kw_only=True):
    alg: Literal["EdDSA"]
    typ: Literal["platform-router+jwt"]


class CredentialClaims(TokenClaims, frozen=True, kw_only=True):
    jti: str
    workspace_id: str
    agent_id: str
    agent_version: str
    release_id: str
    card_digest: str
    capability: str
    invocation_id: str
    root_task_id: str
    trace_id: str
    parent_invocation_id: str | msgspec.UnsetType = msgspec.UNSET
    body_sha256: str


class RejectionCode(StrEnum):
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"


class AgentRejection(Wire, frozen=True, kw_only=True):
    code: RejectionCode
    message: str


READERS: dict[str, type] = {
    "router-agent-credential/1": CredentialClaims,
    "router-agent-credential/1#header": CredentialHeader,
    "router-agent-credential/1#claims": CredentialClaims,
    "agent-rejection/1": AgentRejection,
}
