"""Requests are judged before a2a-sdk reads them: it lets through parts of no kind, no parts, and negative lengths."""

from typing import Final

from aop.a2a.rpc import MessageParams, RpcFault, TaskParams, UserMessage, failure, read_params, read_request
from aop.agent.guard.guard import JSON, replayed, respond
from aop.agent.server.methods import SEND, STREAM
from aop.net.asgi import ASGIApp, Receive, Scope, Send

_MESSAGES: Final = frozenset({SEND, STREAM})
_ON_TASKS: Final = frozenset({"tasks/get", "tasks/cancel", "tasks/resubscribe"})


class StrictRequests:
    """The same reader as in `AgentServer`, behind the guard, which hands over the body in one piece."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = (await receive()).get("body", b"")
        refused = _refusal(body)
        if refused is None:
            await self._app(scope, replayed(body, receive), send)
        else:
            await respond(send, 200, [JSON], refused)


def _refusal(body: bytes) -> bytes | None:
    request_id = None
    try:
        request = read_request(body)
        request_id = request.id
        if request.method in _MESSAGES:
            read_params(read_params(request.params, MessageParams).message, UserMessage)
        elif request.method in _ON_TASKS:
            read_params(request.params, TaskParams)
    except RpcFault as fault:
        return failure(fault.request_id if request_id is None else request_id, fault)
    return None
