"""What the Router gives Agents: a fresh signed credential per request, and the delegation for nested calls.

Most claims are the same for every call of one Skill of one Release in one Workspace. They are written once, and each
token adds its own: a claim is an id, a number or a digest, of which no character needs an escape.
"""

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from aop.base.canonical import base64url
from aop.base.ids import new_hex_id
from aop.contracts.credential import CredentialHeader
from aop.contracts.delegation import DelegationHeader
from aop.contracts.identity import Lineage, Pin
from aop.contracts.signing import SigningKey

BACKDATED_SECONDS = 5
"""A credential is dated back, so that an Agent whose clock is a few seconds behind accepts it."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Issuer:
    issuer: str
    key_id: str
    agent_origin: str
    ttl_seconds: int


class Credentials:
    def __init__(self, issuer: Issuer, key: SigningKey) -> None:
        self.issuer = issuer
        self._sign = key.sign
        self._tag = key.delegation_key().tag
        kid = issuer.key_id
        self._credential_header = _segment(CredentialHeader(alg="EdDSA", typ="platform-router+jwt", kid=kid))
        self._delegation_header = _segment(DelegationHeader(alg="HS256", typ="platform-delegation+jwt", kid=kid))

    def credential(self, claims: bytes) -> bytes:
        return _sealed(self._credential_header + base64url(claims), self._sign)

    def delegation(self, claims: bytes) -> bytes:
        return _sealed(self._delegation_header + base64url(claims), self._tag)


def bound_claims(pin: Pin, capability: str) -> dict[str, str]:
    """What a credential says of the Release and its Skill, which headers repeat."""
    return {
        "workspaceId": pin.workspace,
        "agentId": pin.agent,
        "agentVersion": pin.version,
        "releaseId": pin.release,
        "cardDigest": pin.card_digest,
        "capability": capability,
    }


class SkillClaims:
    """The claims of one Skill of one Release in one Workspace, in the order of their documents."""

    __slots__ = ("_credential_issued", "_credential_named", "_delegation_issued", "_delegation_named", "_lifetime")

    def __init__(self, issuer: Issuer, audience: str, pin: Pin, capability: str) -> None:
        named = bound_claims(pin, capability)
        delegated = {name: named[name] for name in ("workspaceId", "agentId", "releaseId")}
        self._lifetime = issuer.ttl_seconds + BACKDATED_SECONDS
        self._credential_issued = _begun({"iss": issuer.issuer, "aud": [audience]}) + ',"iat":'
        self._credential_named = "," + _begun(named)[1:] + ',"invocationId":"'
        self._delegation_issued = _begun({"iss": issuer.issuer, "aud": [issuer.agent_origin]}) + ',"iat":'
        self._delegation_named = "," + _begun(delegated)[1:] + ',"invocationId":"'

    def of_credential(self, lineage: Lineage, body: bytes) -> bytes:
        """For exactly this body."""
        issued, parent = int(time.time()) - BACKDATED_SECONDS, lineage.parent
        child = "" if parent is None else f',"parentInvocationId":"{parent}"'
        return (
            f'{self._credential_issued}{issued},"exp":{issued + self._lifetime},"jti":"jti_{new_hex_id()}"'
            f'{self._credential_named}{lineage.invocation}","rootTaskId":"{lineage.root_task}",'
            f'"traceId":"{lineage.trace}"{child},"bodySha256":"{hashlib.sha256(body).hexdigest()}"}}'
        ).encode()

    def of_delegation(self, lineage: Lineage, expires_at: float) -> bytes:
        """Valid for child calls of this Invocation until its deadline, rounded up to a second."""
        return (
            f'{self._delegation_issued}{int(time.time())},"exp":{math.ceil(expires_at)}'
            f'{self._delegation_named}{lineage.invocation}","rootTaskId":"{lineage.root_task}",'
            f'"traceId":"{lineage.trace}","depth":{lineage.depth}}}'
        ).encode()


def _begun(members: Mapping[str, object]) -> str:
    """The text of an object to which more members are added."""
    return _encode(members).decode().removesuffix("}")


def _sealed(signed: bytes, seal: Callable[[bytes], bytes]) -> bytes:
    return signed + b"." + base64url(seal(signed))


def _segment(part: msgspec.Struct) -> bytes:
    return base64url(_encode(part)) + b"."
