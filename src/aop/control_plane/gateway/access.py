"""Who may call the Gateway, and how many at once."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aop.base.clock import Clock, utc_now
from aop.base.recent import TtlCache
from aop.contracts.errors import Envelope, Unauthenticated
from aop.control_plane.gateway.oidc.callers import OidcCallers
from aop.control_plane.gateway.store import tokens as store
from aop.control_plane.gateway.store.tokens import TokenOrigin, UnrevokedToken
from aop.control_plane.gateway.tokens import TEXT_PREFIX, is_well_formed, token_digest
from aop.serving.edge.admission import Slots
from aop.serving.edge.bearer import bearer_token
from aop.serving.edge.query import QueryRules
from aop.serving.edge.request import Request
from aop.serving.edge.routing import Call, Route
from aop.store.database import Database
from aop.store.grouped_reads import GroupedReads

MAX_ANONYMOUS: Final = 64
MAX_SIGN_INS: Final = 8
MAX_BUNDLES: Final = 4
MAX_COMPARISONS: Final = 8
# A revocation must work within 5 s; half of that leaves room for the clocks of several replicas.
_CACHE_SECONDS = 2.5


class TokenCallers:
    """Finds the token that a text is. Caches a token that the store accepted for a moment, never a refusal.

    The prefix of the OpenID provider's principals is reserved: a token stands for one of them only when it goes back
    to a caller of the provider.
    """

    def __init__(self, database: Database, clock: Clock = utc_now, reserved_prefix: str | None = None) -> None:
        self._database = database
        self._clock = clock
        self._reserved_prefix = reserved_prefix
        self._tokens: GroupedReads[bytes, UnrevokedToken] = GroupedReads(database, store.unrevoked_tokens)
        self._cache: TtlCache[bytes, UnrevokedToken] = TtlCache(_CACHE_SECONDS)
        self._revocations = 0

    def cached(self, text: str) -> UnrevokedToken | None:
        """What the store accepted a moment ago; None when it has to be asked."""
        token = self._cache.find(token_digest(text), time.monotonic())
        return None if token is None or self._clock() >= token.expires_at else token

    async def identify(self, text: str) -> UnrevokedToken:
        token = self.cached(text)
        if token is not None:
            return token
        if not is_well_formed(text):
            raise Unauthenticated("token form or checksum")
        return await self._read(token_digest(text), time.monotonic())

    def forget(self, revoked: Iterable[bytes]) -> None:
        """From now on these are refused here. What is being read at this moment may be older, and is not cached."""
        self._revocations += 1
        for digest in revoked:
            self._cache.forget(digest)

    async def close(self) -> None:
        await self._tokens.close()

    async def _read(self, digest: bytes, now: float) -> UnrevokedToken:
        revocations, moment = self._revocations, self._clock()
        token = await self._tokens.get(digest)
        if token is None or token.expires_at <= moment:
            self._cache.forget(digest)
            raise Unauthenticated("unknown, expired or revoked token")
        if self._is_reserved(token):
            raise Unauthenticated("its principal is one of the OpenID provider")
        if token.last_used_at is None or token.last_used_at <= moment - store.USE_STEP:
            async with self._database.connection() as connection:
                await store.note_use(connection, token.token_id, moment)
        if revocations == self._revocations:
            self._cache.keep(digest, token, now)
        return token

    def _is_reserved(self, token: UnrevokedToken) -> bool:
        prefix = self._reserved_prefix
        return prefix is not None and token.origin is not TokenOrigin.OPENID and token.principal_id.startswith(prefix)


class Callers:
    """Reads an access token of ours or, where configured, a token of an OpenID provider."""

    def __init__(self, tokens: TokenCallers, oidc: OidcCallers | None) -> None:
        self._tokens = tokens
        self._oidc = oidc

    async def authenticate(self, request: Request) -> None:
        text = bearer_token(request)
        if text.startswith(TEXT_PREFIX):
            token = self._tokens.cached(text) or await self._tokens.identify(text)
            request.caller, request.grant = token.principal_id, token
        elif self._oidc is not None:
            request.caller = await self._oidc.identify(text)
        else:
            raise Unauthenticated("not an access token")


@dataclass(frozen=True)
class GatewayAccess:
    callers: Callers
    invocations: Slots
    requests: Slots
    resolves: Slots
    """For what Routers resolve for running Invocations; a drain refuses these last."""
    anonymous: Slots
    """For callers without a token, who take no slot from callers with one."""
    sign_ins: Slots
    """For redeeming sign-in codes alone: neither public reads nor slow senders take a slot from it."""
    bundles: Slots
    """For bundles of the Ledger: one may have tens of megabytes until its caller has taken it."""
    comparisons: Slots
    """For comparisons of Cards: each holds two Cards while it waits for a schema process."""

    @property
    def drained(self) -> tuple[tuple[Slots, ...], ...]:
        """In the order in which a drain closes them."""
        return (self.invocations, self.requests, self.anonymous, self.sign_ins, self.bundles, self.comparisons), (
            self.resolves,
        )

    def route(self, method: str, path: str, call: Call, envelope: Envelope, query: QueryRules | None = None) -> Route:
        """A route for authenticated callers, counted among the requests that are not invocations."""
        return Route(method, path, call, envelope, self.callers.authenticate, self.requests, query or {})


def presented_token(request: Request) -> UnrevokedToken | None:
    """The access token of an authenticated request; None when it carries a token of the OpenID provider."""
    return request.grant if isinstance(request.grant, UnrevokedToken) else None
