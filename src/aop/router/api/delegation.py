"""Authenticates nested calls: verifies the delegation of an Agent.

1. one bearer value; 2. three canonical segments; 3. the header, exactly; 4. key and tag; 5. the claims, exactly;
6. issuer, audience and time. A signature is never tried: the header has one algorithm.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from aop.base import json
from aop.base.canonical import from_base64url
from aop.contracts.delegation import DelegationClaims, DelegationHeader
from aop.contracts.documents import document
from aop.contracts.errors import Unauthenticated
from aop.contracts.signing import MacKey
from aop.router.a2a.credential import Issuer
from aop.serving.edge.bearer import bearer_token
from aop.serving.edge.request import Request

T = TypeVar("T")


class Delegations:
    def __init__(self, issuer: Issuer, key: MacKey, seconds: Callable[[], float]) -> None:
        self._issuer = issuer
        self._key = key
        self._seconds = seconds

    async def authenticate(self, request: Request) -> None:
        """From here on the request is part of the parent's Trace and its caller is the parent's Agent."""
        claims = self.verify(bearer_token(request))
        request.grant = claims
        request.caller = claims.agent_id
        request.trace_id = claims.trace_id

    def verify(self, token: str) -> DelegationClaims:
        try:
            head, body, tag = token.split(".")
            header = _read(head, "header", DelegationHeader)
            confirmed = self._key.confirms(f"{head}.{body}".encode("ascii"), from_base64url(tag))
            if header.kid != self._issuer.key_id or not confirmed:
                raise Unauthenticated("the delegation is not ours")
            claims = _read(body, "claims", DelegationClaims)
        except (ValueError, msgspec.DecodeError):
            raise Unauthenticated("the delegation is malformed") from None
        named = (claims.iss, claims.aud)
        if named != (self._issuer.issuer, (self._issuer.agent_origin,)) or self._seconds() >= claims.exp:
            raise Unauthenticated("the delegation is for somebody else, or over")
        return claims


def _read(segment: str, definition: str, kind: type[T]) -> T:
    raw = from_base64url(segment)
    if not document(f"agent-delegation/2#{definition}").is_valid(json.parse(raw)):
        raise ValueError(definition)
    return msgspec.json.decode(raw, type=kind, strict=True)
