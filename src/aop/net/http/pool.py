"""The connections of one client: idle ones rest briefly, newest first, keyed by everything a target names."""

import asyncio

from aop.net.http.connection import Connection
from aop.net.http.dialing import Dialer
from aop.net.http.errors import ConnectFailed, DeadlinePassed, TransferBroken
from aop.net.http.message import Target


class Pool:
    """Gives out clean connections and takes them back; never gives one to two exchanges at a time."""

    def __init__(self, dialer: Dialer, idle_seconds: float, max_idle_per_target: int) -> None:
        self._dialer = dialer
        self._idle_seconds = idle_seconds
        self._max_idle_per_target = max_idle_per_target
        self._resting: dict[Target, list[Connection]] = {}
        self._open: set[Connection] = set()
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._all_lost: asyncio.Future[None] | None = None
        self._closed = False

    def idle(self, target: Target, deadline: float) -> Connection | None:
        """The most recently used connection that is still clean; a stale one is closed, never used."""
        now = asyncio.get_running_loop().time()
        if self._closed:
            raise RuntimeError("the client is closed")
        if now >= deadline:
            raise DeadlinePassed("the deadline came before the request")
        idle = self._resting.get(target)
        while idle:
            connection = idle.pop()
            if now - connection.idle_since < self._idle_seconds and connection.is_quiet():
                return connection
            connection.abort()
        return None

    async def new(self, target: Target, deadline: float) -> Connection:
        connection = await self._dialer.dial(target, deadline, self._lost)
        if self._closed or not connection.is_open():
            connection.abort()
            raise ConnectFailed("connect", "closed before the request")
        self._open.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Keeps the connection if its answer was read to the exact end, else closes it."""
        if not connection.release():
            return
        idle = self._resting.get(connection.target)
        if idle is None:
            idle = self._resting[connection.target] = []
        idle.append(connection)
        if len(idle) > self._max_idle_per_target:
            idle.pop(0).abort()
        if self._sweep_timer is None:
            loop = asyncio.get_running_loop()
            self._sweep_timer = loop.call_later(self._idle_seconds, self._sweep, loop)

    async def close(self) -> None:
        self._closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for connection in list(self._open):
            connection.fail(TransferBroken("the client was closed"))
        if self._open:
            self._all_lost = asyncio.get_running_loop().create_future()
            await self._all_lost

    def _lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        idle = self._resting.get(connection.target)
        if idle is not None and connection in idle:
            idle.remove(connection)
        if not self._open and self._all_lost is not None and not self._all_lost.done():
            self._all_lost.set_result(None)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweep_timer = None
        oldest = loop.time() - self._idle_seconds
        for target, idle in list(self._resting.items()):
            while idle and idle[0].idle_since <= oldest:  # the list is in the order of idle_since
                idle.pop(0).abort()
            if not idle:
                del self._resting[target]
        if self._resting:
            first = min(idle[0].idle_since for idle in self._resting.values())
            self._sweep_timer = loop.call_at(first + self._idle_seconds, self._sweep, loop)
