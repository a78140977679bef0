"""One client connection: carries one exchange at a time and says whether it may carry another."""

import asyncio
import select
import socket
import ssl
from collections.abc import Callable
from typing import Final, cast

from aop.net.http.message import HttpError, HttpTimeout, Target, TransferBroken
from aop.net.http.reader import AnswerReader

TakePiece = Callable[[bytes], bool]
"""Takes a piece of an answer as it comes; False if the next one has to wait."""

READ_BUFFER_BYTES: Final = 32 * 1024
"""The most that a streamed answer may let wait before it is read no further."""


class Connection(asyncio.Protocol):
    """A transport that belongs to a target; every failure closes it at once."""

    __slots__ = (
        "_busy",
        "_deadline",
        "_error",
        "_loop",
        "_lost",
        "_paused",
        "_poll",
        "_streamed",
        "_take",
        "_timer",
        "_timer_at",
        "_transport",
        "_waiter",
        "idle_since",
        "reader",
        "target",
    )

    def __init__(self, target: Target, loop: asyncio.AbstractEventLoop, lost: "Callable[[Connection], None]") -> None:
        self.target = target
        self.reader = AnswerReader()
        self.idle_since = 0.0
        self._loop = loop
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._poll: select.poll | None = None
        self._busy = False
        self._streamed = False
        self._paused = False
        self._take: TakePiece | None = None
        self._error: HttpError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    @property
    def sock(self) -> socket.socket | None:
        """None while it waits for nothing."""
        transport = self._transport
        is_waiting = transport is not None and self._busy and not transport.is_closing()
        return cast("asyncio.Transport", transport).get_extra_info("socket") if is_waiting else None

    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def is_quiet(self) -> bool:
        """Open, and with nothing to read: a close or stray bytes show here before the loop reports them."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        return self._poll is None or not self._poll.poll(0)

    def start(self, request: bytes, deadline: float, *, streamed: bool) -> None:
        """Sends the request; from here on a failure means that the peer may have seen it."""
        self._busy = True
        self._streamed = streamed
        self._deadline = deadline
        if self._timer is None or self._timer_at > deadline:
            self._arm(deadline)
        if self._transport is not None:
            self._transport.write(request)

    def progress(self) -> asyncio.Future[None]:
        """Done when more of a streamed answer, or the end of any answer, is there; raises once it cannot come."""
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        return self._waiter

    async def piece(self) -> bytes | None:
        """Everything that has arrived, None at the end; what came before a break is handed over first."""
        reader = self.reader
        while not reader.pieces:
            if reader.complete:
                return None
            await self.progress()
        return self._taken()

    async def hand_to(self, take: TakePiece) -> bool:
        """Calls this with each piece, as it comes and without waking its caller. True once it said that the
        next one has to wait, False at the end of the answer; raises what it raised."""
        reader = self.reader
        while True:
            if reader.pieces:
                if not take(self._taken()):
                    return True
                continue
            if reader.complete:
                return False
            arrival = self.progress()
            self._take = take
            try:
                await arrival
            finally:
                handed, self._take = self._take is None, None
            if handed:
                return True

    def release(self) -> bool:
        """Ends the exchange; False, and closed, unless the connection is clean for another one."""
        self._busy = False
        reader, transport = self.reader, self._transport
        if (
            reader.complete
            and reader.keep_alive
            and not reader.excess
            and transport is not None
            and not transport.is_closing()
            and not transport.get_write_buffer_size()
        ):
            self.idle_since = self._loop.time()
            return True
        self.abort()
        return False

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def fail(self, error: HttpError) -> None:
        if self._error is None and self._busy and not self.reader.complete:
            self._error = error
        self.abort()
        self._wake()

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes | memoryview) -> None:
        if not self._busy:  # bytes that answer nothing
            self.abort()
            return
        reader = self.reader
        try:
            reader.feed(data)
        except HttpError as error:
            self.fail(error)
            return
        if self._take is not None and reader.pieces:
            self._hand_over(self._take)
        if reader.complete:
            self._wake()
        elif self._streamed and self._take is None:
            self._wake()
            if reader.buffered > READ_BUFFER_BYTES and not self._paused:
                self._paused = True
                cast("asyncio.Transport", self._transport).pause_reading()

    def eof_received(self) -> None:
        if not self._busy:
            return
        try:
            self._require_true_end()
            self.reader.end()
        except TransferBroken as error:
            self.fail(error)
        else:
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail(TransferBroken("the connection was lost" if exc is None else type(exc).__name__))
        self._transport = None
        self.reader.close()
        if self._timer is not None:
            self._timer.cancel()
        self._lost(self)

    def _require_true_end(self) -> None:
        # Over TLS anyone on the way can end the stream; only the peer can send the closing alert. The transport
        # reports both alike, so the TLS object itself is read.
        tls = None if self._transport is None else self._transport.get_extra_info("ssl_object")
        if tls is not None:
            try:
                unread = tls.read(1)
            except ssl.SSLError as error:
                raise TransferBroken("the TLS stream was cut") from error
            if unread:
                raise TransferBroken("the TLS stream was left before its end")

    def _taken(self) -> bytes:
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return self.reader.take()

    def _hand_over(self, take: TakePiece) -> None:
        """`_take` is None afterwards if the next piece has to wait, or after a failure."""
        waiter = self._waiter
        if waiter is None or waiter.done():  # whoever awaited this was stopped a moment ago
            return
        try:
            goes_on = take(self.reader.take())
        except Exception as error:  # noqa: BLE001  it belongs to whoever awaits the pieces
            self._take = None
            if not waiter.done():
                waiter.set_exception(error)
        else:
            if not goes_on:
                self._take = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _arm(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._loop.call_at(deadline, self._expire)

    def _expire(self) -> None:
        # One timer serves many exchanges: it fires at the earliest deadline it was armed for and is then set again.
        self._timer = None
        if not self._busy or self.reader.complete:
            return
        if self._loop.time() < self._deadline:
            self._arm(self._deadline)
            return
        self.reader.take()
        self.fail(HttpTimeout("the deadline came before the end of the answer"))
