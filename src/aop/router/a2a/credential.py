"""What the Router gives Agents: a fresh signed credential per request, and the delegation for nested calls."""

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from aop.base.canonical import to_base64url
from aop.base.ids import new_id
from aop.contracts.credential import CONTEXT_HEADERS, CredentialClaims, CredentialHeader
from aop.contracts.delegation import DelegationClaims, DelegationHeader
from aop.contracts.identity import InvocationContext
from aop.contracts.signing import SigningKey

BACKDATED_SECONDS = 5
"""A credential is dated back, so that an Agent whose clock is a few seconds behind accepts it."""

_encode = msgspec.json.Encoder().encode
_HEADER_OF_CLAIM = {claim: header.encode("ascii") for header, claim in CONTEXT_HEADERS.items()}


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
        self._delegation_key = key.delegation_key()
        self._credential_header = _segment(CredentialHeader(alg="EdDSA", typ="platform-router+jwt", kid=issuer.key_id))
        self._delegation_header = _segment(
            DelegationHeader(alg="HS256", typ="platform-delegation+jwt", kid=issuer.key_id)
        )

    def credential(self, context: InvocationContext, audience: str, body: bytes) -> str:
        issued = int(time.time()) - BACKDATED_SECONDS
        lineage, pin = context.lineage, context.pin
        claims = CredentialClaims(
            iss=self._issuer.issuer,
            aud=(audience,),
            iat=issued,
            exp=issued + self._issuer.ttl_seconds + BACKDATED_SECONDS,
            jti=new_id("jti"),
            workspace_id=pin.workspace,
            agent_id=pin.agent,
            agent_version=pin.version,
            release_id=pin.release,
            card_digest=pin.card_digest,
            capability=context.capability,
            invocation_id=lineage.invocation,
            root_task_id=lineage.root_task,
            trace_id=lineage.trace,
            parent_invocation_id=msgspec.UNSET if lineage.parent is None else lineage.parent,
            body_sha256=hashlib.sha256(body).hexdigest(),
        )
        return _sealed(self._credential_header, claims, self._key.sign)

    def delegation(self, context: InvocationContext, expires_at: float) -> str:
        """Valid for child calls of this Invocation until its deadline, rounded up to a second."""
        lineage, pin = context.lineage, context.pin
        claims = DelegationClaims(
            iss=self._issuer.issuer,
            aud=(self._issuer.agent_origin,),
            iat=int(time.time()),
            exp=math.ceil(expires_at),
            workspace_id=pin.workspace,
            agent_id=pin.agent,
            release_id=pin.release,
            invocation_id=lineage.invocation,
            root_task_id=lineage.root_task,
            trace_id=lineage.trace,
            depth=lineage.depth,
        )
        return _sealed(self._delegation_header, claims, self._delegation_key.tag)


def _sealed(header: str, claims: msgspec.Struct, seal: Callable[[bytes], bytes]) -> str:
    sealed = f"{header}.{_segment(claims)}"
    return f"{sealed}.{to_base64url(seal(sealed.encode('ascii')))}"


def _segment(part: msgspec.Struct) -> str:
    return to_base64url(_encode(part))


def context_headers(context: InvocationContext) -> list[tuple[bytes, bytes]]:
    """What a credential binds, repeated in headers."""
    lineage, pin = context.lineage, context.pin
    values = {
        "workspaceId": pin.workspace,
        "agentId": pin.agent,
        "agentVersion": pin.version,
        "releaseId": pin.release,
        "cardDigest": pin.card_digest,
        "capability": context.capability,
        "invocationId": lineage.invocation,
        "rootTaskId": lineage.root_task,
        "traceId": lineage.trace,
        "parentInvocationId": lineage.parent,
    }
    return [(_HEADER_OF_CLAIM[name], value.encode("ascii")) for name, value in values.items() if value is not None]
