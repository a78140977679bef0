"""Routes of a caller's own identity: who it is, its tokens, codes to sign in with, and sign-in itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.base.clock import to_text
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.sign_in import (
    AccessToken,
    AccessTokenRequest,
    NewAccessToken,
    Principal,
    SignInCode,
    SignInRequest,
)
from aop.contracts.wire import moment_or_unset
from aop.control_plane.gateway.access import GatewayAccess, presented_token
from aop.control_plane.gateway.answers import list_response
from aop.control_plane.gateway.making import KnownCaller
from aop.control_plane.gateway.own_tokens import OwnTokens
from aop.control_plane.gateway.sign_in import SignIn
from aop.control_plane.gateway.store.tokens import TokenRecord, UnrevokedToken
from aop.control_plane.pages import ListPage
from aop.serving.edge.admission import Slots
from aop.serving.edge.body import read_json
from aop.serving.edge.paging import PAGE_QUERY, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Call, Route

_ME = "/v1/me"
_SIGN_IN_BYTES = 16_384


class IdentityRoutes:
    """For callers with a token, but for sign-in itself, which does not read an Authorization header."""

    def __init__(self, tokens: OwnTokens, sign_in: SignIn, request_max_bytes: int) -> None:
        self._tokens = tokens
        self._sign_in = sign_in
        self._request_max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2 = Envelope.CATALOG
        return [
            access.route("GET", _ME, self.read, v2),
            access.route("GET", f"{_ME}/tokens", self.tokens, v2, PAGE_QUERY),
            access.route("POST", f"{_ME}/tokens", self.make_token, v2),
            access.route("DELETE", f"{_ME}/tokens/:tokenId", self.revoke_token, v2),
            access.route("DELETE", f"{_ME}/token", self.sign_out, v2),
            access.route("POST", f"{_ME}/sign-in-codes", self.make_code, v2),
            Route("POST", "/v1/sign-in", self._redeem(access.sign_ins), v2),
        ]

    async def read(self, request: Request) -> Response:
        return json_response(200, Principal(principal_id=request.principal))

    async def tokens(self, request: Request) -> Response:
        paging = Paging("tokens", tuple[datetime, SafeIdentifier], request)
        page = await self._tokens.page(request.principal, paging.after, paging.limit)
        return list_response(paging, ListPage([_access_token(record, request) for record in page.items], page.last))

    async def make_token(self, request: Request) -> Response:
        body = await read_json(request, document("access-token/1#createRequest"), self._request_max_bytes)
        # The schema took it already, and to a schema 30.0 days are whole days as well.
        wanted = msgspec.json.decode(body.raw, type=AccessTokenRequest, strict=False)
        days = None if wanted.days is msgspec.UNSET else wanted.days
        issued = await self._tokens.make(_caller(request), wanted.label, days)
        return json_response(201, NewAccessToken(**_members(issued.record), token=issued.token.reveal()))

    async def revoke_token(self, request: Request) -> Response:
        revoked = await self._tokens.revoke(request.principal, request.path["tokenId"])
        return json_response(200, _access_token(revoked, request))

    async def sign_out(self, request: Request) -> Response:
        return json_response(200, _access_token(await self._tokens.revoke_presented(_caller(request)), request))

    async def make_code(self, request: Request) -> Response:
        made = await self._sign_in.make_code(_caller(request))
        return json_response(201, SignInCode(code=made.code.reveal(), expires_at=to_text(made.expires_at)))

    def _redeem(self, slots: Slots) -> Call:
        async def redeem(request: Request) -> Response:
            body = await read_json(request, document("sign-in-code/1#redeemRequest"), _SIGN_IN_BYTES)
            with slots.hold():  # only now: a slow sender takes none from other callers
                session = await self._sign_in.redeem(msgspec.json.decode(body.raw, type=SignInRequest).code)
            request.caller = session.principal_id
            return json_response(201, session)

        return redeem


def _caller(request: Request) -> KnownCaller:
    return KnownCaller(request.principal, presented_token(request))


def _access_token(record: TokenRecord, request: Request) -> AccessToken:
    return AccessToken(
        **_members(record, presented_token(request)),
        last_used_at=moment_or_unset(record.last_used_at),
        revoked_at=moment_or_unset(record.revoked_at),
    )


def _members(record: TokenRecord, presented: UnrevokedToken | None = None) -> dict[str, Any]:
    return {
        "token_id": record.token_id,
        "label": record.label,
        "created_at": to_text(record.created_at),
        "expires_at": to_text(record.expires_at),
        "current": presented is not None and presented.token_id == record.token_id,
        "made_by": record.made_by,
        "ends_with": record.ends_with or msgspec.UNSET,
    }
