"""One server connection: one request at a time, each with its deadlines, then closed or held for the next."""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol, cast

from aop.net.asgi import Scope
from aop.net.server.exchange import Address, Exchange
from aop.net.server.limits import ConnectionEvent, Note, ServerLimits
from aop.net.server.neighbours import OwnerWorks
from aop.net.server.pace import CloseTimer, Pace
from aop.net.server.request import BadRequest, RequestReader
from aop.net.server.response import empty_answer


class Host(Protocol):
    """What a connection needs of the server that accepted it."""

    limits: ServerLimits
    note: Note
    stopping: bool
    draining: bool
    idle: "OrderedDict[ServerConnection, None]"
    """The connections that wait for a next request. Each writes itself in and out, here and below."""
    unjudged: "OrderedDict[ServerConnection, None]"
    """Those whose head is not complete, or whose refused request still arrives."""

    def run(self, exchange: Exchange, scope: Scope) -> None: ...

    def closed(self, connection: "ServerConnection") -> None: ...


class ServerConnection(asyncio.Protocol):
    """Bytes that arrive after a complete request and before the end of its response close the connection.

    That is how a pipelined request is refused: the running request sees a disconnect, and no byte can hide
    the moment at which the peer goes away. The end of the peer's stream counts as its leaving.
    """

    __slots__ = (
        "_client",
        "_closing",
        "_exchange",
        "_idle",
        "_kept_alive",
        "_lingering",
        "_loop",
        "_pace",
        "_paused",
        "_reader",
        "_server",
        "_server_name",
        "_transport",
        "_unjudged",
        "_written",
        "max_write_bytes",
        "owner_works",
        "writable",
    )

    def __init__(self, server: Host, loop: asyncio.AbstractEventLoop) -> None:
        self.writable = True
        self.owner_works: OwnerWorks | None = None
        self.max_write_bytes = server.limits.max_write_bytes
        self._server = server
        self._idle = server.idle
        self._unjudged = server.unjudged
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._client: Address | None = None
        self._server_name: Address | None = None
        self._reader: RequestReader | None = None
        self._exchange: Exchange | None = None
        self._pace: Pace | None = None
        self._written = 0
        self._paused = False
        self._lingering = False
        self._kept_alive = False
        self._closing = CloseTimer(loop, self.abort)

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # With a limit of 0 the transport says so as soon as one byte waits; Pace costs nothing before that.
        self._transport.set_write_buffer_limits(high=0)
        self._client = _address(transport.get_extra_info("peername"))
        self._server_name = _address(transport.get_extra_info("sockname"))
        self._unjudged[self] = None
        if self._server.stopping:  # accepted just before the listener closed
            self._transport.abort()
        self._closing.at(self._loop.time() + self._server.limits.head_seconds)

    def data_received(self, data: bytes) -> None:
        if self._lingering or self._transport is None:
            return
        reader, first_bytes = self._reader, False
        if reader is None:
            reader, first_bytes = RequestReader(self._server.limits), True
            self._reader = reader
            self._idle.pop(self, None)
        try:
            reader.feed(data)
        except BadRequest:
            self._refuse()
            return
        if reader.excess:
            self.abort()
        elif self._exchange is not None:
            self._exchange.wake()
            self._hold_back(reader)
        elif reader.has_head:
            self._begin(reader)
            self._hold_back(reader)
        elif first_bytes and self._kept_alive:  # the head of a first request is due from accept on
            self._unjudged[self] = None
            self._closing.at(self._loop.time() + self._server.limits.head_seconds)

    def eof_received(self) -> None:
        if self._exchange is not None:
            self.abort()

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self._pace is not None:
            self._pace.rest()
        if self._exchange is not None:
            self._exchange.wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._closing.stop()
        if self._pace is not None:
            self._pace.stop()
        self._leave_exchange()
        self._server.closed(self)

    # What the exchange calls.

    def write(self, parts: Sequence[bytes | memoryview]) -> None:
        if self._transport is not None:
            for part in parts:
                self._written += len(part)
                self._transport.write(part)
            if not self.writable:
                self.watch_pace()

    def write_comment(self, comment: bytes) -> None:
        """Not watched: only what comes after it counts."""
        if self._transport is not None:
            self._written += len(comment)
            self._transport.write(comment)

    def watch_pace(self) -> None:
        """Something waits that is no comment."""
        if self._pace is None:
            self._pace = Pace(self._server.limits, self._taken, self._cut)
        self._pace.wait()

    def resume_reading(self) -> None:
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def may_stay_open(self) -> bool:
        return not self._server.draining and (self.owner_works is None or not self.owner_works())

    def exchange_finished(self, *, keep_alive: bool) -> None:
        self._exchange = None
        if self._transport is None or self._reader is None:
            return
        if not self._reader.complete:
            self._linger()
            return
        self._reader = None
        if keep_alive and not self._server.draining:
            self._kept_alive = True
            self._idle[self] = None
            self._closing.at(self._loop.time() + self._server.limits.idle_seconds)
        else:
            self._transport.close()

    def exchange_failed(self, *, answered: bool) -> None:
        """The application gave no whole response: 500 if nothing of one was sent, else the peer sees it cut."""
        if answered or self._transport is None:
            self.abort()
            return
        self._exchange = None
        self._transport.write(empty_answer(500))
        self._linger()

    # What the server calls.

    @property
    def sock(self) -> socket.socket | None:
        transport = self._transport
        return None if transport is None or transport.is_closing() else transport.get_extra_info("socket")

    def drain(self) -> None:
        """Closes the connection unless a request is running."""
        if self._exchange is None and not self._lingering and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Closes at once; a running request sees a disconnect."""
        self._leave_exchange()
        if self._transport is not None:
            self._transport.abort()

    def _begin(self, reader: RequestReader) -> None:
        self._closing.due = None
        self._unjudged.pop(self, None)
        exchange = self._exchange = Exchange(self, reader)
        self._server.run(exchange, exchange.scope(self._client, self._server_name))

    def _taken(self) -> int:
        return self._written - (0 if self._transport is None else self._transport.get_write_buffer_size())

    def _cut(self) -> None:
        self._server.note(ConnectionEvent.SLOW_READER)
        self.abort()

    def _hold_back(self, reader: RequestReader) -> None:
        if reader.buffered > self._server.limits.buffer_bytes and not reader.complete and not self._paused:
            self._paused = True
            cast("asyncio.Transport", self._transport).pause_reading()

    def _refuse(self) -> None:
        """Not HTTP: 400 with an empty body, unless a response has begun."""
        exchange = self._exchange
        if self._transport is None or (exchange is not None and exchange.has_answered()):
            self.abort()
            return
        self._leave_exchange()
        self._transport.write(empty_answer(400))
        self._linger()

    def _linger(self) -> None:
        # Closing with unread bytes would reset the connection and take the answer with it.
        transport = cast("asyncio.Transport", self._transport)
        self._lingering = True
        self._unjudged[self] = None
        if self._reader is not None:
            self._reader.close()
        self.resume_reading()
        transport.write_eof()
        self._closing.at(self._loop.time() + self._server.limits.linger_seconds)

    def _leave_exchange(self) -> None:
        exchange, self._exchange = self._exchange, None
        if self._reader is not None:
            self._reader.close()
        if exchange is not None:
            exchange.peer_gone()


def _address(name: tuple[str, int] | str | None) -> Address | None:
    """Those who come by a unix socket have none."""
    return (name[0], name[1]) if isinstance(name, tuple) else None
