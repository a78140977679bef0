"""Server-sent events as an answer: notices a caller who left, breaks long silences, always closes its source."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from aop.base.sse import COMMENT
from aop.contracts.errors import ErrorCode
from aop.serving.leaving import EndedByLeaving
from aop.serving.request import Request, Send
from aop.serving.response import TRACE_HEADER, Headers

SILENCE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class EventStream:
    """Sends each piece of the source at once, as it is.

    The source is closed before `deliver` returns, however it ends: at its own end, on a fault, or, by cancellation
    at the point where it waits, because the caller is gone.
    """

    source: AsyncGenerator[bytes, None]
    headers: Headers = ()
    silence_seconds: float = SILENCE_SECONDS
    status: int = 200
    code: ErrorCode | None = None

    async def deliver(self, request: Request, extra: Headers, send: Send) -> None:
        headers = (
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
            (TRACE_HEADER, request.trace_id.encode()),
            *self.headers,
            *extra,
        )
        async with aclosing(self.source):
            await send({"type": "http.response.start", "status": self.status, "headers": headers})
            if request.method != "HEAD":
                async with EndedByLeaving(request) as leaving:
                    await self._relay(send)
                if leaving.happened:
                    return
            await send({"type": "http.response.body", "body": b""})

    async def _relay(self, send: Send) -> None:
        heartbeat = _Heartbeat(send, self.silence_seconds)
        try:
            async for piece in self.source:
                heartbeat.postpone()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            await heartbeat.stop()


class _Heartbeat:
    """Sends a comment after each stretch of silence; one timer that looks back, not one per piece."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._look)
        self._beat: asyncio.Task[None] | None = None

    def postpone(self) -> None:
        self._last = self._loop.time()

    async def stop(self) -> None:
        self._timer.cancel()
        if self._beat is not None:
            self._beat.cancel()
            await asyncio.wait({self._beat})

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._last + self._seconds:
            # Moved on also while the comment before still waits for its reader: a look must never be due at once again.
            self._last = now
            if self._beat is None or self._beat.done():
                self._beat = self._loop.create_task(self._comment())
        self._timer = self._loop.call_at(self._last + self._seconds, self._look)

    async def _comment(self) -> None:
        await self._send({"type": "http.response.body", "body": COMMENT, "more_body": True})
