"""The HTTP/1.1 server: accepts connections, runs one ASGI application, and stops without losing a request."""

import asyncio
import socket
from collections.abc import Callable, Sequence

from aop.net.asgi import ASGIApp, Scope
from aop.net.server.acceptor import Acceptor
from aop.net.server.connection import ServerConnection
from aop.net.server.connections import Connections
from aop.net.server.exchange import Exchange
from aop.net.server.limits import Note, ServerLimits
from aop.net.server.neighbours import (
    NEIGHBOURS_SECONDS,
    Neighbours,
    NoNeighbours,
    OwnerWorks,
    Precedence,
    WorkerSocket,
)
from aop.net.server.response import empty_answer

_DEFAULT_LIMITS = ServerLimits()
_NO_NEIGHBOURS = NoNeighbours()


class _ByCount:
    """Of a socket that all share: a process with clearly fewer connections comes first, but is waited for once."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._lag = neighbours.lag

    def seconds_for_others(self) -> float:
        return NEIGHBOURS_SECONDS if self._lag() else 0

    def is_left(self) -> bool:
        return True

    def taken(self) -> OwnerWorks | None:
        return None


class HttpServer:
    """Owns its listening sockets, connections and request tasks. Knows no lifespan: that is its owner's.

    `refusal` gives the whole answer, head and body, to a connection beyond the limit.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ServerLimits = _DEFAULT_LIMITS,
        *,
        note: Note = lambda _: None,
        refusal: Callable[[], bytes] = lambda: empty_answer(503),
        neighbours: Neighbours = _NO_NEIGHBOURS,
    ) -> None:
        self.limits = limits
        self.note = note
        self.stopping = False
        self.draining = False
        self.connections = Connections(limits, note, refusal, self._connection, self._note_count)
        self.idle = self.connections.idle
        self.unjudged = self.connections.unjudged
        self._app = app
        self._neighbours = neighbours
        self._loop: asyncio.AbstractEventLoop
        self._acceptors: list[Acceptor] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._quiet: asyncio.Future[None] | None = None

    @property
    def connection_count(self) -> int:
        return len(self.connections)

    @property
    def request_count(self) -> int:
        """Requests whose application has not returned."""
        return len(self._tasks)

    async def start(self, sockets: Sequence[socket.socket], by_worker: Sequence[WorkerSocket] = ()) -> None:
        self._loop = asyncio.get_running_loop()
        self._neighbours.tell(0)
        for sock in sockets:
            self._accept_from(sock, _ByCount(self._neighbours))
        for one in by_worker:
            self._accept_from(one.socket, one.precedence)

    def _accept_from(self, sock: socket.socket, precedence: Precedence) -> None:
        acceptor = Acceptor(sock, precedence, self.connections.admit, self.connections.accept_failed)
        acceptor.start()
        self._acceptors.append(acceptor)

    def stop_accepting(self) -> None:
        for acceptor in self._acceptors:
            acceptor.stop()
        self._acceptors.clear()
        self._neighbours.leave()

    def drain(self) -> None:
        """From now on every answer says that its connection closes. New connections are still accepted."""
        self.draining = True

    def close_idle(self) -> None:
        """Closes the connections on which no request runs or arrives, but not new ones: the first request of one is
        on its way, and would be lost without an answer."""
        for connection in tuple(self.idle):
            connection.drain()

    async def stop(self, grace_seconds: float) -> None:
        """Closes the listeners and idle connections at once and gives running requests the grace to end.

        What is then left is aborted and its tasks are cancelled and awaited, so that when this returns
        no code of the application runs any more.
        """
        self.stop_accepting()
        self.stopping = self.draining = True
        await self.connections.settle()
        for connection in self.connections:
            connection.drain()
        try:
            async with asyncio.timeout(grace_seconds):
                await self._all_quiet()
        except TimeoutError:
            for connection in self.connections:
                connection.abort()
            for task in self._tasks:
                task.cancel()
            await self._all_quiet()

    async def _all_quiet(self) -> None:
        while self.connections or self._tasks:
            self._quiet = asyncio.get_running_loop().create_future()
            await self._quiet

    # What connections call.

    def run(self, exchange: Exchange, scope: Scope) -> None:
        task = self._loop.create_task(exchange.run(self._app, scope))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def closed(self, connection: ServerConnection) -> None:
        self.connections.closed(connection)

    def _connection(self) -> ServerConnection:
        return ServerConnection(self, self._loop)

    def _note_count(self) -> None:
        if self._acceptors:
            self._neighbours.tell(len(self.connections))
        self._note_quiet()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._note_quiet()

    def _note_quiet(self) -> None:
        if self._quiet is not None and not self._quiet.done() and not self.connections and not self._tasks:
            self._quiet.set_result(None)
