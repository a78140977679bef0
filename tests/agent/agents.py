"""A tiny guarded Agent on a real socket, which says what reached it, and a client that sends exact header lines."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aop.agent import AgentContext, AgentSettings, Guard, ReplayMemory, Verifier, current
from aop.agent.call.calls import NestedCalls
from aop.agent.guard.proofs import ProofDirectory, Proofs
from aop.agent.testing import SignedRequest, SignedRouter
from aop.net.asgi import Receive, Scope, Send
from aop.net.http import Answer, HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from tests.support.waiting import PATIENCE_SECONDS

REJECTIONS = {
    401: b'{"code":"UNAUTHENTICATED","message":"A valid credential is required."}',
    403: b'{"code":"FORBIDDEN","message":"This identity or context may not do that."}',
}


@dataclass
class Watched:
    """An ASGI application that remembers each request that started it."""

    contexts: list[AgentContext] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[list[tuple[bytes, bytes]]] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    departed: asyncio.Event = field(default_factory=asyncio.Event)
    waits_for_departure: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "aop.context" in scope:
            assert scope["aop.context"] is current()
            self.contexts.append(current())
            self.headers.append(list(scope["headers"]))
            message = await receive()
            assert not message["more_body"]
            self.bodies.append(message["body"])
            self.started.set()
            if self.waits_for_departure:
                assert (await receive())["type"] == "http.disconnect"
                self.departed.set()
                return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps({"path": scope["path"]}).encode()})


@dataclass
class RunningAgent:
    app: Watched
    router: SignedRouter
    port: int
    client: HttpClient

    async def send(self, request: SignedRequest, path: str = "/") -> Answer:
        return await self.ask("POST", path, request.headers, request.body)

    async def ask(
        self, method: str, path: str, headers: Sequence[tuple[bytes, bytes]] = (), body: bytes = b""
    ) -> Answer:
        return await ask(self.client, self.port, method, path, headers, body)


async def ask(
    client: HttpClient,
    port: int,
    method: str,
    path: str,
    headers: Sequence[tuple[bytes, bytes]] = (),
    body: bytes = b"",
) -> Answer:
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    target = Target("http", "127.0.0.1", port, "127.0.0.1")
    return await client.request(
        target, method, path, headers=headers, body=body, deadline=deadline, max_body=64 * 1024 * 1024
    )


@asynccontextmanager
async def running_agent(
    folder: Path, *, proofs: Proofs | None = None, router_url: str = "http://127.0.0.1:1", **options: Any
) -> AsyncIterator[RunningAgent]:
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    router = SignedRouter.new(f"http://127.0.0.1:{port}")
    settings = AgentSettings.from_environment(router.environment(folder))
    app, calls = Watched(), NestedCalls(router_url)
    verifier = Verifier(settings.trust, ReplayMemory())
    server = HttpServer(Guard(app, verifier, calls, proofs or ProofDirectory(folder), **options))
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    try:
        await server.start([listener])
        yield RunningAgent(app, router, port, client)
    finally:
        await client.close()
        await calls.close()
        await server.stop(1)


def clock_at(seconds: float) -> Any:
    return lambda: datetime.fromtimestamp(seconds, UTC)


def require_rejection(answer: Answer, status: int) -> None:
    assert (answer.status, answer.body) == (status, REJECTIONS[status])
    assert answer.header(b"content-type") == b"application/json"
    assert answer.header(b"cache-control") == b"no-store"
    assert answer.header(b"www-authenticate") == (b"Bearer" if status == 401 else None)
