"""The chunks of a child invocation, as an asynchronous iterator that believes nothing but an exact stream."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from aop.agent.call.calls import EVENTS, NestedCall, NestedCallFailed, NestedCallInterrupted, NestedCalls, refusal
from aop.contracts.invocation import StreamEvent, StreamEventType
from aop.contracts.result_stream import ArrivingEvents, ResultFrames, StreamBroken
from aop.net.http import Answer, HttpError

_MAX_FRAME: Final = 16 * 1024 * 1024


class NestedStream:
    """One child invocation, iterated once. Leaving the `async with` before its end closes the connection, which
    cancels the child. `invocation_id` is known from the first step on."""

    def __init__(self, calls: NestedCalls, call: NestedCall) -> None:
        self.invocation_id: str | None = None
        self._calls = calls
        self._call = call
        self._scope = AsyncExitStack()
        self._events: ArrivingEvents | None = None
        self._was_opened = False
        self._ended = False

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
            return await self._next_chunk()
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        await self._scope.aclose()

    async def _open(self) -> ArrivingEvents:
        if self._was_opened:
            raise RuntimeError("a stream is read once")
        self._was_opened = True
        deadline = self._calls.deadline(self._call)
        try:
            answer = await self._scope.enter_async_context(await self._calls.open(self._call, deadline))
            if answer.status != 200:
                raise refusal(Answer(answer.status, answer.headers, b"".join([piece async for piece in answer])))
            if answer.headers_named(b"content-type") != [EVENTS]:
                raise NestedCallInterrupted("the Router's answer is no event stream")
        except HttpError as error:
            raise NestedCallInterrupted(f"no answer from the Router: {error}") from error
        frames = ResultFrames(_MAX_FRAME, trace_id=self._call.trace_id, root_task_id=self._call.root_task_id)
        self._events = ArrivingEvents(answer, frames, HttpError)
        return self._events

    async def _next_chunk(self) -> Any:
        while not self._ended:
            event = await self._next_event()
            if event.chunk is not msgspec.UNSET:
                return msgspec.json.decode(event.chunk)
            self._ended = event.type is not StreamEventType.ACCEPTED
            if event.error is not msgspec.UNSET:
                raise NestedCallFailed.of(event.error)
        raise StopAsyncIteration

    async def _next_event(self) -> StreamEvent:
        events = self._events or await self._open()
        try:
            event = await events.take()
        except StreamBroken as broken:
            raise NestedCallInterrupted(f"the stream is not whole: {broken.rule}") from broken
        self.invocation_id = event.invocation_id
        return event
