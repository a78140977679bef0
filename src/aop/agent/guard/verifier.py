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
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Final

import msgspec

from aop.agent.guard.replay import ReplayMemory
from aop.base import json as strict_json
from aop.base.canonical import from_base64url
from aop.base.clock import Clock, utc_now
from aop.base.ids import SAFE_IDENTIFIER
from aop.base.semver import Version
from aop.contracts.credential import CONTEXT_HEADERS, CREDENTIAL_TYP, CredentialClaims
from aop.contracts.delegation import DELEGATION_HEADER
from aop.contracts.signing import VerifyKey
from aop.net.headers import VISIBLE, HeaderMap, Headers
from aop.net.origin import parse_origin

MAX_LIFETIME_SECONDS: Final = 300

_BEARER: Final = b"Bearer "
_TOKEN: Final = VISIBLE.replace(b",", b"")
_SIGNATURE_BYTES: Final = 64
_DIGEST = "[0-9a-f]{64}"
# One match for all texts of a credential, each on a line of its own: as many lines as texts leave no text two lines.
_OWN = ("jti", "workspace_id", "agent_id", "release_id", "capability", "invocation_id", "root_task_id", "trace_id")
_TEXTS = attrgetter(*_OWN, "card_digest", "body_sha256")
_FORMATS = {
    count + 2: re.compile(rf"(?:{SAFE_IDENTIFIER.pattern}\n){{{count}}}{_DIGEST}\n{_DIGEST}", re.ASCII)
    for count in (len(_OWN), len(_OWN) + 1)
}
_MEMBERS = {field.encode_name: field.name for field in msgspec.structs.fields(CredentialClaims)}
_CONTEXT = {header.encode(): _MEMBERS[claim] for header, claim in CONTEXT_HEADERS.items()}
_CONTEXT_NAMES = frozenset(_CONTEXT)
_PARENT = next(name for name, member in _CONTEXT.items() if member == "parent_invocation_id")
_SENT_CONTEXT = itemgetter(*(name for name in _CONTEXT if name != _PARENT))
_CLAIMED_CONTEXT = attrgetter(*(member for name, member in _CONTEXT.items() if name != _PARENT))
_RESERVED = frozenset(name.encode() for name in (*CONTEXT_HEADERS, DELEGATION_HEADER))
_UNDERSCORE: Final = ord("_")

_read_claims = msgspec.json.Decoder(CredentialClaims).decode
_written = msgspec.json.Encoder().encode


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
        self._accepted_header = b""
        """The first segment of the last token whose signature was right: the Router writes the same one each time."""

    def verify(self, headers: Headers, body: bytes) -> CredentialClaims:
        claims = self.check_headers(HeaderMap(headers))
        self.admit(claims, body)
        return claims

    def check_headers(self, sent: HeaderMap) -> CredentialClaims:
        """Checks 1 to 9; header names are lowercase."""
        claims = self._signed_claims(sent.single(b"authorization"))
        self._require_formats(claims)  # 6
        if claims.iss != self._trust.issuer:  # 7
            raise Rejected(401, 7)
        if claims.aud[0] != self._trust.audience:  # 8
            raise Rejected(403, 8)
        _require_context(sent, claims)  # 9
        return claims

    def admit(self, claims: CredentialClaims, body: bytes) -> None:
        """Checks 10 and 11; after this the credential is spent."""
        if not hmac.compare_digest(hashlib.sha256(body).hexdigest(), claims.body_sha256):  # 10
            raise Rejected(403, 10)
        if not self._replays.admits(claims.jti, claims.exp, self._clock().timestamp()):  # 11
            raise Rejected(401, 11)

    def _signed_claims(self, authorization: bytes | None) -> CredentialClaims:
        token = b"" if authorization is None or authorization[:7] != _BEARER else authorization[7:]
        if not token:  # 1
            raise Rejected(401, 1)
        signed, _, last = token.rpartition(b".")
        first, _, second = signed.partition(b".")
        is_accepted = first == self._accepted_header
        try:
            header, claims, signature = _segments(b"" if is_accepted else first, second, last)  # 2
        except ValueError:
            # What stands in no token stands in no segment either, so that it is looked for only now.
            raise Rejected(401, 1 if token.translate(None, _TOKEN) else 2) from None
        if not is_accepted and _strict(header, 3) != self._header:  # 3
            raise Rejected(401, 3)
        if not self._trust.public_key.confirms(signed, signature):  # 4
            raise Rejected(401, 4)
        self._accepted_header = first
        return _claims(claims)  # 5

    def _require_formats(self, claims: CredentialClaims) -> None:
        if not claims.iat <= self._clock().timestamp() < claims.exp or claims.exp - claims.iat > MAX_LIFETIME_SECONDS:
            raise Rejected(401, 6)
        texts = _TEXTS(claims)
        if claims.parent_invocation_id is not msgspec.UNSET:
            texts = (claims.parent_invocation_id, *texts)
        if _FORMATS[len(texts)].fullmatch("\n".join(texts)) is None or len(claims.aud) != 1:
            raise Rejected(401, 6)
        try:
            _require_version(claims.agent_version)
            if claims.iss != self._trust.issuer:  # what is configured is canonical
                parse_origin(claims.iss)
            if claims.aud[0] != self._trust.audience:
                parse_origin(claims.aud[0])
        except ValueError:
            raise Rejected(401, 6) from None


