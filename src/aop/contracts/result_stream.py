"""The rules of a result stream (Stream Event v2), checked event by event, frame by frame, and as it arrives."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Final

import msgspec

from aop.base import json as strict_json
from aop.contracts.errors import ErrorCode, fits
from aop.contracts.invocation import STATUS_OF_STREAM_EVENT, StreamEvent, StreamEventType
from aop.net.sse import COMMENT, EventTooLarge, FrameReader, FramingBroken

_OWN_CODES: Final = {StreamEventType.CANCELED: ErrorCode.CANCELED, StreamEventType.TIMED_OUT: ErrorCode.TIMEOUT}
_FAILURES: Final = frozenset({StreamEventType.FAILED, *_OWN_CODES})
_GOING_ON: Final = frozenset({StreamEventType.ACCEPTED, StreamEventType.CHUNK})
_END_SECONDS: Final = 5.0
_CHUNK: Final = StreamEventType.CHUNK
_LINE: Final = slice(len(b"data: "), -len(b"\n\n"))

_decoder = msgspec.json.Decoder(StreamEvent)


class StreamBroken(Exception):
    """The stream is not to be believed from here on.

    `rule` is one of the conformance vectors (`sequence`, `ids`, ...), or `framing`, `frame_size`, `lineage` for a frame
    that is none of ours, too large or of another lineage, `interrupted` for an end without a terminal, and `transfer`,
    `silence` or `deadline` for a connection that broke, died or ran out of time.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class ResultStreamReader:
    """What has been read of one stream. After the terminal `ended` is true, and nothing more may come.

    Without `strict` a repeated name inside a chunk is not looked for: that search may take longer than a unit can
    wait, and the reader of the chunk makes it again.
    """

    def __init__(self, *, strict: bool = True) -> None:
        self.ended = False
        self._strict = strict
        self._sequence = 0
        self._chunks = 0
        self._ids: tuple[str, str, str] | None = None

    def read(self, line: bytes) -> StreamEvent:
        event = _event(line, strict=self._strict)
        if event.type is _CHUNK and event.sequence == self._sequence and self._is_next_chunk(event):
            self._chunks += 1
            self._sequence += 1
            return event
        if self.ended:
            raise StreamBroken("after_terminal")
        if self._ids is None and event.type is not StreamEventType.ACCEPTED:
            raise StreamBroken("accepted_first")
        if event.sequence != self._sequence:
            raise StreamBroken("sequence")
        _require_shape(event)
        self._require_ids(event)
        if event.type is StreamEventType.CHUNK:
            if event.chunk_index != self._chunks:
                raise StreamBroken("chunk_index")
            self._chunks += 1
        self._sequence += 1
        self.ended = event.type not in _GOING_ON
        return event

    def _is_next_chunk(self, event: StreamEvent) -> bool:
        """The usual event in the usual place, judged at once; whatever it is not, `read` finds the rule it breaks."""
        return (
            not self.ended
            and event.status == "running"
            and event.chunk_index == self._chunks
            and event.chunk is not msgspec.UNSET
            and event.error is msgspec.UNSET
            and (event.invocation_id, event.root_task_id, event.trace_id) == self._ids
        )

    def _require_ids(self, event: StreamEvent) -> None:
        ids = (event.invocation_id, event.root_task_id, event.trace_id)
        if self._ids is None:
            self._ids = ids
        if ids != self._ids:
            raise StreamBroken("ids")
        error = event.error
        if error is not msgspec.UNSET and (error.invocation_id, error.root_task_id, error.trace_id) != ids:
            raise StreamBroken("error_ids")


