"""The chunks of a child invocation, as an asynchronous iterator that believes nothing but an exact stream."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from aop.agent.calls import EVENTS, NestedCall, NestedCalls, refusal
from aop.agent.failures import NestedCallFailed, NestedCallInterrupted
from aop.agent.result_stream import ResultStream, StreamBroken
from aop.base.http import Answer, HttpError, StreamedAnswer
from aop.base.sse import COMMENT, EventTooLarge, FrameReader, FramingBroken
from aop.contracts.invocation import StreamEvent, StreamEventType

_MAX_FRAME: Final = 16 * 1024 * 1024
_FRAME_START: Final = len(b"data: ")
_FRAME_END: Final = -len(b"\n\n")


class NestedStream:
    """One child invocation, iterated once. Leaving the `async with` before its end closes the connection, which
    cancels the child. `invocation_id` is known from the first step on."""

    def __init__(self, calls: NestedCalls, call: NestedCall) -> None:
        self.invocation_id: str | None = None
        self._calls = calls
        self._call = call
        self._events = ResultStream()
        self._frames = FrameReader(_MAX_FRAME)
        self._waiting: list[StreamEvent] = []
        self._break: NestedCallInterrupted | None = None
        self._scope = AsyncExitStack()
        self._answer: StreamedAnswer | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            if self._answer is None:
                await self._open()
            return await self._next_chunk()
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        await self._scope.aclose()

    async def _open(self) -> None:
        deadline = self._calls.deadline(self._call)
        try:
            answer = await self._scope.enter_async_context(await self._calls.open(self._call, deadline))
            if answer.status != 200:
                raise refusal(Answer(answer.status, answer.headers, b"".join([piece async for piece in answer])))
            if answer.headers_named(b"content-type") != [EVENTS]:
                raise NestedCallInterrupted("the Router's answer is no event stream")
        except HttpError as error:
            raise NestedCallInterrupted(f"no answer from the Router: {error}") from error
        self._answer = answer

    async def _next_chunk(self) -> Any:
        while True:
            event = await self._next_event()
            if event.type is StreamEventType.CHUNK and event.chunk is not msgspec.UNSET:
                return msgspec.json.decode(event.chunk)
            if event.type is StreamEventType.COMPLETED:
                raise StopAsyncIteration
            if event.error is not msgspec.UNSET:
                raise NestedCallFailed.of(event.error)

    async def _next_event(self) -> StreamEvent:
        while not self._waiting:
            if self._events.ended:
                raise StopAsyncIteration
            if self._break is not None:
                raise self._break
            await self._receive()
        return self._waiting.pop(0)

    async def _receive(self) -> None:
        """Takes in what has arrived. What was whole before a break is still given out first."""
        answer = self._answer
        try:
            piece = None if answer is None else await anext(answer, None)
            if piece is None:
                self._break = NestedCallInterrupted("the stream ended without a terminal")
                return
            for frame in self._frames.feed(piece):
                if frame != COMMENT:
                    self._waiting.append(self._read(frame))
        except (HttpError, FramingBroken, EventTooLarge, StreamBroken) as error:
            self._break = NestedCallInterrupted(f"the stream broke: {type(error).__name__} {error}")

    def _read(self, frame: bytes) -> StreamEvent:
        event = self._events.read(frame[_FRAME_START:_FRAME_END])
        if (event.trace_id, event.root_task_id) != (self._call.trace_id, self._call.root_task_id):
            raise StreamBroken("lineage")
        self.invocation_id = event.invocation_id
        return event
