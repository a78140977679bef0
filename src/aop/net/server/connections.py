"""The open connections of a server: how many there may be, which one gives way, and which are refused."""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final, cast

from aop.net.server.connection import ServerConnection
from aop.net.server.limits import ConnectionEvent, Note, ServerLimits
from aop.net.server.neighbours import OwnerWorks
from aop.net.silence import SilenceWatch

_MAX_REFUSED: Final = 32
"""Refused connections that are still being answered; the ones beyond are answered and closed in one step."""
_GIVE_WAY_AT_ONCE: Final = 16
_RECEIVED_BYTES: Final = 64 * 1024


class RefusedConnection(asyncio.Protocol):
    """Answers the first bytes, or after its time their absence: some clients take an early answer for an error.

    What arrives after the answer is dropped: closing with unread bytes would take the answer with it.
    """

    def __init__(self, answer: bytes, seconds: float, closed: Callable[["RefusedConnection"], None]) -> None:
        self._answer = answer
        self._seconds = seconds
        self._closed = closed
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    def data_received(self, data: bytes) -> None:
        self._write_answer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._closed(self)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _write_answer(self) -> None:
        answer, self._answer = self._answer, b""
        if answer and self._transport is not None:
            self._transport.write(answer)
            self._transport.write_eof()

    def _end(self) -> None:
        self._write_answer()
        if self._transport is not None and not self._transport.get_write_buffer_size():
            self._transport.close()
        else:
            self.abort()


class Connections:
    """`idle` holds those that wait for the first byte of a next request, the longest idle first; `unjudged` those whose
    request was not judged yet, or is refused already: its head is not complete, or its body still arrives. The oldest
    is first there, too.

    A connection writes itself in and out there, because that happens with every request.
    """

    def __init__(
        self,
        limits: ServerLimits,
        note: Note,
        refusal: Callable[[], bytes],
        make: Callable[[], ServerConnection],
        changed: Callable[[], None],
    ) -> None:
        self.idle: OrderedDict[ServerConnection, None] = OrderedDict()
        self.unjudged: OrderedDict[ServerConnection, None] = OrderedDict()
        self._limits = limits
        self._note = note
        self._refusal = refusal
        self._make = make
        self._changed = changed
        self._open: set[ServerConnection] = set()
        self._leaving: set[ServerConnection] = set()
        self._refused: set[RefusedConnection] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._silence = SilenceWatch(self._busy)

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[ServerConnection]:
        return iter(tuple(self._open))

    def admit(self, sock: socket.socket, owner_works: OwnerWorks | None = None) -> None:
        full = len(self._open) - len(self._leaving) >= self._limits.max_connections
        if full and not self._give_way():
            self._refuse(sock)
            return
        connection = self._make()
        connection.owner_works = owner_works
        self._open.add(connection)
        self._silence.begin()
        self._changed()
        self._join(sock, connection, lambda: self.closed(connection))

    def accept_failed(self) -> None:
        """The process can open nothing more: idle connections give way to those who wait."""
        self._note(ConnectionEvent.ACCEPT_FAILED)
        for _ in range(_GIVE_WAY_AT_ONCE):
            if not self._give_way():
                return

    def closed(self, connection: ServerConnection) -> None:
        self._open.discard(connection)
        self._leaving.discard(connection)
        self.idle.pop(connection, None)
        self.unjudged.pop(connection, None)
        self._changed()

    async def settle(self) -> None:
        """Waits until every connection that was accepted is made known, and ends the refused ones."""
        if self._joining:
            await asyncio.wait(self._joining)
        for refused in tuple(self._refused):
            refused.abort()

    def _busy(self) -> Iterable[ServerConnection] | None:
        """The others are closed soon anyway; the kernel then delivers what it still has of the answer."""
        return self._open.difference(self.idle, self.unjudged) if self._open else None

    def _give_way(self) -> bool:
        waiting = self.idle or self.unjudged
        if not waiting:
            return False
        connection, _ = waiting.popitem(last=False)
        self._leaving.add(connection)
        connection.abort()
        self._note(ConnectionEvent.IDLE_CLOSED)
        return True

    def _refuse(self, sock: socket.socket) -> None:
        self._note(ConnectionEvent.REFUSED)
        answer = self._refusal()
        if len(self._refused) < _MAX_REFUSED:
            refused = RefusedConnection(answer, self._limits.linger_seconds, self._refused.discard)
            self._refused.add(refused)
            self._join(sock, refused, lambda: self._refused.discard(refused))
            return
        with suppress(OSError):
            sock.recv(_RECEIVED_BYTES)
        with suppress(OSError):
            sock.send(answer)
        sock.close()

    def _join(self, sock: socket.socket, protocol: asyncio.Protocol, failed: Callable[[], None]) -> None:
        task = asyncio.get_running_loop().create_task(_connect(sock, protocol, failed))
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)


async def _connect(sock: socket.socket, protocol: asyncio.Protocol, failed: Callable[[], None]) -> None:
    try:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, sock)
    except OSError:  # no memory, or the peer is gone already
        sock.close()
        failed()
