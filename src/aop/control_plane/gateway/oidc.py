"""Callers with an access token of an OpenID provider: signed JWTs, keys from its JWKS, a closed check of our own.

1. three canonical base64url segments; 2. header names a known algorithm and a key id, and nothing critical;
3. the key of that id fits the algorithm; 4. signature; 5. issuer, audience, times; 6. the principal is a safe
identifier.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aop.base import json
from aop.base.base64url import from_base64url
from aop.base.clock import Clock, utc_now
from aop.base.http import HttpClient, HttpError
from aop.base.ids import is_safe_identifier
from aop.base.network_policy import NameNotResolved, Resolver
from aop.base.origin import Endpoint
from aop.base.peer import Peer
from aop.contracts.errors import DependencyFailed, Unauthenticated
from aop.control_plane.settings import OidcSettings

LEEWAY_SECONDS = 30
KEYS_LIVE_SECONDS = 600.0
REFRESH_PAUSE_SECONDS = 60.0
OUTAGE_PAUSE_SECONDS = 1.0
_FETCH_SECONDS = 5.0
_KEY_SET_LIMIT = 256 * 1024
_KEY_FORMS = {
    "RS256": {"kty": "RSA"},
    "ES256": {"kty": "EC", "crv": "P-256"},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"},
}


@dataclass(frozen=True)
class _Token:
    algorithm: str
    key_id: str
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


class OidcCallers:
    def __init__(self, settings: OidcSettings, client: HttpClient, resolver: Resolver, clock: Clock = utc_now) -> None:
        self._settings = settings
        self._keys = _KeySet(settings.jwks_url, client, resolver)
        self._clock = clock

    async def identify(self, text: str) -> str:
        token = _read(text)
        key = await self._keys.find(token.key_id)
        form = _KEY_FORMS[token.algorithm]
        if any(key.get(member) != value for member, value in form.items()) or key.get("use", "sig") != "sig":
            raise Unauthenticated("the key does not fit the algorithm")
        if not _signature_holds(token, key):
            raise Unauthenticated("signature")
        self._require_claims(token.claims)
        principal = token.claims.get(self._settings.principal_claim)
        if not isinstance(principal, str) or not is_safe_identifier(principal):
            raise Unauthenticated("the principal claim is not a safe identifier")
        return principal

    def _require_claims(self, claims: Mapping[str, Any]) -> None:
        now = self._clock().timestamp()
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != self._settings.issuer or self._settings.audience not in audiences:
            raise Unauthenticated("issuer or audience")
        expires, not_before = _moment(claims.get("exp")), _moment(claims.get("nbf", 0))
        if now >= expires + LEEWAY_SECONDS or now < not_before - LEEWAY_SECONDS:
            raise Unauthenticated("expired or not yet valid")


class _KeySet:
    """The provider's keys, kept ten minutes; an unknown key id asks again, at most once a minute."""

    def __init__(self, url: str, client: HttpClient, resolver: Resolver) -> None:
        endpoint = Endpoint.parse(url)
        self._peer = Peer(endpoint.origin, client, resolver)
        self._path = endpoint.path
        self._keys: Mapping[str, Mapping[str, Any]] = {}
        self._fetched_at = self._asked_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def find(self, key_id: str) -> Mapping[str, Any]:
        async with self._fetching:
            now = asyncio.get_running_loop().time()
            stale = now - self._fetched_at >= KEYS_LIVE_SECONDS
            pause = OUTAGE_PAUSE_SECONDS if stale else REFRESH_PAUSE_SECONDS
            if (stale or key_id not in self._keys) and now - self._asked_at >= pause:
                self._asked_at = now
                self._keys = await self._fetch(now + _FETCH_SECONDS)
                self._fetched_at = now
                stale = False
        if stale:
            raise DependencyFailed("no usable key set")
        if key_id not in self._keys:
            raise Unauthenticated("unknown key id")
        return self._keys[key_id]

    async def _fetch(self, deadline: float) -> Mapping[str, Mapping[str, Any]]:
        try:
            answer = await self._peer.get(
                self._path, ((b"accept", b"application/json"),), deadline=deadline, max_body=_KEY_SET_LIMIT
            )
            document = json.parse(answer.body) if answer.status == 200 else None
        except (HttpError, NameNotResolved, TimeoutError, json.JsonRefused) as failure:
            raise DependencyFailed(f"key set: {type(failure).__name__}") from failure
        keys = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(keys, list):
            raise DependencyFailed("key set: not a JWKS document")
        return {key["kid"]: key for key in keys if isinstance(key, dict) and isinstance(key.get("kid"), str)}


def _read(text: str) -> _Token:
    segments = text.split(".")
    if len(segments) != 3:
        raise Unauthenticated("not three segments")
    try:
        header, claims = (json.parse(from_base64url(segment)) for segment in segments[:2])
        signature = from_base64url(segments[2])
    except (ValueError, json.JsonRefused):
        raise Unauthenticated("segments") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise Unauthenticated("segments")
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in _KEY_FORMS or not isinstance(key_id, str) or "crit" in header:
        raise Unauthenticated("header")
    return _Token(algorithm, key_id, claims, f"{segments[0]}.{segments[1]}".encode("ascii"), signature)


def _signature_holds(token: _Token, key: Mapping[str, Any]) -> bool:
    # Loaded with the first such token: it is large, and most deployments have no OpenID provider.
    import jwt  # noqa: PLC0415

    try:
        public = jwt.PyJWK(dict(key), algorithm=token.algorithm)
        return bool(public.Algorithm.verify(token.signed, public.key, token.signature))
    except (jwt.PyJWTError, ValueError, TypeError):
        return False


def _moment(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unauthenticated("a time is not a number")
    return value
