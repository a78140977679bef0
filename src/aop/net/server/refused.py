"""A connection beyond the limit: it is answered once, whatever it asks, and closed."""

import asyncio
from collections.abc import Callable
from typing import cast


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
        self._tell()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._closed(self)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _tell(self) -> None:
        answer, self._answer = self._answer, b""
        if answer and self._transport is not None:
            self._transport.write(answer)
            self._transport.write_eof()

    def _end(self) -> None:
        self._tell()
        if self._transport is not None and not self._transport.get_write_buffer_size():
            self._transport.close()
        else:
            self.abort()
