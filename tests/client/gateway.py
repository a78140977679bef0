"""A scripted Gateway, and what it says: answers of the contract, and streams frame by frame."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.peers import JSON, Behaviour, Received, listening

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACED = b"x-platform-trace-id: " + TRACE.encode()
WORKSPACE = {
    "workspaceId": "demo",
    "ownerId": "alice",
    "createdAt": "2030-01-01T00:00:00.000000Z",
    "updatedAt": "2030-01-01T00:00:00.000000Z",
}
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + TRACED + b"\r\ntransfer-encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"


def saying(body: Any, status: int = 200, *headers: bytes) -> Behaviour:
    """JSON with a trace unless headers are given; bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def behave(request: Received) -> None:
        await request.answer(content, status, *(headers or (JSON, TRACED)))

    return behave


def an_error(code: str, status: int, **members: Any) -> Behaviour:
    return saying({"code": code, "message": "Said by the test.", "traceId": TRACE, **members}, status)


def frame(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def chunked(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


@dataclass
class ScriptedGateway:
    """Meets every request with the same behaviour."""

    behave: Behaviour
    port: int = 0
    received: list[Received] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def meet(self, request: Received) -> None:
        self.received.append(request)
        await self.behave(request)


@asynccontextmanager
async def scripted_gateway(
    behave: Behaviour, address: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedGateway]:
    gateway = ScriptedGateway(behave)
    async with listening(gateway.meet, address, tls=tls) as gateway.port:
        yield gateway
