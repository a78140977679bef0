"""Units on real sockets inside the test's own loop, and a plain client to talk to them."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aop.net.http import Answer, HttpClient, Target
from aop.net.server import HttpServer, ServerLimits, listening_socket
from aop.serving.unit.unit import Unit
from tests.support.conformance import require_conformance
from tests.support.waiting import PATIENCE_SECONDS

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Reply:
    """An answer with what nearly every test looks at."""

    answer: Answer

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def body(self) -> bytes:
        return self.answer.body

    @property
    def json(self) -> Any:
        return json.loads(self.answer.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])

    def header(self, name: str) -> str | None:
        value = self.answer.header(name.encode())
        return None if value is None else value.decode()


class RunningUnit:
    def __init__(self, unit: Unit, server: HttpServer, port: int, client: HttpClient) -> None:
        self.unit = unit
        self.server = server
        self.port = port
        self._client = client

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ask(
        self, method: str, path: str, body: object = None, *, token: str | None = None, headers: Headers = ()
    ) -> Reply:
        """Sends JSON unless the body is bytes already; the content type is set unless given.

        Whatever the answer is, it must be one that the unit's OpenAPI document describes.
        """
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = list(headers)
        if token is not None:
            sent.append((b"authorization", f"Bearer {token}".encode()))
        if content and not any(name == b"content-type" for name, _ in sent):
            sent.append((b"content-type", b"application/json"))
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        answer = await self._client.request(
            Target("http", "127.0.0.1", self.port, "127.0.0.1"),
            method,
            path,
            headers=sent,
            body=content,
            deadline=deadline,
            max_body=64 * 1024 * 1024,
        )
        require_conformance(method, path, answer)
        return Reply(answer)

    async def get(self, path: str, *, token: str | None = None, headers: Headers = ()) -> Reply:
        return await self.ask("GET", path, token=token, headers=headers)

    async def post(self, path: str, body: object = None, *, token: str | None = None, headers: Headers = ()) -> Reply:
        return await self.ask("POST", path, body, token=token, headers=headers)


@asynccontextmanager
async def running(
    build: Callable[[], Awaitable[Unit]],
    listener: socket.socket | None = None,
    limits: ServerLimits | None = None,
) -> AsyncIterator[RunningUnit]:
    """On a socket that listens already when its port must be known before, else on one of its own."""
    unit = await build()
    listener = listener or listening_socket("127.0.0.1", 0)
    server = HttpServer(unit.application, limits or ServerLimits())
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    try:
        await server.start([listener])
        yield RunningUnit(unit, server, listener.getsockname()[1], client)
    finally:
        await client.close()
        await server.stop(1)
        await unit.close()