@lru_cache(maxsize=1024)
def _require_version(text: str) -> None:
    Version.parse(text)


def _segments(header: bytes, claims: bytes, signature: bytes) -> tuple[bytes, bytes, bytes]:
    """Decoded, else ValueError; a header that was accepted before comes and goes as nothing."""
    decoded = header and from_base64url(header.decode("ascii"))
    found = decoded, from_base64url(claims.decode("ascii")), from_base64url(signature.decode("ascii"))
    if len(found[2]) != _SIGNATURE_BYTES:
        raise ValueError("a signature of another length")
    return found


def _strict(text: bytes, step: int) -> object:
    try:
        return strict_json.parse(text)
    except strict_json.JsonRefused:
        raise Rejected(401, step) from None


def _claims(text: bytes) -> CredentialClaims:
    try:
        claims = _read_claims(text)
        # What is written back as it was read has lost nothing, such as a repeated member: then it is strict JSON.
        if _written(claims) == text:
            return claims
    except strict_json.NOT_READ:
        pass  # Why is for the strict reading to say.
    value = _strict(text, 5)
    if not isinstance(value, dict) or type(value.get("iat")) is not int or type(value.get("exp")) is not int:
        raise Rejected(401, 5)
    try:
        return msgspec.convert(value, CredentialClaims)
    except msgspec.ValidationError:
        raise Rejected(401, 5) from None


def _require_context(sent: HeaderMap, claims: CredentialClaims) -> None:
    found = sent.by_name
    # Some frameworks read `x_platform_…` as `x-platform-…`; such a twin must not slip past the comparison.
    if _UNDERSCORE in b"".join(found) and any(
        _UNDERSCORE in name and name.replace(b"_", b"-") in _RESERVED for name in found
    ):
        raise Rejected(403, 9)
    if sent.repeats and any(name in found and sent.single(name) is None for name in _CONTEXT_NAMES):
        raise Rejected(403, 9)
    parent = None if claims.parent_invocation_id is msgspec.UNSET else claims.parent_invocation_id.encode()
    try:
        # As one text each: no claim has a line end, so a value that holds one makes the texts differ, too.
        equal = b"\n".join(_SENT_CONTEXT(found)) == "\n".join(_CLAIMED_CONTEXT(claims)).encode()
    except KeyError:
        equal = False
    if not equal or found.get(_PARENT) != parent:
        raise Rejected(403, 9)
