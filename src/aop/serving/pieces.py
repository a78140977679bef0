"""A body that is made while its reader takes it: no more of it exists than the piece under way."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from aop.contracts.errors import ErrorCode, Reason
from aop.serving.leaving import CancelOnDisconnect
from aop.serving.request import Request, Send
from aop.serving.response import TRACE_HEADER, Headers


@dataclass(frozen=True, slots=True)
class Pieces:
    """A fault of the source cuts the connection, so that nobody takes half an answer for a whole one."""

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
            async with CancelOnDisconnect(request) as leaving:
                await relay()
            if leaving.happened:
                return
        await send({"type": "http.response.body", "body": b""})
