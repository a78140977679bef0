"""The one connection of a group commit, and the backends of earlier ones, which may outlive their client."""

from collections.abc import Awaitable, Callable

from aop.ledger import store
from aop.store.backends import Backend, backend_of, end_backend, write_marker
from aop.store.database import Connection
from aop.store.writable import require_replicated

Connect = Callable[[], Awaitable[Connection]]


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
        self._backend: Backend | None = None
        self._lost_backends: list[Backend] = []

    @property
    def current(self) -> Connection | None:
        """The open one; None when `opened` must open it first. One to a leader of before is of no use any more."""
        connection = self._connection
        return None if connection is None or connection.is_closed() or connection.is_former else connection

    async def opened(self) -> Connection:
        if self.current is None:
            self.drop()
            connection = await self._connect()
            try:
                self._backend = await backend_of(connection)
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
        return self._connection

    def abandon(self) -> None:
        """Its backend may be in the middle of a write."""
        if self._connection is not None and self._backend is not None:
            self._lost_backends.append(self._backend)
        self.drop()

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def end_lost_backends(self, connection: Connection) -> None:
        # A backend whose client is gone may still commit what it has read. Only once it has ended is absence final.
        # One of another server is not found here. What it had sent before this one was promoted is here; more of it
        # will never be, because no connection goes back to a leader of before.
        while self._lost_backends:
            if await end_backend(connection, self._lost_backends[-1]):
                raise BackendRuns
            self._lost_backends.pop()

    async def confirm(self, connection: Connection) -> None:
        """Returns once whatever is visible here is also where a synchronous standby keeps it. A row can be visible
        without that, when the backend that waited for the standby was ended."""
        await write_marker(connection)
        require_replicated(connection)
