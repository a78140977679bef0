"""The chunks of one Invocation as they come; each event is checked, and a stream that breaks a rule raises an error."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import msgspec

from aop.client.answers import broken, refusal, trace_of
from aop.client.errors import ClientError, PlatformError, ResultMismatch, StreamInterrupted, brief
from aop.client.request import OperationRequest
from aop.client.transport import Transport
from aop.client.typed import ReadValue, Unfitting, name_of, reader_of
from aop.contracts.invocation import StreamEvent, StreamEventType
from aop.contracts.result_stream import ArrivingEvents, ResultFrames, StreamBroken
from aop.net import http
from aop.net.http import Answer, StreamedAnswer

M = TypeVar("M")

_MAX_REFUSAL_BYTES: Final = 1024 * 1024
_GOING_ON: Final = frozenset({StreamEventType.ACCEPTED, StreamEventType.CHUNK})


class ResultStream(Generic[M]):
    """One streamed Invocation, read once.

    Iterating gives the chunks, ends after `completed`, and raises InvocationFailed for every other terminal and
    StreamInterrupted where the delivery broke. Leaving the `async with` before the end closes the connection, which
    cancels the Invocation. The ids are known once the block is entered; `terminal` holds the last event afterwards.
    """

    def __init__(
        self, transport: Transport, request: OperationRequest[Any], seconds: float, *, strict: bool = True
    ) -> None:
        """`strict` is that of ResultStreamReader."""
        self.invocation_id: str | None = None
        self.root_task_id: str | None = None
        self.trace_id: str | None = None
        self.terminal: StreamEvent | None = None
        self.silence_seconds = 30.0
        """A comment comes after 8 s without an event, so a silence of this length is a dead connection."""
        self._transport = transport
        self._request = request
        self._seconds = seconds
        self._strict = strict
        self._scope = AsyncExitStack()
        self._events: ArrivingEvents | None = None
        self._was_opened = False

    async def __aenter__(self) -> Self:
        try:
            async with self._closed_on_failure():
                await self._open()
        except ClientError as error:
            raise brief(error) from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> M:
        """The next chunk, as the type that was asked for or as a Python value."""
        try:
            while self.terminal is None:
                event = await self.next_event()
                if event.chunk is not msgspec.UNSET:
                    return await self._value(event.chunk)
                if event.error is not msgspec.UNSET:
                    raise PlatformError.of(event.error)
        except ClientError as error:
            raise brief(error) from None
        raise StopAsyncIteration

    async def events(self) -> AsyncIterator[StreamEvent]:
        """Every event from `accepted` to any terminal. Raises only when the delivery breaks."""
        while self.terminal is None:
            yield await self.next_event()

    async def aclose(self) -> None:
        """Closes the connection; before the terminal this cancels the Invocation."""
        await self._scope.aclose()

    async def next_event(self) -> StreamEvent:
        """The next of `events`."""
        async with self._closed_on_failure():
            events = self._events or await self._open()
            event = await events.take()
        await self._note(event)
        return event

    async def next_events(self) -> list[StreamEvent]:
        """The next of `events`, at least one, and those that arrived with it; a terminal comes alone."""
        try:
            events = self._events or await self._open()
            found = await events.arrived()
        except BaseException as failure:
            await self._fail(failure)
            raise
        await self._note(found[-1])
        return found

    async def _open(self) -> ArrivingEvents:
        """Ends once `accepted` is there, so that the ids are known; a refusal is raised here."""
        if self._was_opened:
            raise RuntimeError("a stream is read once; start another Invocation for another one")
        self._was_opened = True
        answer = await self._transport.stream(self._request, self._seconds, self._scope)
        if answer.status != 200:
            raise refusal(await self._whole(answer), self._transport.gateway)
        trace_id = trace_of(answer)
        if answer.headers_named(b"content-type") != [b"text/event-stream"] or trace_id is None:
            raise broken(answer, "it is no event stream", self._transport.gateway)
        self.trace_id = trace_id
        frames = ResultFrames(self._transport.max_answer, strict=self._strict, trace_id=trace_id)
        self._events = ArrivingEvents(answer, frames, http.HttpError)
        self._events.silence_seconds = self.silence_seconds
        accepted = await self._events.upcoming()
        self.invocation_id, self.root_task_id = accepted.invocation_id, accepted.root_task_id
        return self._events

    async def _value(self, chunk: msgspec.Raw) -> M:
        kind = self._request.call.result_type
        if kind is None:
            value: M = msgspec.json.decode(chunk)
            return value
        read: ReadValue[M] = reader_of(kind)
        try:
            return read(chunk)
        except Unfitting as problem:
            await self.aclose()
            ids = {"trace_id": self.trace_id, "invocation_id": self.invocation_id}
            text = f"a chunk of the stream is not a {name_of(kind)}: at {problem}"
            raise ResultMismatch(text, chunk, **ids) from problem

    @asynccontextmanager
    async def _closed_on_failure(self) -> AsyncIterator[None]:
        try:
            yield
        except BaseException as failure:
            await self._fail(failure)
            raise

    async def _fail(self, failure: BaseException) -> None:
        """Raises what a break of the stream is to its reader; leaves every other failure to be raised again."""
        await self.aclose()
        if isinstance(failure, StreamBroken):
            ids = {"trace_id": self.trace_id, "invocation_id": self.invocation_id}
            raise StreamInterrupted(failure.rule, **ids) from failure

    async def _note(self, event: StreamEvent) -> None:
        if event.type not in _GOING_ON:
            self.terminal = event
            await self.aclose()

    async def _whole(self, answer: StreamedAnswer) -> Answer:
        """The body of an answer that is not a stream. One too large for an error is cut, so it is no valid error."""
        body = b""
        with self._transport.explained(self._seconds):
            async for piece in answer:
                body += piece
                if len(body) > _MAX_REFUSAL_BYTES:
                    break
        return Answer(answer.status, answer.headers, body)
