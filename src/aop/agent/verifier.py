"""The closed verifier of the Router's credential: eleven checks, in this order, and nothing else is accepted.

1 exactly one Authorization value, `Bearer ` and a token                           401
2 three segments of canonical base64url, a signature of 64 bytes                   401
3 header members exactly alg, typ and kid with the configured values               401
4 signature                                                                        401
5 claims: strict JSON, exactly the known ones, of the right types                  401
6 formats and time window                                                          401
7 issuer                                                                           401
8 audience                                                                         403
9 every context header there once and equal to its claim, the parent when claimed  403
10 SHA-256 of the received body                                                    403
11 jti not seen while alive; recorded last, in the same operation                  401

The first nine need the headers alone, so that a stranger's body is never read.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from aop.agent.replay import ReplayMemory
from aop.base import json as strict_json
from aop.base.canonical import from_base64url
from aop.base.clock import Clock, utc_now
from aop.base.ids import is_safe_identifier
from aop.base.semver import Version
from aop.contracts.credential import CONTEXT_HEADERS, CREDENTIAL_TYP, CredentialClaims
from aop.contracts.delegation import DELEGATION_HEADER
from aop.contracts.signing import VerifyKey
from aop.net.origin import parse_origin

MAX_LIFETIME_SECONDS: Final = 300

_BEARER = re.compile(rb"Bearer ([!-+\--~]+)")
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_IDENTIFIERS = ("jti", "workspace_id", "agent_id", "release_id", "capability", "invocation_id", "root_task_id")
_CONTEXT = {header.encode(): claim for header, claim in CONTEXT_HEADERS.items()}
# Some frameworks read `x_platform_…` as `x-platform-…`; such a twin must not slip past the comparison.
_TWINS = frozenset(name.replace("-", "_").encode() for name in (*CONTEXT_HEADERS, DELEGATION_HEADER))

HeaderList = Iterable[tuple[bytes, bytes]]


class Rejected(Exception):
    """The request is not an authentic Router request; `step` is for tests and metrics, never for the caller."""

    def __init__(self, status: int, step: int) -> None:
        super().__init__(f"check {step}")
        self.status = status
        self.step = step


@dataclass(frozen=True)
class Trust:
    """Which Router an Agent believes, and as whom it is addressed."""

    issuer: str
    audience: str
    key_id: str
    public_key: VerifyKey


class Verifier:
    def __init__(self, trust: Trust, replays: ReplayMemory, clock: Clock = utc_now) -> None:
        self._trust = trust
        self._replays = replays
        self._clock = clock
        self._header = {"alg": "EdDSA", "typ": CREDENTIAL_TYP, "kid": trust.key_id}

    def verify(self, headers: HeaderList, body: bytes) -> CredentialClaims:
        claims = self.check_headers(headers)
        self.admit(claims, body)
        return claims

    def check_headers(self, headers: HeaderList) -> CredentialClaims:
        """Checks 1 to 9; header names are lowercase."""
        lines = list(headers)
        claims = self._signed_claims([value for name, value in lines if name == b"authorization"])
        self._require_formats(claims)  # 6
        if claims.iss != self._trust.issuer:  # 7
            raise Rejected(401, 7)
        if claims.aud[0] != self._trust.audience:  # 8
            raise Rejected(403, 8)
        _require_context(lines, claims)  # 9
        return claims

    def admit(self, claims: CredentialClaims, body: bytes) -> None:
        """Checks 10 and 11; after this the credential is spent."""
        if not hmac.compare_digest(hashlib.sha256(body).hexdigest(), claims.body_sha256):  # 10
            raise Rejected(403, 10)
        if not self._replays.admits(claims.jti, claims.exp, self._clock().timestamp()):  # 11
            raise Rejected(401, 11)

    def _signed_claims(self, authorization: list[bytes]) -> CredentialClaims:
        token = _BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
        if token is None:  # 1
            raise Rejected(401, 1)
        header, claims, signature, signed = _segments(token[1])  # 2
        if _strict(header, 3) != self._header:  # 3
            raise Rejected(401, 3)
        if not self._trust.public_key.confirms(signed, signature):  # 4
            raise Rejected(401, 4)
        return _claims(_strict(claims, 5))  # 5

    def _require_formats(self, claims: CredentialClaims) -> None:
        if not claims.iat <= self._clock().timestamp() < claims.exp or claims.exp - claims.iat > MAX_LIFETIME_SECONDS:
            raise Rejected(401, 6)
        texts = [getattr(claims, name) for name in _IDENTIFIERS] + [claims.trace_id]
        if claims.parent_invocation_id is not msgspec.UNSET:
            texts.append(claims.parent_invocation_id)
        digests = (claims.card_digest, claims.body_sha256)
        if not all(map(is_safe_identifier, texts)) or not all(map(_DIGEST.fullmatch, digests)) or len(claims.aud) != 1:
            raise Rejected(401, 6)
        try:
            Version.parse(claims.agent_version)
            for origin, expected in ((claims.iss, self._trust.issuer), (claims.aud[0], self._trust.audience)):
                if origin != expected:  # what is configured is canonical
                    parse_origin(origin)
        except ValueError:
            raise Rejected(401, 6) from None


def _segments(token: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Header, claims and signature decoded, and the bytes that were signed."""
    signed, _, last = token.rpartition(b".")
    first, dot, second = signed.partition(b".")
    try:
        header, claims, signature = (from_base64url(segment.decode("ascii")) for segment in (first, second, last))
    except ValueError:
        raise Rejected(401, 2) from None
    if not dot or len(signature) != 64:
        raise Rejected(401, 2)
    return header, claims, signature, signed


def _strict(text: bytes, step: int) -> object:
    try:
        return strict_json.parse(text)
    except strict_json.JsonRefused:
        raise Rejected(401, step) from None


def _claims(value: object) -> CredentialClaims:
    if not isinstance(value, dict) or type(value.get("iat")) is not int or type(value.get("exp")) is not int:
        raise Rejected(401, 5)
    try:
        return msgspec.convert(value, CredentialClaims)
    except msgspec.ValidationError:
        raise Rejected(401, 5) from None


def _require_context(lines: list[tuple[bytes, bytes]], claims: CredentialClaims) -> None:
    sent: dict[bytes, bytes] = {}
    for name, value in lines:
        if name in _TWINS or name in sent:
            raise Rejected(403, 9)
        if name in _CONTEXT:
            sent[name] = value
    claimed = msgspec.to_builtins(claims)
    if sent != {name: claimed[claim].encode() for name, claim in _CONTEXT.items() if claim in claimed}:
        raise Rejected(403, 9)