class ResultFrames:
    """The events of one response, read from its bytes however they are cut; comments are dropped.

    `lineage` names ids that every event must carry, such as `trace_id`.
    """

    def __init__(self, max_frame: int, *, strict: bool = True, **lineage: str) -> None:
        self._frames = FrameReader(max_frame)
        self._events = ResultStreamReader(strict=strict)
        self._lineage = lineage

    @property
    def ended(self) -> bool:
        return self._events.ended

    def feed(self, piece: bytes) -> Iterator[StreamEvent]:
        """Events in order; StreamBroken comes after those that were sound before it."""
        try:
            for frame in self._frames.feed(piece):
                if frame != COMMENT:
                    yield self._read(frame)
        except FramingBroken as broken:
            raise StreamBroken("framing") from broken
        except EventTooLarge as broken:
            raise StreamBroken("frame_size") from broken

    def end(self) -> None:
        """The response has come to its end; StreamBroken unless the terminal was the last of it."""
        try:
            self._frames.end()
        except FramingBroken as broken:
            raise StreamBroken("interrupted") from broken
        if not self._events.ended:
            raise StreamBroken("interrupted")

    def _read(self, frame: bytes) -> StreamEvent:
        event = self._events.read(frame[_LINE])
        if self._lineage:
            if any(getattr(event, name) != value for name, value in self._lineage.items()):
                raise StreamBroken("lineage")
            self._lineage = {}  # every later event has the ids of the first
        return event


class ArrivingEvents:
    """The events of one response, given out as their bytes arrive: `pieces` is its body, `lost` how that breaks off.

    What was sound before a break is given out before the break is raised. The terminal is given out once nothing
    followed it; that the response does not end properly then does not change what it said.
    """

    def __init__(self, pieces: AsyncIterator[bytes], frames: ResultFrames, lost: type[Exception]) -> None:
        self.silence_seconds = 30.0
        """A comment comes after 8 s without an event, so a silence of this length is a dead connection."""
        self._pieces = pieces
        self._frames = frames
        self._lost = lost
        self._waiting: deque[StreamEvent] = deque()
        self._break: StreamBroken | None = None
        self._at_end = False

    async def upcoming(self) -> StreamEvent:
        """The next event, without taking it."""
        while not self._waiting:
            await self._receive(self.silence_seconds)
        return self._waiting[0]

    async def take(self) -> StreamEvent:
        event = await self.upcoming()
        while event.type not in _GOING_ON and not self._at_end:
            await self._receive(min(_END_SECONDS, self.silence_seconds))
        return self._waiting.popleft()

    async def arrived(self) -> list[StreamEvent]:
        """At least one event, and all others that are here; the terminal always comes alone."""
        await self.upcoming()
        waiting = self._waiting
        count = len(waiting) - (waiting[-1].type not in _GOING_ON)
        return [waiting.popleft() for _ in range(count)] if count else [await self.take()]

    async def _receive(self, seconds: float) -> None:
        if self._break is not None:
            raise self._break
        try:
            async with asyncio.timeout(seconds):
                piece = await anext(self._pieces, None)
            self._read(piece)
        except StreamBroken as broken:
            self._break = broken
        except TimeoutError as error:
            self._stop("deadline" if isinstance(error, self._lost) else "silence", error)
        except self._lost as error:
            self._stop("transfer", error)

    def _read(self, piece: bytes | None) -> None:
        if piece is None:
            self._at_end = True
            self._frames.end()
        else:
            self._waiting.extend(self._frames.feed(piece))

    def _stop(self, rule: str, cause: Exception) -> None:
        self._at_end = True
        if not self._frames.ended:
            self._break = StreamBroken(rule)
            self._break.__cause__ = cause


def _event(line: bytes, *, strict: bool) -> StreamEvent:
    try:
        if strict:
            strict_json.parse(line, strict_json.UNIT_DEPTH)
        return _decoder.decode(line)
    except (msgspec.DecodeError, strict_json.JsonRefused):
        raise StreamBroken("schema") from None


def _require_shape(event: StreamEvent) -> None:
    is_chunk, has_failed = event.type is StreamEventType.CHUNK, event.type in _FAILURES
    error = event.error
    if (
        event.status != STATUS_OF_STREAM_EVENT[event.type]
        or (event.type is StreamEventType.ACCEPTED) != (event.sequence == 0)
        or is_chunk != (event.chunk is not msgspec.UNSET)
        or is_chunk != (event.chunk_index is not msgspec.UNSET)
        or has_failed != (error is not msgspec.UNSET)
    ):
        raise StreamBroken("schema")
    if error is not msgspec.UNSET:
        own = _OWN_CODES.get(event.type)
        wrong = error.code is not own if own is not None else error.code in _OWN_CODES.values()
        if wrong or not fits(error.code, error.reason):
            raise StreamBroken("schema")
