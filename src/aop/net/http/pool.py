"""The connections of one client: dialed at judged addresses, and held briefly when idle, newest first."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from aop.base.share import WorkerShare
from aop.net.authorities import certified_context
from aop.net.http.connection import READ_BUFFER_BYTES, Connection
from aop.net.http.in_pieces import InPieces
from aop.net.http.message import ConnectFailed, ConnectPhase, HttpTimeout, Target, TransferBroken
from aop.net.silence import SilenceWatch
from aop.net.sockets import connected_to_path, dialing_socket, is_path
from aop.net.worker_sockets import NearestWorkers


class Dialer:
    """Opens connections of one loop; the default TLS context is read from disk at the first https target."""

    def __init__(self, tls: ssl.SSLContext | None, connect_seconds: float, share: WorkerShare) -> None:
        self._buffer = memoryview(bytearray(READ_BUFFER_BYTES))
        self._nearest = NearestWorkers(share)
        self._tls = tls
        self._connect_seconds = connect_seconds

    async def dial(self, target: Target, deadline: float, lost: Callable[[Connection], None]) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(target, loop, lost)
        phase: ConnectPhase = "connect"
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + self._connect_seconds)):
                if is_path(target.address):  # it never leaves the machine, so it needs no TLS, whatever the origin
                    sock = self._at_path(target.address)
                    await loop.create_unix_connection(lambda: InPieces(connection, self._buffer), sock=sock)
                    return connection
                sock = dialing_socket(target.address)
                try:
                    await loop.sock_connect(sock, (target.address, target.port))
                except BaseException:
                    sock.close()
                    raise
                if target.scheme == "http":
                    await loop.create_connection(lambda: InPieces(connection, self._buffer), sock=sock)
                else:
                    phase = "tls"
                    await loop.create_connection(
                        lambda: connection, sock=sock, ssl=self._context(), server_hostname=target.host
                    )
        except (OSError, ValueError) as error:  # ValueError: a host that cannot be a TLS name
            if isinstance(error, TimeoutError) and loop.time() >= deadline:
                raise HttpTimeout("the deadline came before the connection") from error
            raise ConnectFailed(phase, type(error).__name__) from error
        return connection

    def _at_path(self, path: str) -> socket.socket:
        if (nearest := self._nearest.path(path)) is not None:
            with suppress(OSError):  # a unit that has fewer workers now, or none
                return connected_to_path(nearest)
        return connected_to_path(path)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = certified_context()
        return self._tls


class Pool:
    """Gives out clean connections and takes them back; never gives one to two exchanges at a time."""

    def __init__(self, dialer: Dialer, idle_seconds: float, max_idle_per_target: int) -> None:
        self._dialer = dialer
        self._idle_seconds = idle_seconds
        self._max_idle_per_target = max_idle_per_target
        self._resting: dict[Target, list[Connection]] = {}
        self._open: set[Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._all_lost: asyncio.Future[None] | None = None
        self._closed = False
        self._silence = SilenceWatch(lambda: self._open or None)

    def idle(self, target: Target, deadline: float) -> Connection | None:
        """The most recently used connection that is still clean; a stale one is closed, never used."""
        loop = self._loop
        if loop is None:  # kept, because to ask for it costs a system call for each request
            loop = self._loop = asyncio.get_running_loop()
        now = loop.time()
        if self._closed:
            raise RuntimeError("the client is closed")
        if now >= deadline:
            raise HttpTimeout("the deadline came before the request")
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
        self._silence.begin()
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
