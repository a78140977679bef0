"""The stream of one call: the Task, its chunks as they come, and exactly one end, which is never a false one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

import msgspec

from aop.a2a.messages import IncomingMessage, read_message
from aop.a2a.rpc import failure
from aop.a2a.v0_3 import TaskState
from aop.a2a.writing import StreamWriter, TaskView, one_line
from aop.client.errors import PlatformError
from aop.contracts.invocation import StreamEvent, StreamEventType
from aop.contracts.lineage import TERMINAL_STATUSES
from aop.door.a2a.calls import A2ACall, settled
from aop.door.a2a.errors import NotCompleted, error_data, facts_of, rpc_fault
from aop.door.a2a.running import OpenCall
from aop.door.a2a.views import failed_view, recorded_view, view_of
from aop.door.faults import GatewayFault, fault_of
from aop.door.gateway import ArrivingResult
from aop.net.sse import frame
from aop.serving.edge.request import StreamFailure
from aop.serving.edge.response import Headers, Response
from aop.serving.edge.streaming import EventStream

_EVENTS: Final[Headers] = ((b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"))


async def open_stream(call: A2ACall) -> Response | EventStream:
    message = read_message(call.version, call.rpc.params)
    agent = await call.caller.agent(call.agent_id)
    skill_id = message.skill_id or await call.only_skill()
    if not agent.card.limits.streaming:
        return _at_once(call, *await call.run(message, skill_id))
    opened = AsyncExitStack()
    try:
        arriving = await opened.enter_async_context(call.caller.stream(call.agent_id, skill_id, message.input))
    except GatewayFault as fault:
        return _at_once(call, call.failed(fault, message), None)
    call.request.ran(arriving.trace_id, arriving.invocation_id)
    stream = _Stream(call, message, arriving)
    return EventStream(stream.events(opened), failure=lambda: stream.failure)


def _at_once(call: A2ACall, view: TaskView, value: bytes | None) -> Response:
    """The stream of a call that has ended: the Task, its one artifact if there is a result, its end."""
    writer = StreamWriter(call.form, call.rpc.id, view)
    chunk = b"" if value is None else writer.chunk(one_line(value))
    return Response(200, writer.opening() + chunk + writer.status(view), _EVENTS)


class _Stream:
    """Made in the task that delivers it."""

    def __init__(self, call: A2ACall, message: IncomingMessage, arriving: ArrivingResult) -> None:
        self.failure: StreamFailure | None = None
        self._call = call
        self._arriving = arriving
        invocation_id = arriving.invocation_id
        self._context_id = message.context_id or invocation_id
        self._view = view_of(invocation_id, self._context_id, TaskState.WORKING, arriving.trace_id)
        self._writer = StreamWriter(call.form, call.rpc.id, self._view)
        self._open = OpenCall(self._context_id)

    async def events(self, opened: AsyncExitStack) -> AsyncGenerator[bytes, None]:
        """Ends with a terminal status or with an error, unless its caller leaves."""
        writer, last = self._writer, None
        try:
            with self._call.running.held(self._call.key(self._view.id), self._open.answer):
                async with opened:
                    yield writer.opening()
                    while events := await self._arriving.arrived():
                        if values := [bytes(one.chunk) for one in events if one.chunk is not msgspec.UNSET]:
                            yield b"".join(map(writer.chunk, values))
                        elif events[0].type is not StreamEventType.ACCEPTED:
                            last = self._terminal(events[0])
        except asyncio.CancelledError:
            if not self._open.resume():
                raise
        except GatewayFault as fault:
            last = self._error(fault)
        finally:
            self._open.closed.set()
        yield await self._canceled() if last is None else last

    def _terminal(self, event: StreamEvent) -> bytes:
        if event.error is msgspec.UNSET:
            trace_id = self._arriving.trace_id
            return self._writer.status(view_of(self._view.id, self._context_id, TaskState.COMPLETED, trace_id))
        fault = fault_of(PlatformError.of(event.error))
        self.failure = (fault.code, fault.reason)
        return self._writer.status(failed_view(self._view.id, self._context_id, fault))

    async def _canceled(self) -> bytes:
        """After tasks/cancel: what the Ledger says, because the Agent may have been faster."""
        try:
            record = await settled(self._call.caller, self._view.id)
        except GatewayFault as fault:
            return self._error(fault)
        if record.status in TERMINAL_STATUSES:
            return self._writer.status(recorded_view(record, self._context_id))
        unknown = NotCompleted("The call was canceled, and the Ledger does not have its end yet.")
        return frame(failure(self._call.rpc.id, unknown, error_data(unknown, self._view.facts)))

    def _error(self, fault: GatewayFault) -> bytes:
        """How the Invocation ended is unknown, so no state of a Task is sent."""
        self.failure = (fault.code, fault.reason)
        refused = rpc_fault(fault)
        return frame(failure(self._call.rpc.id, refused, error_data(refused, facts_of(fault))))
