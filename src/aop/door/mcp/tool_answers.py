"""Answers to `tools/call`: JSON when the result is there soon, else a stream of events that ends with it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

import msgspec

from aop.contracts.text import cleaned
from aop.door.faults import GatewayFault
from aop.door.mcp.calls import CancelledByClient, StreamedCall, invoked, progress_message, skill_input
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.messages import Era, Fault, Id, Params, ProtocolFault, encode, success
from aop.door.mcp.results import REFUSED, ToolEnd, ToolProblem, ToolResult, problem_of
from aop.door.mcp.running import CancellableCalls
from aop.door.mcp.tools import SkillTool
from aop.door.request import DoorRequest
from aop.net.accept import allows_event_stream
from aop.net.sse import COMMENT, frame
from aop.serving.edge.request import StreamFailure
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.streaming import EventStream
from aop.serving.unit.held import HeldMemory

SOON_SECONDS: Final = 5.0
"""After that a stream is begun, whose comments keep the connection alive while the Agent works."""

McpAnswer = Response | EventStream

_CANCELLED: Final = Response(202)
"""A cancelled request has no response, but its POST must be answered."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    door: DoorRequest
    id: Id
    name: str
    params: Params
    era: Era
    session: bytes | None

    def message(self, end: ToolEnd) -> bytes:
        return success(self.id, end.text(self.era))

    @property
    def takes_events(self) -> bool:
        return allows_event_stream(self.door.http.header_values(b"accept"))


class ToolAnswers:
    def __init__(self, catalogs: Catalogs, running: CancellableCalls, memory: HeldMemory, max_bytes: int) -> None:
        self._catalogs = catalogs
        self._running = running
        self._memory = memory
        self._max_bytes = max_bytes

    async def answer(self, request: ToolRequest) -> McpAnswer:
        """A GatewayFault is raised only for whoever may not use the Workspace: the door then refuses as the Gateway."""
        tool = await self._catalogs.find(request.door.caller, request.name)
        if tool is None:
            raise ProtocolFault(Fault.PARAMS, f"Unknown tool: {cleaned(request.name[:64], lines=False)}")
        try:
            content = await self._content(request, tool)
            token = request.params.meta.progress_token
            if token is not msgspec.UNSET and tool.streaming and request.takes_events:
                return await self._streamed(request, tool, content, token)
            return await self._invoked(request, tool, content)
        except GatewayFault as fault:
            end = self._problem(request, fault)
            return Response(200, request.message(end), (JSON,), fault.code, fault.reason)

    async def _content(self, request: ToolRequest, tool: SkillTool) -> msgspec.Raw:
        try:
            return skill_input(tool, request.params.arguments)
        except GatewayFault:
            await request.door.caller.workspace()  # what is wrong with the arguments tells that there is such a tool
            raise

    def _problem(self, request: ToolRequest, fault: GatewayFault) -> ToolProblem:
        """Raises the fault again when it is a refusal."""
        if fault.invocation_id is None:
            self._catalogs.forget(request.door.caller)
            if fault.code in REFUSED:
                raise fault
        request.door.ran(fault.trace_id, fault.invocation_id)
        return problem_of(fault, request.door.http.trace_id)

    async def _invoked(self, request: ToolRequest, tool: SkillTool, content: msgspec.Raw) -> McpAnswer:
        call = asyncio.create_task(invoked(request.door.caller, tool, content))
        async with AsyncExitStack() as opened:
            opened.push_async_callback(_ended, call)
            opened.enter_context(self._running.held(request.door.caller, request.session, request.id, call.cancel))
            await asyncio.wait({call}, timeout=SOON_SECONDS if request.takes_events else None)
            if not call.done():
                return EventStream(self._late(request, call, opened.pop_all()))
            if call.cancelled():
                return _CANCELLED
            return Response(200, self._message(request, await call), (JSON,))

    def _message(self, request: ToolRequest, result: ToolResult) -> bytes:
        request.door.ran(result.trace_id, result.invocation_id)
        return request.message(result)

    async def _late(
        self, request: ToolRequest, call: "asyncio.Task[ToolResult]", opened: AsyncExitStack
    ) -> AsyncGenerator[bytes, None]:
        async with opened:
            yield COMMENT
            await asyncio.wait({call})
            if not call.cancelled():
                try:
                    yield frame(self._message(request, await call))
                except GatewayFault as fault:
                    yield frame(request.message(problem_of(fault, request.door.http.trace_id)))

    async def _streamed(self, request: ToolRequest, tool: SkillTool, content: msgspec.Raw, token: Id) -> McpAnswer:
        async with AsyncExitStack() as opened:
            arriving = await opened.enter_async_context(request.door.caller.stream(*tool.key, content))
            request.door.ran(arriving.trace_id, arriving.invocation_id)
            call = StreamedCall(arriving, self._memory, self._max_bytes)
            opened.enter_context(self._running.held(request.door.caller, request.session, request.id, call.cancel))
            failed: list[StreamFailure] = []
            frames = _frames(request, call, token, failed, opened.pop_all())
            return EventStream(frames, failure=lambda: failed[0] if failed else None)


async def _frames(
    request: ToolRequest, call: StreamedCall, token: Id, failed: list[StreamFailure], opened: AsyncExitStack
) -> AsyncGenerator[bytes, None]:
    head = b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%b,"progress":'
    head %= encode(token)
    async with opened:
        try:
            number = 0
            async for chunks in call.chunks():
                told = b"".join(
                    [
                        b'%b%d,"message":%b}}\n\n' % (head, count, encode(progress_message(chunk)))
                        for count, chunk in enumerate(chunks, number + 1)
                    ]
                )
                with call.written(told):
                    yield told
                number += len(chunks)
            yield frame(request.message(call.result))
        except GatewayFault as fault:
            failed.append((fault.code, fault.reason))
            yield frame(request.message(problem_of(fault, request.door.http.trace_id)))
        except CancelledByClient:
            return


async def _ended(call: "asyncio.Task[ToolResult]") -> None:
    """Whoever leaves first, nothing of the call is left when this returns."""
    call.cancel()
    await asyncio.wait({call})
    if not call.cancelled():
        call.exception()
