"""How an ASGI application answers with a whole body."""

from collections.abc import Sequence

from aop.net.asgi import Send

HeaderLine = tuple[bytes, bytes]

JSON: HeaderLine = (b"content-type", b"application/json")
NO_STORE: HeaderLine = (b"cache-control", b"no-store")


async def respond(send: Send, status: int, headers: Sequence[HeaderLine], body: bytes) -> None:
    await respond_head(send, status, headers, len(body))
    await send({"type": "http.response.body", "body": body})


async def respond_head(send: Send, status: int, headers: Sequence[HeaderLine], length: int) -> None:
    lines = [*headers, (b"content-length", b"%d" % length)]
    await send({"type": "http.response.start", "status": status, "headers": lines})
