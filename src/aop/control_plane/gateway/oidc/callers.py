"""Finds the principal of an access token of an OpenID provider, and refuses everything that fails one of its checks.

1. three canonical base64url segments; 2. the header names a known algorithm, a key id, no other kind of token and
nothing critical; 3. the key of that id is of the algorithm and strong enough; 4. signature; 5. issuer, audience, times
and kind; 6. the principal is the prefix and the claim, safe identifiers alone and together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aop.base import json
from aop.base.canonical import from_base64url
from aop.base.clock import Clock
from aop.base.ids import is_safe_identifier
from aop.contracts.errors import Unauthenticated
from aop.control_plane.gateway.oidc.key_set import KeySet
from aop.control_plane.gateway.oidc.public_key import ALGORITHMS
from aop.control_plane.settings import OidcSettings

_LEEWAY_SECONDS = 30
_ACCESS_TOKEN_TYPES = frozenset({"jwt", "at+jwt"})
"""Types in a token's header, without `application/`. A token without a type may be an access token as well."""
_OTHER_KINDS = frozenset({"id", "refresh", "offline", "logout"})
"""Values of the claim `typ` for tokens of other kinds. Keycloak gives all kinds the same header."""


@dataclass(frozen=True)
class _AccessToken:
    algorithm: str
    key_id: str
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


class OidcCallers:
    def __init__(self, settings: OidcSettings, keys: KeySet, clock: Clock) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock

    async def identify(self, text: str) -> str:
        token = _read_access_token(text)
        key = await self._keys.find(token.key_id)
        if key.algorithm != token.algorithm or not key.verifies(token.signed, token.signature):
            raise Unauthenticated("the signature is not of this key")
        _require_claims(token.claims, self._settings, self._clock().timestamp())
        return self._principal(token.claims)

    def _principal(self, claims: Mapping[str, Any]) -> str:
        claim = claims.get(self._settings.principal_claim)
        if not isinstance(claim, str) or not is_safe_identifier(claim):
            raise Unauthenticated("the principal claim is not a safe identifier")
        principal = self._settings.principal_prefix + claim
        if not is_safe_identifier(principal):
            raise Unauthenticated("the principal is too long")
        return principal


def _read_access_token(text: str) -> _AccessToken:
    segments = text.split(".")
    if len(segments) != 3:
        raise Unauthenticated("not three segments")
    try:
        header, claims = (json.parse(from_base64url(segment)) for segment in segments[:2])
        signature = from_base64url(segments[2])
    except ValueError:
        raise Unauthenticated("segments") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise Unauthenticated("segments")
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(key_id, str):
        raise Unauthenticated("algorithm or key id")
    if "crit" in header or not _may_be_access_token(header):
        raise Unauthenticated("critical header, or another type of token")
    return _AccessToken(algorithm, key_id, claims, f"{segments[0]}.{segments[1]}".encode("ascii"), signature)


def _require_claims(claims: Mapping[str, Any], settings: OidcSettings, now: float) -> None:
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != settings.issuer or settings.audience not in audiences:
        raise Unauthenticated("issuer or audience")
    expires, begins = _moment(claims.get("exp")), _moment(claims.get("nbf", 0))
    if now >= expires + _LEEWAY_SECONDS or now < begins - _LEEWAY_SECONDS:
        raise Unauthenticated("expired or not yet valid")
    if _moment(claims.get("iat", 0)) > now + _LEEWAY_SECONDS:
        raise Unauthenticated("issued in the future")
    kind = claims.get("typ")
    if isinstance(kind, str) and kind.lower() in _OTHER_KINDS:
        raise Unauthenticated("another kind of token")


def _may_be_access_token(header: Mapping[str, Any]) -> bool:
    """Judges by the media type, whose letters may be of any case; ID and logout tokens have other types."""
    if "typ" not in header:
        return True
    kind = header["typ"]
    return isinstance(kind, str) and kind.lower().removeprefix("application/") in _ACCESS_TOKEN_TYPES


def _moment(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unauthenticated("a time is not a number")
    return value
