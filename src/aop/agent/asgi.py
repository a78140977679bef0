"""The shapes of ASGI that the guard and the server share, and the one way to answer with a whole body."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
HeaderLine = tuple[bytes, bytes]

JSON: HeaderLine = (b"content-type", b"application/json")
NO_STORE: HeaderLine = (b"cache-control", b"no-store")


async def respond(send: Send, status: int, headers: Sequence[HeaderLine], body: bytes) -> None:
    await respond_head(send, status, headers, len(body))
    await send({"type": "http.response.body", "body": body})


async def respond_head(send: Send, status: int, headers: Sequence[HeaderLine], length: int) -> None:
    lines = [*headers, (b"content-length", b"%d" % length)]
    await send({"type": "http.response.start", "status": status, "headers": lines})
