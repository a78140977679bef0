"""A Router that answers nested calls as a script says, and the context of an Agent that calls it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aop.agent import AgentContext
from aop.agent.call.calls import NestedCalls
from aop.base.settings import Secret
from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, listening_socket

TRACE, ROOT, CHILD = "4bf92f3577b34da6a3ce929d0e0e4736", f"task_{'1' * 32}", f"inv_{'2' * 32}"
IDS = {"invocationId": CHILD, "rootTaskId": ROOT, "traceId": TRACE}
RESULT = {"schemaVersion": "1", **IDS, "status": "succeeded", "result": {"sum": 3}}
DELEGATION = "delegation.of.parent"


def event(sequence: int, kind: str, status: str, **more: Any) -> bytes:
    return (
        b"data: %b\n\n"
        % json.dumps(
            {"schemaVersion": "2", "sequence": sequence, "type": kind, "status": status, **IDS, **more}
        ).encode()
    )


ACCEPTED = event(0, "accepted", "pending")
CHUNKS = [event(n + 1, "chunk", "running", chunkIndex=n, chunk=value) for n, value in enumerate([{"a": 1}, None, "x"])]
COMPLETED = event(4, "completed", "succeeded")


@dataclass
class ScriptedRouter:
    """Answers with a fixed status, type and pieces; after the last piece it may stay silent."""

    status: int = 200
    content_type: bytes = b"application/json"
    pieces: list[bytes] = field(default_factory=list)
    silent: bool = False
    requests: list[tuple[dict[bytes, bytes], Any]] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        assert (scope["method"], scope["path"]) == ("POST", "/agent/v1/invocations")
        self.requests.append((dict(scope["headers"]), json.loads(body)))
        self.reached.set()
        headers = [(b"content-type", self.content_type)]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for piece in self.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self.silent:
            await receive()
            self.left.set()
            return
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def calling(router: ScriptedRouter) -> AsyncIterator[AgentContext]:
    listener = listening_socket("127.0.0.1", 0)
    server = HttpServer(router)
    calls = NestedCalls(f"http://127.0.0.1:{listener.getsockname()[1]}")
    try:
        await server.start([listener])
        yield a_context(calls)
    finally:
        await calls.close()
        await server.stop(1)


def a_context(calls: NestedCalls, delegation: str | None = DELEGATION) -> AgentContext:
    return AgentContext(
        invocation_id=f"inv_{'3' * 32}",
        root_task_id=ROOT,
        trace_id=TRACE,
        parent_invocation_id=None,
        workspace_id="w",
        agent_id="a",
        agent_version="1.0.0",
        release_id="r",
        card_digest="0" * 64,
        capability="c",
        _delegation=None if delegation is None else Secret(delegation),
        _calls=calls,
    )


def a_stream(*pieces: bytes, **more: Any) -> ScriptedRouter:
    return ScriptedRouter(content_type=b"text/event-stream", pieces=list(pieces), **more)


async def collected(context: AgentContext) -> list[Any]:
    return [chunk async for chunk in context.stream("acme:adder", "add", {})]
