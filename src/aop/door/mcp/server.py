"""MCP over streamable HTTP: one path per Workspace, answered as JSON or as a stream of events, nothing remembered."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

import msgspec

from aop.contracts.errors import NotAcceptable
from aop.door.mcp.handshake import McpRequest, call_key, era_of, require_modern
from aop.door.mcp.messages import (
    MAX_ID,
    Era,
    McpMessage,
    ProtocolFault,
    failure,
    notification,
    read_message,
    read_params,
)
from aop.door.mcp.methods import LIST_CHANGED, SESSION_HEADER, McpMethods
from aop.door.mcp.watch import changes
from aop.door.protocol import DoorParts, DoorRoute
from aop.door.request import DoorRequest
from aop.net.accept import allows_event_stream, allows_json
from aop.net.sse import COMMENT, frame
from aop.serving.edge.body import read_bytes, require_json_type
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import RouteAnswer
from aop.serving.edge.streaming import EventStream

PATH: Final = "/mcp/:workspaceId"


def mcp_routes(parts: DoorParts) -> Sequence[DoorRoute]:
    server = McpServer(parts)
    return [DoorRoute("POST", PATH, server.post), DoorRoute("GET", PATH, server.get, watches=True)]


class McpServer:
    def __init__(self, parts: DoorParts) -> None:
        settings = parts.settings
        self._max_bytes = settings.request_max_bytes
        self._ending = parts.ending
        self._methods = McpMethods(parts.group, parts.ending, settings.answer_max_bytes, settings.max_calls)

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
            era = era_of(params, request.http)
            if era is Era.MODERN:
                require_modern(message, params, request.http)
            session = _session(request) if era is Era.HANDSHAKE else None
            return await self._methods.serve(McpRequest(request, request_id, message.method, params, era, session))
        except ProtocolFault as fault:
            # A caller that may not come in learns nothing but that, not even how a request must be written.
            await request.caller.workspace()
            return Response(fault.status(era, request_id), failure(request_id, fault), (JSON,))

    async def get(self, request: DoorRequest) -> RouteAnswer:
        """The stream on which a client of the handshake hears that the list has changed. Nothing is ever sent again."""
        if not allows_event_stream(request.http.header_values(b"accept")):
            raise NotAcceptable("it is a stream of events")
        await request.caller.workspace()
        return EventStream(self._changes(request))

    async def _notified(self, request: DoorRequest, message: McpMessage) -> Response:
        """Only a cancellation means anything, and only in the session that the call belongs to."""
        params = read_params(message)
        await request.caller.workspace()
        if message.method == "notifications/cancelled" and params.request_id is not msgspec.UNSET:
            key = call_key(request.caller, _session(request), params.request_id)
            if key is not None:
                await self._methods.running.ask(key, cancel=True)
        return Response(202)

    async def _changes(self, request: DoorRequest) -> AsyncGenerator[bytes, None]:
        yield COMMENT
        async for _ in changes(self._methods.catalogs, request.caller, self._ending):
            yield frame(notification(LIST_CHANGED, {}))


def _session(request: DoorRequest) -> bytes | None:
    """Stored for as long as a call runs, and sent to all workers: a longer name than an id may have counts as none."""
    name = request.http.single_header(SESSION_HEADER)
    return None if name is None or len(name) > MAX_ID else name
