"""The one connection of a group commit, and the backends of earlier ones, which may outlive their client."""

from collections.abc import Awaitable, Callable

from aop.ledger import store
from aop.store.database import Connection

Connect = Callable[[], Awaitable[Connection]]

_TERMINATE_MS = 1000


class BackendRuns(Exception):
    """A backend whose client is gone still runs: it may still commit what is absent now."""


def prepared_by(connect: Connect, write_seconds: float) -> Connect:
    """Opens connections for writers. One that cannot be prepared is closed here, because nobody else can close it."""

    async def prepared() -> Connection:
        connection = await connect()
        try:
            await store.prepare_writer(connection, write_seconds)
        except BaseException:
            connection.terminate()
            raise
        return connection

    return prepared


class WriterConnection:
    """Opened when it is first needed, and again after it was lost or dropped."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._lost_backends: list[int] = []

    @property
    def current(self) -> Connection | None:
        """The open one; None when `opened` must open it first."""
        connection = self._connection
        return None if connection is None or connection.is_closed() else connection

    async def opened(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    def abandon(self) -> None:
        """Its backend may be in the middle of a write."""
        if self._connection is not None:
            self._lost_backends.append(self._connection.get_server_pid())
        self.drop()

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def end_lost_backends(self, connection: Connection) -> None:
        # A backend whose client is gone may still commit what it has read. Only once it has ended is absence final.
        while self._lost_backends:
            await connection.fetchval(
                "SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE pid = $1 AND usename = current_user",
                self._lost_backends[-1],
                _TERMINATE_MS,
            )
            still = await connection.fetchval(
                "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND usename = current_user)",
                self._lost_backends[-1],
            )
            if still:
                raise BackendRuns
            self._lost_backends.pop()
