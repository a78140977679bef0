"""MCP on stdio, for one user: the package of MCP speaks both eras of the protocol, and the tools are those of the door.

The package costs some milliseconds per message, which one user does not notice. At the door it would be too much.
"""

import asyncio
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from aop.base.loops import Loops, Report
from aop.door.faults import GatewayFault
from aop.door.gateway import DoorCaller
from aop.door.installed import FRESH_SECONDS
from aop.door.mcp.calls import DoorMemory, StreamedCall, invoked, progress_message, skill_input
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.listing import listed
from aop.door.mcp.messages import INSTRUCTIONS, SERVER_INFO, Era, Params, ProtocolFault
from aop.door.mcp.results import REFUSED, ToolEnd, ToolProblem, problem_of
from aop.door.mcp.tools import SkillTool
from aop.door.mcp.watch import WATCH_SECONDS, changes
from aop.serving.request_log import Level, UnitLog, safe_cause

_Context = ServerRequestContext[Any, Any]

_HINTS: Final = {"tools/list": CacheHint(int(FRESH_SECONDS * 1000), "private")}


async def serve_stdio(caller: DoorCaller, max_bytes: int) -> None:
    """Until the other side closes its end; every call that still runs is then cancelled."""
    tools = StdioTools(caller, max_bytes)
    loops = Loops(_report_of)
    loops.start("tools", tools.watch, needed=False)
    try:
        async with stdio_server() as (reading, writing):
            options = tools.server.create_initialization_options(NotificationOptions(tools_changed=True))
            await tools.server.run(reading, writing, options)
    finally:
        await loops.close()


def _report_of(name: str) -> Report:
    """On stderr, which the host shows or keeps."""
    log = UnitLog("mcp")
    return lambda fault: log.event("loop.fault", level=Level.ERROR, cause=f"{name}: {safe_cause(fault)}")


class StdioTools:
    def __init__(self, caller: DoorCaller, max_bytes: int, watch_seconds: float = WATCH_SECONDS) -> None:
        self._caller = caller
        self._max_bytes = max_bytes
        self._watch_seconds = watch_seconds
        self._catalogs = Catalogs()
        self._memory = DoorMemory()
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        self.server: Server[Any] = Server(
            SERVER_INFO["name"],
            version=SERVER_INFO["version"],
            title=SERVER_INFO["title"],
            instructions=INSTRUCTIONS,
            cache_hints=_HINTS,  # type: ignore[arg-type]  # a dict of one of its names
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    async def watch(self) -> None:
        """Tells subscribers, and a client of the handshake, that the list has changed. A turn of a loop."""
        try:
            async for _ in changes(self._catalogs, self._caller, asyncio.Event(), self._watch_seconds):
                await self._bus.publish(ToolsListChanged())
                if self._session is not None:
                    await self._session.send_tool_list_changed()
        except GatewayFault as fault:
            if fault.code not in REFUSED:  # the Gateway is away for a moment
                await asyncio.sleep(self._watch_seconds)
                return
        await asyncio.Event().wait()  # this caller may no longer see the Workspace, and sees no change of it

    async def _list(self, context: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self._session = context.session
        cursor = None if params is None else params.cursor
        try:
            catalog = await self._catalogs.read(self._caller)
            text = listed(catalog, Params(cursor=msgspec.UNSET if cursor is None else cursor), Era.HANDSHAKE)
        except GatewayFault as fault:
            problem = problem_of(fault)
            raise MCPError(types.INTERNAL_ERROR, problem.said, problem.meta) from None
        except ProtocolFault as fault:
            raise MCPError(fault.fault, str(fault)) from None
        return types.ListToolsResult.model_validate_json(text)

    async def _call(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        # In a task of its own: the package cancels every await after a cancellation, also those that clean up.
        end = await asyncio.create_task(self._end(context, params))
        return types.CallToolResult.model_validate_json(end.text(Era.HANDSHAKE))

    async def _end(self, context: _Context, params: types.CallToolRequestParams) -> ToolEnd:
        try:
            tool = await self._catalogs.find(self._caller, params.name)
            if tool is None:
                raise MCPError(types.INVALID_PARAMS, "Unknown tool")
            content = skill_input(tool, msgspec.Raw(msgspec.json.encode(params.arguments or {})))
            if tool.streaming and context.meta is not None and "progress_token" in context.meta:
                return await self._streamed(context, tool, content)
            return await invoked(self._caller, tool, content)
        except GatewayFault as fault:
            return self._problem(fault)

    def _problem(self, fault: GatewayFault) -> ToolProblem:
        if fault.invocation_id is None:
            self._catalogs.forget(self._caller)
        return problem_of(fault)

    async def _streamed(self, context: _Context, tool: SkillTool, content: msgspec.Raw) -> ToolEnd:
        async with self._caller.stream(*tool.key, content) as arriving:
            call = StreamedCall(arriving, self._memory, self._max_bytes)
            number = 0
            async for chunks in call.chunks():
                for chunk in chunks:
                    number += 1
                    await context.session.report_progress(number, message=progress_message(chunk))
            return call.result
