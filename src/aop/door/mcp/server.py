"""MCP over streamable HTTP: one path per Workspace, answered as JSON or as a stream of events, nothing remembered."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from aop.contracts.errors import NotAcceptable
from aop.door.mcp import handshake
from aop.door.mcp.calls import DoorMemory
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.listing import listed
from aop.door.mcp.messages import (
    MAX_ID,
    SUBSCRIPTION_KEY,
    Era,
    Fault,
    Id,
    McpMessage,
    Params,
    ProtocolFault,
    encode,
    failure,
    notification,
    of_era,
    read_message,
    read_params,
    success,
)
from aop.door.mcp.running import CancellableCalls
from aop.door.mcp.tool_answers import ToolAnswers, ToolRequest
from aop.door.mcp.watch import changes
from aop.door.protocol import DoorParts, DoorRequest, DoorRoute
from aop.net.accept import allows_event_stream, allows_json
from aop.net.sse import COMMENT, frame
from aop.serving.admission import Slots
from aop.serving.body import read_bytes, require_json_type
from aop.serving.response import JSON, Headers, Response
from aop.serving.routing import RouteAnswer
from aop.serving.streaming import EventStream

PATH: Final = "/mcp/:workspaceId"
SESSION_HEADER: Final = b"mcp-session-id"
_LISTENING_SHARE: Final = 4
"""Subscriptions take places of calls; no more than this part of them."""
_CHANGED: Final = "notifications/tools/list_changed"


@dataclass(frozen=True, slots=True)
class _McpRequest:
    """A request that was understood."""

    door: DoorRequest
    id: Id
    method: str
    params: Params
    era: Era

    def answer(self, result: bytes, headers: Headers = ()) -> Response:
        return Response(200, success(self.id, result), (JSON, *headers))


_Method = Callable[[_McpRequest], Awaitable[RouteAnswer]]


def mcp_routes(parts: DoorParts) -> Sequence[DoorRoute]:
    server = McpServer(parts)
    return [DoorRoute("POST", PATH, server.post), DoorRoute("GET", PATH, server.get, watches=True)]


class McpServer:
    def __init__(self, parts: DoorParts) -> None:
        settings = parts.settings
        self._max_bytes = settings.request_max_bytes
        self._ending = parts.ending
        self._catalogs = Catalogs()
        self._running = CancellableCalls(parts.group)
        self._tools = ToolAnswers(self._catalogs, self._running, DoorMemory(), settings.answer_max_bytes)
        self._listening = Slots(max(1, settings.max_calls // _LISTENING_SHARE))
        self._methods: Mapping[tuple[Era, str], _Method] = {
            (Era.HANDSHAKE, "initialize"): self._initialize,
            (Era.HANDSHAKE, "ping"): self._ping,
            (Era.HANDSHAKE, "tools/list"): self._list,
            (Era.HANDSHAKE, "tools/call"): self._call,
            (Era.MODERN, "server/discover"): self._discover,
            (Era.MODERN, "tools/list"): self._list,
            (Era.MODERN, "tools/call"): self._call,
            (Era.MODERN, "subscriptions/listen"): self._listen,
        }

    async def post(self, request: DoorRequest) -> RouteAnswer:
        require_json_type(request.http)
        if not allows_json(request.http.header_values(b"accept")):
            raise NotAcceptable("answers are JSON or streams, as the door decides")
        body = await read_bytes(request.http, self._max_bytes)
        era, request_id = Era.HANDSHAKE, None
        try:
            message = read_message(body)
            if message.id is msgspec.UNSET:
                return await self._notified(request, message)
            request_id = message.id
            params = read_params(message)
            era = handshake.era_of(request.http, params)
            if era is Era.MODERN:
                handshake.require_modern(request.http, message, params)
            return await self._served(_McpRequest(request, request_id, message.method, params, era))
        except ProtocolFault as fault:
            # Whoever may not come in learns nothing but that, not even how a request must be written.
            await request.caller.workspace()
            return Response(fault.status(era, request_id), failure(request_id, fault), (JSON,))

    async def get(self, request: DoorRequest) -> RouteAnswer:
        """The stream on which a client of the handshake hears that the list has changed. Nothing is ever sent again."""
        if not allows_event_stream(request.http.header_values(b"accept")):
            raise NotAcceptable("it is a stream of events")
        await request.caller.workspace()
        return EventStream(self._changes(request))

    async def _served(self, request: _McpRequest) -> RouteAnswer:
        method = self._methods.get((request.era, request.method))
        if method is None:
            raise ProtocolFault(Fault.METHOD, "Method not found")
        return await method(request)

    async def _notified(self, request: DoorRequest, message: McpMessage) -> Response:
        """Only a cancellation means anything, and only in the session that the call belongs to."""
        params = read_params(message)
        await request.caller.workspace()
        if message.method == "notifications/cancelled" and params.request_id is not msgspec.UNSET:
            await self._running.cancel(request.caller, _session(request), params.request_id)
        return Response(202)

    async def _initialize(self, request: _McpRequest) -> Response:
        """The session is a name under which the client can cancel. The door keeps nothing under it."""
        answer = handshake.initialized(request.params)
        await request.door.caller.workspace()
        return request.answer(answer, ((SESSION_HEADER, secrets.token_hex(16).encode()),))

    async def _discover(self, request: _McpRequest) -> Response:
        await request.door.caller.workspace()
        return request.answer(handshake.discovered())

    async def _ping(self, request: _McpRequest) -> Response:
        await request.door.caller.workspace()
        return request.answer(encode({}))

    async def _list(self, request: _McpRequest) -> Response:
        catalog = await self._catalogs.read(request.door.caller)
        return request.answer(listed(catalog, request.params, request.era))

    async def _call(self, request: _McpRequest) -> RouteAnswer:
        if request.params.name is msgspec.UNSET:
            raise ProtocolFault(Fault.PARAMS, "tools/call must name a tool")
        session = _session(request.door) if request.era is Era.HANDSHAKE else None
        return await self._tools.answer(
            ToolRequest(request.door, request.id, request.params.name, request.params, request.era, session)
        )

    async def _listen(self, request: _McpRequest) -> RouteAnswer:
        if not allows_event_stream(request.door.http.header_values(b"accept")):
            raise NotAcceptable("it is a stream of events")
        await request.door.caller.workspace()
        self._listening.take()
        return EventStream(self._subscription(request))

    async def _subscription(self, request: _McpRequest) -> AsyncGenerator[bytes, None]:
        meta = {SUBSCRIPTION_KEY: request.id}
        wanted = request.params.notifications
        heard = wanted is not msgspec.UNSET and wanted.tools_list_changed
        try:
            honoured = {"toolsListChanged": True} if heard else {}
            acknowledged = {"_meta": meta, "notifications": honoured}
            yield frame(notification("notifications/subscriptions/acknowledged", acknowledged))
            if heard:
                async for _ in changes(self._catalogs, request.door.caller, self._ending):
                    yield frame(notification(_CHANGED, {"_meta": meta}))
            else:
                await self._ending.wait()
            yield frame(success(request.id, of_era(Era.MODERN, {"_meta": meta})))
        finally:
            self._listening.give_back()

    async def _changes(self, request: DoorRequest) -> AsyncGenerator[bytes, None]:
        yield COMMENT
        async for _ in changes(self._catalogs, request.caller, self._ending):
            yield frame(notification(_CHANGED, {}))


def _session(request: DoorRequest) -> bytes | None:
    """Kept for as long as a call runs, and shown to all workers: a longer name than an id may have counts as none."""
    name = request.http.single_header(SESSION_HEADER)
    return None if name is None or len(name) > MAX_ID else name
