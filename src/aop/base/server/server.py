"""The HTTP/1.1 server: listens on given sockets, runs one ASGI application, stops without losing a request."""

import asyncio
import socket
from collections.abc import Sequence

from aop.base.server.connection import ServerConnection
from aop.base.server.exchange import ASGIApp, Exchange, Scope
from aop.base.server.limits import ServerLimits
from aop.base.sockets import BACKLOG

_DEFAULT_LIMITS = ServerLimits()

# For each listening socket the loop accepts one connection a turn. While its turns are long, that is too few for those
# who wait, so it is given each socket this often.
_ACCEPTS_A_TURN = 16

# A connection that the loop accepted just before its listener closed is made known a few turns later.
_TURNS_FROM_ACCEPT = 4


class HttpServer:
    """Owns its listening sockets, connections and request tasks. Knows no lifespan: that is its owner's."""

    def __init__(self, app: ASGIApp, limits: ServerLimits = _DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.stopping = False
        self._app = app
        self._listeners: list[asyncio.Server] = []
        self._connections: set[ServerConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._quiet: asyncio.Future[None] | None = None

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    @property
    def request_count(self) -> int:
        """Requests whose application has not returned."""
        return len(self._tasks)

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        loop = asyncio.get_running_loop()
        for sock in sockets:
            for one in (sock, *(sock.dup() for _ in range(_ACCEPTS_A_TURN - 1))):
                listener = await loop.create_server(lambda: ServerConnection(self, loop), sock=one, backlog=BACKLOG)
                self._listeners.append(listener)

    def stop_accepting(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()

    async def stop(self, grace_seconds: float) -> None:
        """Closes the listeners and idle connections at once and gives running requests the grace to end.

        What is then left is aborted and its tasks are cancelled and awaited, so that when this returns
        no code of the application runs any more.
        """
        self.stop_accepting()
        self.stopping = True
        for _ in range(_TURNS_FROM_ACCEPT):
            await asyncio.sleep(0)
        for connection in list(self._connections):
            connection.drain()
        try:
            async with asyncio.timeout(grace_seconds):
                await self._all_quiet()
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()
            for task in self._tasks:
                task.cancel()
            await self._all_quiet()

    async def _all_quiet(self) -> None:
        while self._connections or self._tasks:
            self._quiet = asyncio.get_running_loop().create_future()
            await self._quiet

    # What connections call.

    def connection_opened(self, connection: ServerConnection) -> None:
        self._connections.add(connection)

    def connection_closed(self, connection: ServerConnection) -> None:
        self._connections.discard(connection)
        self._note_quiet()

    def run(self, exchange: Exchange, scope: Scope) -> None:
        task = asyncio.get_running_loop().create_task(exchange.run(self._app, scope))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._note_quiet()

    def _note_quiet(self) -> None:
        if self._quiet is not None and not self._quiet.done() and not self._connections and not self._tasks:
            self._quiet.set_result(None)
