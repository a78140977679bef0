"""Answers made while their caller reads them, as pieces of a body or server-sent events; they end with the caller."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aop.contracts.errors import ErrorCode, Reason
from aop.net.asgi import Disconnect, Send
from aop.net.sse import COMMENT
from aop.serving.edge.request import Request, StreamFailure
from aop.serving.edge.response import TRACE_HEADER, Headers

SILENCE_SECONDS = 8.0

WriteNow = Callable[[bytes], bool]
"""Writes a piece in one step, without waiting; False if that is not possible now."""


class CancelOnDisconnect:
    """`with CancelOnDisconnect(gone) as left:` — afterwards `left.happened` says whether the caller left."""

    def __init__(self, gone: Disconnect) -> None:
        self._gone = gone
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self.happened = False

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        assert self._task is not None  # noqa: S101  always within a task
        self._cancelling = self._task.cancelling()
        self._gone.add_callback(self._leave)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
        self._gone.remove_callback(self._leave)
        if not self.happened or self._task is None:
            return False
        # Somebody else may have cancelled the task too; only our own request is taken back.
        return self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError

    def _leave(self) -> None:
        if not self.happened and self._task is not None:
            self.happened = True
            self._task.cancel()


@dataclass(frozen=True, slots=True)
class Pieces:
    """A fault of the source cuts the connection, so that half an answer is not taken for a whole one."""

    source: AsyncGenerator[bytes, None]
    content_type: tuple[bytes, bytes]
    status: int = 200
    code: ErrorCode | None = None
    reason: Reason | None = None

    async def deliver(self, request: Request, extra: Headers, send: Send) -> None:
        async def relay() -> None:
            async for piece in self.source:
                await send({"type": "http.response.body", "body": piece, "more_body": True})

        headers = (self.content_type, *extra)
        await deliver_source(request, send, (self.status, headers), self.source, relay)


async def deliver_source(
    request: Request,
    send: Send,
    head: tuple[int, Headers],
    source: AsyncGenerator[bytes, None],
    relay: Callable[[], Awaitable[None]],
) -> None:
    """Sends the head, then what `relay` sends of the source, then the end.

    The source is closed before this returns, however it ends: at its own end, on a fault, or, by cancellation at the
    point where it waits, because the caller is gone.
    """
    status, own = head
    headers = ((b"cache-control", b"no-store"), (TRACE_HEADER, request.trace_id.encode()), *own)
    async with aclosing(source):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if request.method != "HEAD":
            with CancelOnDisconnect(request.server.disconnect) as leaving:
                await relay()
            if leaving.happened:
                return
        await send({"type": "http.response.body", "body": b""})


@dataclass(frozen=True, slots=True)
class EventStream:
    """Sends each piece of the source at once, as it is.

    The maker of the pieces may also write them itself, while the source has none and waits for one: `write_by` is
    given a way to do so, and None at the end.
    """

    source: AsyncGenerator[bytes, None]
    headers: Headers = ()
    silence_seconds: float = SILENCE_SECONDS
    status: int = 200
    code: ErrorCode | None = None
    reason: Reason | None = None
    failure: Callable[[], StreamFailure | None] = lambda: None
    """Asked for the log once the source has ended."""
    write_by: Callable[[WriteNow | None], None] | None = None

    async def deliver(self, request: Request, extra: Headers, send: Send) -> None:
        own = ((b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"), *self.headers, *extra)
        try:
            await deliver_source(request, send, (self.status, own), self.source, lambda: self._relay(request, send))
        finally:
            request.failure = self.failure()

    async def _relay(self, request: Request, send: Send) -> None:
        server = request.server
        heartbeat = _Heartbeat(server.comment, self.silence_seconds)

        def write(piece: bytes) -> bool:
            heartbeat.postpone()
            return server.write_now(piece)

        if self.write_by is not None:
            self.write_by(write)
        try:
            async for piece in self.source:
                heartbeat.postpone()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            heartbeat.stop()
            if self.write_by is not None:
                self.write_by(None)


class _Heartbeat:
    """Sends a comment after each stretch of silence; one timer that checks the last piece, not one per piece."""

    def __init__(self, comment: Callable[[bytes], None], seconds: float) -> None:
        self._comment = comment
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._beat)

    def postpone(self) -> None:
        self._last = self._loop.time()

    def stop(self) -> None:
        self._timer.cancel()

    def _beat(self) -> None:
        now = self._loop.time()
        if now >= self._last + self._seconds:
            self._last = now
            self._comment(COMMENT)
        self._timer = self._loop.call_at(self._last + self._seconds, self._beat)
