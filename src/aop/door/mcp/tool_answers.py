"""Answers to `tools/call`: JSON when the result is there soon, else a stream of events that ends with it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

import msgspec

from aop.contracts.invocation import InvocationResult
from aop.contracts.text import cleaned
from aop.door.faults import GatewayFault
from aop.door.mcp.calls import CancelledByClient, StreamedCall, progress_message, skill_input
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.handshake import McpRequest
from aop.door.mcp.messages import Fault, Id, ProtocolFault, encode, success
from aop.door.mcp.results import REFUSED, ToolEnd, ToolProblem, problem_of, result_of
from aop.door.mcp.tools import SkillTool
from aop.door.running import AnswerForCall, DoorCalls
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


class ToolAnswers:
    def __init__(self, catalogs: Catalogs, running: DoorCalls, memory: HeldMemory, max_bytes: int) -> None:
        self._catalogs = catalogs
        self._running = running
        self._memory = memory
        self._max_bytes = max_bytes

    async def answer(self, request: McpRequest) -> McpAnswer:
        """Raises a GatewayFault only for a caller who may not use the Workspace: the door passes that refusal on."""
        name = request.params.name
        if name is msgspec.UNSET:
            raise ProtocolFault(Fault.PARAMS, "tools/call must name a tool")
        tool = await self._catalogs.find(request.door.caller, name)
        if tool is None:
            raise ProtocolFault(Fault.PARAMS, f"Unknown tool: {cleaned(name[:64], lines=False)}")
        try:
            content = await self._content(request, tool)
            token = request.params.meta.progress_token
            if token is not msgspec.UNSET and tool.streaming and request.takes_events:
                return await self._streamed(request, tool, content, token)
            return await self._invoked(request, tool, content)
        except GatewayFault as fault:
            end = self._problem(request, fault)
            return Response(200, _message(request, end), (JSON,), fault.code, fault.reason)

    async def _content(self, request: McpRequest, tool: SkillTool) -> msgspec.Raw:
        try:
            return skill_input(tool, request.params.arguments)
        except GatewayFault:
            await request.door.caller.workspace()  # what is wrong with the arguments shows that there is such a tool
            raise

    def _problem(self, request: McpRequest, fault: GatewayFault) -> ToolProblem:
        """Raises the fault again when it is a refusal."""
        if fault.invocation_id is None:
            self._catalogs.forget(request.door.caller)
            if fault.code in REFUSED:
                raise fault
        request.door.ran(fault.trace_id, fault.invocation_id)
        return problem_of(fault, request.door.http.trace_id)

    async def _invoked(self, request: McpRequest, tool: SkillTool, content: msgspec.Raw) -> McpAnswer:
        call = asyncio.create_task(request.door.caller.invoke(*tool.key, content))
        async with AsyncExitStack() as opened:
            opened.push_async_callback(_ended, call)
            opened.enter_context(self._running.held(request.key, _cancelling(call)))
            await asyncio.wait({call}, timeout=SOON_SECONDS if request.takes_events else None)
            if not call.done():
                return EventStream(_late(request, call, opened.pop_all()))
            if call.cancelled():
                return _CANCELLED
            return Response(200, _result(request, await call), (JSON,))

    async def _streamed(self, request: McpRequest, tool: SkillTool, content: msgspec.Raw, token: Id) -> McpAnswer:
        async with AsyncExitStack() as opened:
            arriving = await opened.enter_async_context(request.door.caller.stream(*tool.key, content))
            request.door.ran(arriving.trace_id, arriving.invocation_id)
            call = StreamedCall(arriving, self._memory, self._max_bytes)
            opened.enter_context(self._running.held(request.key, _cancelling(call)))
            failed: list[StreamFailure] = []
            frames = _frames(request, call, token, failed, opened.pop_all())
            return EventStream(frames, failure=lambda: failed[0] if failed else None)


async def _late(
    request: McpRequest, call: "asyncio.Task[InvocationResult]", opened: AsyncExitStack
) -> AsyncGenerator[bytes, None]:
    async with opened:
        yield COMMENT
        await asyncio.wait({call})
        if not call.cancelled():
            try:
                yield frame(_result(request, await call))
            except GatewayFault as fault:
                yield frame(_message(request, problem_of(fault, request.door.http.trace_id)))


def _cancelling(call: "StreamedCall | asyncio.Task[InvocationResult]") -> AnswerForCall:
    async def answer(_: bool) -> bytes:
        call.cancel()
        return b""

    return answer


def _result(request: McpRequest, result: InvocationResult) -> bytes:
    request.door.ran(result.trace_id, result.invocation_id)
    return _message(request, result_of(result))


def _message(request: McpRequest, end: ToolEnd) -> bytes:
    return success(request.id, end.text(request.era))


async def _frames(
    request: McpRequest, call: StreamedCall, token: Id, failed: list[StreamFailure], opened: AsyncExitStack
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
            yield frame(_message(request, call.result))
        except GatewayFault as fault:
            failed.append((fault.code, fault.reason))
            yield frame(_message(request, problem_of(fault, request.door.http.trace_id)))
        except CancelledByClient:
            return


async def _ended(call: "asyncio.Task[InvocationResult]") -> None:
    """Whether the caller or the Agent ends first, nothing of the call is left when this returns."""
    call.cancel()
    await asyncio.wait({call})
    if not call.cancelled():
        call.exception()
