"""Who calls with an access token of an OpenID provider: a closed check of our own.

1. three canonical base64url segments; 2. the header names a known algorithm, a key id, no other kind of token and
nothing critical; 3. the key of that id is of the algorithm and strong enough; 4. signature; 5. issuer, audience, times
and kind; 6. the principal is the prefix and the claim, safe identifiers alone and together.
"""

from collections.abc import Mapping
from typing import Any

from aop.base.clock import Clock
from aop.base.ids import is_safe_identifier
from aop.contracts.errors import Unauthenticated
from aop.control_plane.gateway.oidc.access_token import read_access_token, require_claims
from aop.control_plane.gateway.oidc.key_set import KeySet
from aop.control_plane.settings import OidcSettings


class OidcCallers:
    def __init__(self, settings: OidcSettings, keys: KeySet, clock: Clock) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock

    async def identify(self, text: str) -> str:
        token = read_access_token(text)
        key = await self._keys.find(token.key_id)
        if key.algorithm != token.algorithm or not key.verifies(token.signed, token.signature):
            raise Unauthenticated("the signature is not of this key")
        require_claims(token.claims, self._settings, self._clock().timestamp())
        return self._principal(token.claims)

    def _principal(self, claims: Mapping[str, Any]) -> str:
        claim = claims.get(self._settings.principal_claim)
        if not isinstance(claim, str) or not is_safe_identifier(claim):
            raise Unauthenticated("the principal claim is not a safe identifier")
        principal = self._settings.principal_prefix + claim
        if not is_safe_identifier(principal):
            raise Unauthenticated("the principal is too long")
        return principal
