"""The HTTP side of an Agent: plain ASGI that takes JSON-RPC on one path, streams events and serves the public pages."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from aop.a2a.rpc import (
    RequestId,
    RpcFault,
    RpcRequest,
    TaskNotFound,
    TooManyTasks,
    UnsupportedMediaType,
    failure,
    read_request,
    success,
)
from aop.agent.guard.guard import JSON, NO_STORE, SCOPE_KEY, HeaderLine, respond
from aop.agent.server.call_log import AgentCall
from aop.agent.server.methods import FOLLOWING, A2AMethods, WhenSettled
from aop.net.asgi import Message, Receive, Scope, Send
from aop.net.headers import HeaderMap
from aop.net.sse import frame

SEND_SECONDS: Final = 60.0
"""How long a reader may stop reading before its stream is given up; its Task goes on."""

HEALTH_PAGES: Final[Mapping[str, bytes]] = dict.fromkeys(("/livez", "/readyz"), b'{"status":"ok"}')

EVENTS: Final[tuple[HeaderLine, ...]] = ((b"content-type", b"text/event-stream"), NO_STORE)
NOT_FOUND: Final = b'{"message":"Not found"}'
WRONG_METHOD: Final = b'{"message":"Method not allowed"}'


@dataclass(frozen=True)
class A2AEndpoint:
    """The guard has let through only what the Router sent, and reads of the public pages."""

    path: str
    pages: Mapping[str, bytes]
    methods: A2AMethods
    send_seconds: float = SEND_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["path"] in self.pages:
            await respond(send, 200, [JSON], self.pages[scope["path"]])
        elif scope["path"] != self.path:
            await respond(send, 404, [JSON], NOT_FOUND)
        elif scope["method"] != "POST":
            await respond(send, 405, [JSON, (b"allow", b"POST")], WRONG_METHOD)
        else:
            await self._serve(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.methods.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id: RequestId = None
        call = AgentCall(scope[SCOPE_KEY], "unknown")
        try:
            require_json(HeaderMap(scope["headers"]).single(b"content-type"))
            request = read_request((await receive())["body"])
            request_id = request.id
            if request.method in self.methods:
                call = AgentCall(call.context, request.method, call.started)
            reply = self.methods.reply(call, request)
        except RpcFault as fault:
            call.record("refused", fault)
            # The reader of a stream reads events and nothing else, so the error of a Task that is gone is one, too.
            answer = _refuse_follower if isinstance(fault, TaskNotFound) and call.method in FOLLOWING else refuse
            await answer(send, fault.request_id if request_id is None else request_id, fault)
            return
        match reply:
            case bytes():
                await respond(send, 200, [JSON], success(request_id, reply))
            case WhenSettled():
                await self._answer_settled(request, reply, receive, send)
            case _:
                await _until_left(self._stream(request_id, reply, send), receive)

    async def _answer_settled(self, request: RpcRequest, reply: WhenSettled, receive: Receive, send: Send) -> None:
        if await _until_left(reply.task.settled(), receive):
            document = self.methods.document(reply.task, reply.history_length)
            await respond(send, 200, [JSON], success(request.id, document))
        else:
            self.methods.cancel(reply.task)

    async def _stream(self, request_id: RequestId, events: AsyncGenerator[bytes, None], send: Send) -> None:
        async with aclosing(events):
            await send({"type": "http.response.start", "status": 200, "headers": list(EVENTS)})
            async for event in events:
                body = frame(success(request_id, event))
                if not await self._was_taken(send, {"type": "http.response.body", "body": body, "more_body": True}):
                    return
            await send({"type": "http.response.body", "body": b""})

    async def _was_taken(self, send: Send, message: Message) -> bool:
        try:
            async with asyncio.timeout(self.send_seconds):
                await send(message)
        except TimeoutError:
            return False
        return True


def require_json(content_type: bytes | None) -> None:
    """Of a request that names exactly one."""
    if content_type is None or content_type.partition(b";")[0].strip().lower() != b"application/json":
        raise UnsupportedMediaType


async def refuse(send: Send, request_id: RequestId, fault: RpcFault) -> None:
    headers = [JSON, (b"retry-after", b"1")] if isinstance(fault, TooManyTasks) else [JSON]
    await respond(send, fault.status, headers, failure(request_id, fault))


async def _refuse_follower(send: Send, request_id: RequestId, fault: RpcFault) -> None:
    await respond(send, fault.status, EVENTS, frame(failure(request_id, fault)))


async def _until_left(work: Coroutine[Any, Any, None], receive: Receive) -> bool:
    """Whether the work came to its end; it is stopped when the caller leaves before."""
    running, leaving = asyncio.create_task(work), asyncio.create_task(_departure(receive))
    try:
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            return False
        running.result()
        return True
    finally:
        running.cancel()
        leaving.cancel()
        await asyncio.wait({running, leaving})


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
