"""Who makes a token or a code for itself, how much of it, and with what it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from weakref import WeakValueDictionary

from aop.contracts.errors import Conflict, Reason, Unauthenticated
from aop.contracts.sign_in import TokenMaker
from aop.control_plane.gateway.store import codes, tokens
from aop.control_plane.gateway.store.tokens import TokenOrigin, TokenRecord, UnrevokedToken
from aop.store.database import Connection, Database

MAX_USABLE: Final = 100
MAX_OF_A_DAY: Final = 500


@dataclass(frozen=True)
class KnownCaller:
    """A principal, and the access token it presented; None for a token of the OpenID provider."""

    principal_id: str
    token: UnrevokedToken | None


@dataclass(frozen=True)
class Maker:
    made_by: TokenMaker
    origin: TokenOrigin
    token: TokenRecord | None = None


class PrincipalLocks:
    """What changes the tokens and codes of one principal happens one after the other, in every process.

    Within a process a request that waits has no connection yet: a principal that asks a thousand times at once takes
    one of the pool, and leaves the others to other principals.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, principal_id: str) -> AsyncIterator[Connection]:
        """A transaction with the principal's lock."""
        lock = self._locks.setdefault(principal_id, asyncio.Lock())
        async with lock, self._database.transaction() as connection:
            await tokens.lock_principal(connection, principal_id)
            yield connection


async def require_maker(connection: Connection, caller: KnownCaller, now: datetime) -> Maker:
    """Under the lock of the principal: the caller's token stays as it is, and no other request counts what it makes.

    The token is read again. It may have been revoked since it was accepted, and then nothing may be made with it.
    """
    maker = Maker(TokenMaker.OPENID, TokenOrigin.OPENID)
    if caller.token is not None:
        token = await tokens.token(connection, caller.token.token_id)
        if token is None or token.revoked_at is not None or token.expires_at <= now:
            raise Unauthenticated("the token ended meanwhile")
        maker = Maker(TokenMaker.TOKEN, token.origin, token)
    made = await codes.made_by_callers(connection, caller.principal_id, now)
    if made.usable >= MAX_USABLE or made.of_last_day >= MAX_OF_A_DAY:
        raise Conflict("too many tokens and codes", reason=Reason.TOKEN_LIMIT)
    return maker
