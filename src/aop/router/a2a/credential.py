"""The Router's signed words to Agents: a fresh credential per request, and the delegation for nested calls."""

import hashlib
import math
import time
from dataclasses import dataclass

import msgspec

from aop.base.base64url import to_base64url
from aop.base.ids import new_id
from aop.contracts.credential import CONTEXT_HEADERS, CredentialClaims, CredentialHeader
from aop.contracts.delegation import DelegationClaims, DelegationHeader
from aop.contracts.signing import SigningKey

BACKDATED_SECONDS = 5
"""A few seconds of clock difference between Router and Agent refuse nothing."""

_encode = msgspec.json.Encoder().encode
_HEADER_OF_CLAIM = {claim: header.encode("ascii") for header, claim in CONTEXT_HEADERS.items()}


class CallContext(msgspec.Struct, frozen=True):
    """What a credential binds, and what the context headers repeat."""

    workspace_id: str
    agent_id: str
    agent_version: str
    release_id: str
    card_digest: str
    capability: str
    invocation_id: str
    root_task_id: str
    trace_id: str
    parent_invocation_id: str | None
    audience: str
    depth: int

    def headers(self) -> list[tuple[bytes, bytes]]:
        values = {
            "workspaceId": self.workspace_id,
            "agentId": self.agent_id,
            "agentVersion": self.agent_version,
            "releaseId": self.release_id,
            "cardDigest": self.card_digest,
            "capability": self.capability,
            "invocationId": self.invocation_id,
            "rootTaskId": self.root_task_id,
            "traceId": self.trace_id,
            "parentInvocationId": self.parent_invocation_id,
        }
        return [(_HEADER_OF_CLAIM[name], value.encode("ascii")) for name, value in values.items() if value is not None]


@dataclass(frozen=True)
class Issuer:
    issuer: str
    key_id: str
    agent_origin: str
    ttl_seconds: int


class Credentials:
    def __init__(self, issuer: Issuer, key: SigningKey) -> None:
        self._issuer = issuer
        self._key = key
        self._credential_header = _segment(CredentialHeader(alg="EdDSA", typ="platform-router+jwt", kid=issuer.key_id))
        self._delegation_header = _segment(
            DelegationHeader(alg="EdDSA", typ="platform-delegation+jwt", kid=issuer.key_id)
        )

    def credential(self, context: CallContext, body: bytes) -> str:
        issued = int(time.time()) - BACKDATED_SECONDS
        parent = context.parent_invocation_id
        claims = CredentialClaims(
            iss=self._issuer.issuer,
            aud=(context.audience,),
            iat=issued,
            exp=issued + self._issuer.ttl_seconds + BACKDATED_SECONDS,
            jti=new_id("jti"),
            workspace_id=context.workspace_id,
            agent_id=context.agent_id,
            agent_version=context.agent_version,
            release_id=context.release_id,
            card_digest=context.card_digest,
            capability=context.capability,
            invocation_id=context.invocation_id,
            root_task_id=context.root_task_id,
            trace_id=context.trace_id,
            parent_invocation_id=msgspec.UNSET if parent is None else parent,
            body_sha256=hashlib.sha256(body).hexdigest(),
        )
        return self._signed(self._credential_header, claims)

    def delegation(self, context: CallContext, expires_at: float) -> str:
        """Good for child calls of this Invocation until its deadline, rounded up."""
        claims = DelegationClaims(
            iss=self._issuer.issuer,
            aud=(self._issuer.agent_origin,),
            iat=int(time.time()),
            exp=math.ceil(expires_at),
            workspace_id=context.workspace_id,
            agent_id=context.agent_id,
            release_id=context.release_id,
            invocation_id=context.invocation_id,
            root_task_id=context.root_task_id,
            trace_id=context.trace_id,
            depth=context.depth,
        )
        return self._signed(self._delegation_header, claims)

    def _signed(self, header: str, claims: msgspec.Struct) -> str:
        signed = f"{header}.{_segment(claims)}"
        return f"{signed}.{to_base64url(self._key.sign(signed.encode('ascii')))}"


def _segment(part: msgspec.Struct) -> str:
    return to_base64url(_encode(part))
