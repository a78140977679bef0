"""What each method of MCP answers, in both eras, over HTTP as on stdio: JSON, or a stream of events."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Final

import msgspec

from aop.contracts.errors import NotAcceptable
from aop.door.mcp.calls import DoorMemory
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.handshake import McpRequest, discovered, initialized
from aop.door.mcp.listing import listed
from aop.door.mcp.messages import (
    SUBSCRIPTION_KEY,
    Era,
    Fault,
    ProtocolFault,
    encode,
    notification,
    of_era,
    success,
)
from aop.door.mcp.tool_answers import McpAnswer, ToolAnswers
from aop.door.mcp.watch import changes
from aop.door.running import DoorCalls
from aop.net.sse import frame
from aop.serving.edge.admission import Slots
from aop.serving.edge.response import Response
from aop.serving.edge.streaming import EventStream
from aop.serving.workers.worker_group import WorkerGroup

SESSION_HEADER: Final = b"mcp-session-id"
LIST_CHANGED: Final = "notifications/tools/list_changed"
_LISTENING_SHARE: Final = 4
"""Subscriptions take places of calls; no more than this part of them."""


_Method = Callable[[McpRequest], Awaitable[McpAnswer]]


class McpMethods:
    def __init__(self, group: WorkerGroup, ending: asyncio.Event, answer_bytes: int, max_calls: int) -> None:
        """`ending` ends the streams of those who wait for changes."""
        self.catalogs = Catalogs()
        self.running = DoorCalls(group, "mcp cancel")
        self._ending = ending
        self._tools = ToolAnswers(self.catalogs, self.running, DoorMemory(), answer_bytes)
        self._listening = Slots(max(1, max_calls // _LISTENING_SHARE))
        self._methods: Mapping[tuple[Era, str], _Method] = {
            (Era.HANDSHAKE, "initialize"): self._initialize,
            (Era.HANDSHAKE, "ping"): self._ping,
            (Era.HANDSHAKE, "tools/list"): self._list,
            (Era.HANDSHAKE, "tools/call"): self._tools.answer,
            (Era.MODERN, "server/discover"): self._discover,
            (Era.MODERN, "tools/list"): self._list,
            (Era.MODERN, "tools/call"): self._tools.answer,
            (Era.MODERN, "subscriptions/listen"): self._listen,
        }

    async def serve(self, request: McpRequest) -> McpAnswer:
        """Raises a ProtocolFault for what cannot be served, and a GatewayFault where the Gateway refuses."""
        method = self._methods.get((request.era, request.method))
        if method is None:
            raise ProtocolFault(Fault.METHOD, "Method not found")
        return await method(request)

    async def _initialize(self, request: McpRequest) -> Response:
        """The session is a name under which the client can cancel. The door keeps nothing under it."""
        answer = initialized(request.params)
        await request.admit()
        return request.answer(answer, ((SESSION_HEADER, secrets.token_hex(16).encode()),))

    async def _discover(self, request: McpRequest) -> Response:
        await request.admit()
        return request.answer(discovered())

    async def _ping(self, request: McpRequest) -> Response:
        await request.admit()
        return request.answer(encode({}))

    async def _list(self, request: McpRequest) -> Response:
        catalog = await self.catalogs.read(request.door.caller)
        return request.answer(listed(catalog, request.params, request.era))

    async def _listen(self, request: McpRequest) -> EventStream:
        if not request.takes_events:
            raise NotAcceptable("it is a stream of events")
        await request.admit()
        self._listening.take()
        return EventStream(self._subscription(request))

    async def _subscription(self, request: McpRequest) -> AsyncGenerator[bytes, None]:
        meta = {SUBSCRIPTION_KEY: request.id}
        wanted = request.params.notifications
        heard = wanted is not msgspec.UNSET and wanted.tools_list_changed
        try:
            honoured = {"toolsListChanged": True} if heard else {}
            acknowledged = {"_meta": meta, "notifications": honoured}
            yield frame(notification("notifications/subscriptions/acknowledged", acknowledged))
            if heard:
                async for _ in changes(self.catalogs, request.door.caller, self._ending):
                    yield frame(notification(LIST_CHANGED, {"_meta": meta}))
            else:
                await self._ending.wait()
            yield frame(success(request.id, of_era(Era.MODERN, {"_meta": meta})))
        finally:
            self._listening.give_back()
