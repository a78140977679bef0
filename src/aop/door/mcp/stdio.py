"""MCP on stdio, for one user: a loop over lines, each a message, around the methods of the door."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import msgspec

from aop.base.loops import Loop, Loops, Report
from aop.contracts.errors import ErrorCode, Refusal
from aop.door.faults import GatewayFault
from aop.door.gateway import DoorCaller
from aop.door.mcp.handshake import McpRequest, era_of, require_modern
from aop.door.mcp.lines import lines_of, when_reader_leaves, write_line
from aop.door.mcp.messages import (
    Era,
    Fault,
    Id,
    McpMessage,
    ProtocolFault,
    failure,
    notification,
    read_message,
    read_params,
    success,
)
from aop.door.mcp.methods import LIST_CHANGED, McpMethods
from aop.door.mcp.results import REFUSED, problem_of
from aop.door.mcp.tool_answers import McpAnswer
from aop.door.mcp.watch import WATCH_SECONDS, changes
from aop.door.request import DoorRequest
from aop.net.asgi import Message, Scope
from aop.net.sse import EventParser
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import Level, UnitLog, safe_cause
from aop.serving.edge.streaming import EventStream
from aop.serving.workers.worker_group import WorkerGroup

MAX_LINE_BYTES: Final = 1_114_112
"""As a body at the door may have."""
MAX_REQUESTS: Final = 64
"""That are answered at once; one more is refused, so that a cancellation after it is still read."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_SCOPE: Final[Scope] = {"method": "POST", "headers": ((b"accept", b"application/json, text/event-stream"),)}

Write = Callable[[bytes], Awaitable[None]]
"""Takes one message, which is one line, and waits while another one is on its way."""


async def serve_stdio(caller: DoorCaller, max_bytes: int) -> None:
    """Until the end of stdin, and until every request that was read is answered.

    On SIGTERM, and when no one reads stdout any more, it ends at once: calls that still run are cancelled.
    """
    # What else would be printed goes to stderr: a host takes each line of stdout for a message.
    out = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    serving = asyncio.create_task(_serve(caller, max_bytes, out))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    with when_reader_leaves(out, _STDIN, serving.cancel):
        await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()


async def _serve(caller: DoorCaller, max_bytes: int, out: int) -> None:
    lines: asyncio.Queue[bytes | None] = asyncio.Queue(1)
    server = StdioServer(caller, max_bytes, lines.put)
    try:
        async with asyncio.TaskGroup() as group, aclosing(lines_of(_STDIN, MAX_LINE_BYTES)) as taken:
            group.create_task(_write_all(lines, out))
            await server.serve(taken)
            await lines.put(None)
    except* ConnectionError:  # the host is gone
        pass


async def _write_all(lines: "asyncio.Queue[bytes | None]", out: int) -> None:
    """A task of its own, because a request that is cancelled must not cut the line that it has begun."""
    while (line := await lines.get()) is not None:
        await write_line(out, line)


