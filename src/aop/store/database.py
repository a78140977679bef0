"""PostgreSQL connections: one pool per unit, bounded waits, and one error for a store that does not answer properly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg

from aop.store.problems import StoreAway, StoreUnavailable
from aop.store.writable import StoreConnection, connect_writable, require_replicated

Connection = Any
"""An asyncpg connection; the library ships no types."""

STATEMENT_MILLIS = 2000
"""How long a statement, or its wait for a lock, may take when no setting says otherwise."""
_CONNECT_SECONDS = 5.0
_LEAST_TO_KEEP_ONE = 4

_LOST = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
CONNECTION_LOST = (*_LOST, StoreUnavailable)
"""No answer of the server. InternalClientError is what the driver raises on a connection that ended a moment ago,
StoreUnavailable what `connect` makes of all of them."""

# The server of this session is gone, does not answer, or takes no writes any more: so do those of the other sessions.
SERVER_LOST = (
    *CONNECTION_LOST,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
)

# What a server answers that does not serve yet, or no more, or not so many; or nothing at all.
_AWAY = (
    *_LOST,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
)

# What a rule of ours may raise inside a transaction; everything else means the store failed.
_RULES = (asyncpg.IntegrityConstraintViolationError, asyncpg.RaiseError)


@asynccontextmanager
async def translated_failures() -> AsyncIterator[None]:
    try:
        yield
    except (asyncpg.PostgresError, *_LOST) as failure:
        known = translated(failure)
        if known is failure:
            raise
        raise known from failure


def translated(failure: Exception) -> Exception:
    """The same for one failure: a scope around it costs a lone read more than its try does."""
    is_of_store = isinstance(failure, (asyncpg.PostgresError, *_LOST)) and not isinstance(failure, _RULES)
    if not is_of_store:
        return failure
    # A certificate or a URL that cannot be right is a ValueError too.
    is_away = isinstance(failure, _AWAY) and not isinstance(failure, ValueError)
    return (StoreAway if is_away else StoreUnavailable)(type(failure).__name__)


def session_settings(application: str, statement_ms: int = STATEMENT_MILLIS) -> dict[str, str]:
    """Set by each unit when it connects, because settings of a group role are not inherited."""
    return {
        "application_name": application,
        "search_path": "pg_catalog",
        "timezone": "UTC",
        "statement_timeout": str(statement_ms),
        "lock_timeout": str(statement_ms),
        "idle_in_transaction_session_timeout": "10s",
        "jit": "off",
    }


def _patience_seconds(statement_ms: int) -> float:
    """For connecting, for getting a connection from the pool, and for a statement with its way there and back."""
    return statement_ms / 1000 * 2.5


class Database:
    def __init__(self, pool: Any, statement_ms: int = STATEMENT_MILLIS, size: int = 1) -> None:
        self._pool = pool
        self._size = size
        self._patience_seconds = _patience_seconds(statement_ms)

    @classmethod
    async def open(cls, url: str, *, size: int, application: str, statement_ms: int = STATEMENT_MILLIS) -> "Database":
        """Connects once, so that an unreachable store is known at start; further connections are opened on demand."""
        async with translated_failures():
            pool = await asyncpg.create_pool(
                url,
                connect=connect_writable,
                connection_class=StoreConnection,
                min_size=1,
                max_size=size,
                timeout=_patience_seconds(statement_ms),
                command_timeout=_patience_seconds(statement_ms),
                server_settings=session_settings(application, statement_ms),
                reset=_keep_session,
            )
        return cls(pool, statement_ms, size)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with translated_failures():
            connection = await _acquired(self._pool, self._patience_seconds)
            session = connection.itself
            try:
                yield connection
                require_replicated(session)
            except SERVER_LOST as failure:
                await _leave(self._pool, connection, failure)
                raise
            finally:
                await self._pool.release(connection)

    def keep(self) -> "KeptConnection | None":
        """A connection of the pool for one owner who uses it all the time; None where the others need all of them."""
        return KeptConnection(self._pool, self._patience_seconds) if self._size >= _LEAST_TO_KEEP_ONE else None

    @asynccontextmanager
    async def transaction(self, **options: Any) -> AsyncIterator[Connection]:
        async with self.connection() as connection, connection.transaction(**options):
            yield connection

    async def close(self) -> None:
        self._pool.terminate()


class KeptConnection:
    """Taken from the pool when it is first needed, and again when it was lost. One user at a time."""

    def __init__(self, pool: Any, patience_seconds: float) -> None:
        self._pool = pool
        self._patience_seconds = patience_seconds
        self._connection: Connection | None = None

    async def opened(self) -> Connection:
        """Inside `translated_failures`."""
        connection = self._connection
        if connection is None or _is_lost(connection):
            await self.release()
            connection = self._connection = await _acquired(self._pool, self._patience_seconds)
        return connection

    async def leave(self, failure: Exception) -> None:
        """After one of SERVER_LOST."""
        if self._connection is not None:
            await _leave(self._pool, self._connection, failure)

    async def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._pool.release(connection)


async def _acquired(pool: Any, patience_seconds: float) -> Connection:
    """Never a session to a leader of before: it would read what others have changed since."""
    connection = await pool.acquire(timeout=patience_seconds)
    while connection.is_former:
        connection.terminate()
        await pool.release(connection)
        await pool.expire_connections()
        connection = await pool.acquire(timeout=patience_seconds)
    return connection


async def _leave(pool: Any, connection: Connection, failure: Exception) -> None:
    """Gives up the session, and with it all others of the pool: those to a frozen server would each cost a caller the
    whole patience before they are lost. A statement that was only too slow says nothing of its server."""
    if not isinstance(failure, asyncpg.QueryCanceledError):
        with suppress(asyncpg.InterfaceError):  # the pool has taken a closed one back, and nothing of it may be used
            connection.terminate()
        await pool.expire_connections()


def _is_lost(connection: Connection) -> bool:
    """Or to a leader of before."""
    try:
        return bool(connection.is_closed() or connection.is_former)
    except asyncpg.InterfaceError:  # as in `_leave`
        return True


async def _keep_session(connection: Connection) -> None:
    """No statement of ours leaves session state behind, so the pool's RESET round trip is saved."""


async def connect(
    url: str, *, application: str, writable: bool = True, command_seconds: float | None = None
) -> Connection:
    """One connection outside any pool: for operator commands, and for writers that limit their statements themselves.

    One that need not be `writable` may be a standby, for commands that only read.
    """
    options = {
        "timeout": _CONNECT_SECONDS,
        "command_timeout": command_seconds,
        "server_settings": {"application_name": application, "search_path": "pg_catalog"},
    }
    async with translated_failures():
        return await (connect_writable if writable else asyncpg.connect)(url, **options)
