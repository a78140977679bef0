"""A principal's own tokens: it lists them, makes further ones, and revokes them."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from aop.base.clock import Clock
from aop.base.ids import new_id
from aop.base.settings import Secret
from aop.contracts.errors import Conflict, NotFound, Reason
from aop.control_plane.gateway.making import KnownCaller, Maker, PrincipalLocks, require_maker
from aop.control_plane.gateway.store import tokens as store
from aop.control_plane.gateway.store.tokens import TokenRecord
from aop.control_plane.gateway.tokens import IssuedToken, new_token_text, token_digest
from aop.control_plane.pages import ListPage, TimePosition
from aop.store.database import Database


class OwnTokens:
    """`forget` gets the digests of every revoked token, so that this process refuses them at once."""

    def __init__(
        self,
        database: Database,
        locks: PrincipalLocks,
        clock: Clock,
        forget: Callable[[Iterable[bytes]], None],
        max_days: int,
    ) -> None:
        self._database = database
        self._locks = locks
        self._clock = clock
        self._forget = forget
        self._max_days = max_days

    async def page(
        self, principal_id: str, after: TimePosition | None, limit: int
    ) -> ListPage[TokenRecord, TimePosition]:
        """Those that can be used, newest first."""
        async with self._database.connection() as connection:
            tokens = await store.usable_tokens(connection, principal_id, self._clock(), after, limit + 1)
        return ListPage.cut(tokens, limit, lambda last: (last.created_at, last.token_id))

    async def make(self, caller: KnownCaller, label: str, days: int | None) -> IssuedToken:
        text, now = new_token_text(), self._clock()
        async with self._locks.of(caller.principal_id) as connection:
            maker = await require_maker(connection, caller, now)
            expires_at, ends_with = self._life(maker, days, now)
            record = TokenRecord(
                new_id("tok"), caller.principal_id, label, now, expires_at, maker.made_by, maker.origin, ends_with
            )
            await store.insert_token(connection, record, token_digest(text))
        return IssuedToken(record, Secret(text))

    async def revoke(self, principal_id: str, token_id: str) -> TokenRecord:
        """With all that was made with it. Revoking twice keeps the first time."""
        async with self._locks.of(principal_id) as connection:
            token = await store.token(connection, token_id)
            if token is None or token.principal_id != principal_id:
                raise NotFound("no such token of this principal", reason=Reason.TOKEN_UNKNOWN)
            digests = await store.revoke(connection, token_id, self._clock())
            revoked = await store.token(connection, token_id)
        self._forget(digests)
        return revoked or token

    async def revoke_presented(self, caller: KnownCaller) -> TokenRecord:
        if caller.token is None:
            raise Conflict("a token of the OpenID provider", reason=Reason.TOKEN_OF_OPENID_PROVIDER)
        return await self.revoke(caller.principal_id, caller.token.token_id)

    def _life(self, maker: Maker, days: int | None, now: datetime) -> tuple[datetime, str | None]:
        """When it expires, and the token it ends with.

        What the OpenID provider's callers and an operator's sessions make stands alone, and has a longest life.
        """
        wanted = self._max_days if days is None else days
        if maker.token is None or maker.token.is_operators_session:
            return now + timedelta(days=min(wanted, self._max_days)), None
        return min(now + timedelta(days=wanted), maker.token.expires_at), maker.token.token_id