class StdioServer:
    def __init__(self, caller: DoorCaller, max_bytes: int, write: Write, watch_seconds: float = WATCH_SECONDS) -> None:
        self._caller = caller
        self._write = write
        self._watch_seconds = watch_seconds
        self._ending = asyncio.Event()
        self._methods = McpMethods(WorkerGroup(), self._ending, max_bytes, MAX_REQUESTS)
        self._running: dict[Id, asyncio.Task[None]] = {}
        self._log = UnitLog("mcp")
        self._loops = Loops(self._report_of)
        self._watching: Loop | None = None

    async def serve(self, lines: AsyncIterable[bytes | None]) -> None:
        """Returns when the lines have ended and every request among them is answered. Cancelling it ends all calls."""
        try:
            async with asyncio.TaskGroup() as group:
                async for line in lines:
                    await self._take(line, group)
                self._ending.set()
        finally:
            await self._loops.close()

    async def watch(self) -> None:
        """Notifies a client of the handshake that the list has changed. A turn of a loop."""
        try:
            async for _ in changes(self._methods.catalogs, self._caller, asyncio.Event(), self._watch_seconds):
                await self._write(notification(LIST_CHANGED, {}))
        except GatewayFault as fault:
            if fault.code not in REFUSED:  # the Gateway is away for a moment
                await asyncio.sleep(self._watch_seconds)
                return
        await asyncio.Event().wait()  # this caller may no longer see the Workspace, and sees no change of it

    async def _take(self, line: bytes | None, group: asyncio.TaskGroup) -> None:
        if line is not None and not line.strip():
            return
        try:
            message = _message(line)
        except ProtocolFault as unread:
            await self._write(failure(None, unread))
            return
        if message.id is msgspec.UNSET:
            self._notice(message)
        elif message.id in self._running:
            await self._write(failure(message.id, ProtocolFault(Fault.REQUEST, "A request with this id still runs")))
        elif len(self._running) == MAX_REQUESTS:
            await self._write(_refusal(message.id, GatewayFault(ErrorCode.OVERLOADED)))
        else:
            self._start(message, message.id, group)

    def _notice(self, message: McpMessage) -> None:
        """Only a cancellation means anything. A notification has no answer, also when it can not be read."""
        if message.method == "notifications/cancelled":
            try:
                request_id = read_params(message).request_id
            except ProtocolFault:
                return
            if request_id is not msgspec.UNSET and request_id in self._running:
                self._running[request_id].cancel()

    def _start(self, message: McpMessage, request_id: Id, group: asyncio.TaskGroup) -> None:
        self._running[request_id] = task = group.create_task(self._answer(message, request_id))
        task.add_done_callback(lambda _: self._running.pop(request_id))

    async def _answer(self, message: McpMessage, request_id: Id) -> None:
        era = Era.HANDSHAKE
        try:
            params = read_params(message)
            era = era_of(params)
            if era is Era.MODERN:
                require_modern(message, params)
            door = DoorRequest(Request(_SCOPE, _no_body), self._caller)
            request = McpRequest(door, request_id, message.method, params, era, admitted=True)
            await self._deliver(request, await self._methods.serve(request))
            return
        except ProtocolFault as problem:
            line = failure(request_id, problem)
        except Refusal as refusal:
            fault = refusal if isinstance(refusal, GatewayFault) else GatewayFault(refusal.code, refusal.reason)
            line = _refusal(request_id, fault, era if message.method == "tools/call" else None)
        except Exception as cause:  # noqa: BLE001  a mistake of ours must not end the other calls
            self._log.event("request.fault", level=Level.ERROR, cause=safe_cause(cause))
            line = failure(request_id, ProtocolFault(Fault.INTERNAL, "Internal error"))
        await self._write(line)

    async def _deliver(self, request: McpRequest, answer: McpAnswer) -> None:
        if isinstance(answer, EventStream):
            parser = EventParser(sys.maxsize)
            async with aclosing(answer.source) as pieces:
                async for piece in pieces:
                    for line in parser.feed(piece):
                        await self._write(line)
            return
        await self._write(answer.body)
        if request.method == "initialize" and self._watching is None:
            self._watching = self._loops.start("tools", self.watch, needed=False)

    def _report_of(self, name: str) -> Report:
        """On stderr, which the host shows or keeps."""
        return lambda fault: self._log.event("loop.fault", level=Level.ERROR, cause=f"{name}: {safe_cause(fault)}")


def _message(line: bytes | None) -> McpMessage:
    if line is None:
        raise ProtocolFault(Fault.REQUEST, f"A message is one line of at most {MAX_LINE_BYTES} bytes")
    return read_message(line)


def _refusal(request_id: Id, fault: GatewayFault, tool_of: Era | None = None) -> bytes:
    """Of a call it is the result of the tool, which the model reads and may tell its user."""
    problem = problem_of(fault)
    if tool_of is not None:
        return success(request_id, problem.text(tool_of))
    return failure(request_id, ProtocolFault(Fault.INTERNAL, problem.said, problem.meta))


async def _no_body() -> Message:
    raise AssertionError("a message on stdio has no body of HTTP")
