"""Server-sent events as an answer: notices a caller who left, breaks long silences, always closes its source."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from aop.contracts.errors import ErrorCode, Reason
from aop.net.sse import COMMENT
from aop.serving.pieces import deliver_source
from aop.serving.request import Request, Send
from aop.serving.response import Headers

SILENCE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class EventStream:
    """Sends each piece of the source at once, as it is."""

    source: AsyncGenerator[bytes, None]
    headers: Headers = ()
    silence_seconds: float = SILENCE_SECONDS
    status: int = 200
    code: ErrorCode | None = None
    reason: Reason | None = None

    async def deliver(self, request: Request, extra: Headers, send: Send) -> None:
        own = ((b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"), *self.headers, *extra)
        await deliver_source(request, send, (self.status, own), self.source, lambda: self._relay(request, send))

    async def _relay(self, request: Request, send: Send) -> None:
        heartbeat = _Heartbeat(request.scope["aop.comment"], self.silence_seconds)
        try:
            async for piece in self.source:
                heartbeat.postpone()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            heartbeat.stop()


class _Heartbeat:
    """Sends a comment after each stretch of silence; one timer that looks back, not one per piece."""

    def __init__(self, comment: Callable[[bytes], None], seconds: float) -> None:
        self._comment = comment
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._look)

    def postpone(self) -> None:
        self._last = self._loop.time()

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._last + self._seconds:
            self._last = now
            self._comment(COMMENT)
        self._timer = self._loop.call_at(self._last + self._seconds, self._look)
