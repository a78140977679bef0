"""Stream Event v2 as frames: numbered without gaps, business content spliced in as bytes."""

from collections.abc import Sequence

import msgspec

from aop.base.json import compact
from aop.contracts.identity import Lineage
from aop.contracts.invocation import (
    STATUS_OF_STREAM_EVENT,
    CorrelatedError,
    StreamEvent,
    StreamEventType,
    correlated_error,
)
from aop.contracts.lineage import EventType
from aop.ledger.model import Terminal
from aop.net.sse import CR, LF, frame

_TERMINALS = {
    EventType.SUCCEEDED: StreamEventType.COMPLETED,
    EventType.FAILED: StreamEventType.FAILED,
    EventType.CANCELED: StreamEventType.CANCELED,
    EventType.TIMED_OUT: StreamEventType.TIMED_OUT,
}
_BEGIN, _VALUE, _END = b'data: {"schemaVersion":"2","sequence":', b',"chunk":', b"}\n\n"
_NUMBER_DIGITS = 20
_encode = msgspec.json.Encoder().encode
_WRITTEN_NUMBERS = [b"%d" % number for number in range(1024)]
"""Most streams are not longer, and to write a number takes a third of what their frames take."""


class FrameTooLarge(Exception):
    """The chunk does not fit into a frame; it has used up no number."""


class FrameWriter:
    def __init__(self, lineage: Lineage, max_bytes: int) -> None:
        self._lineage = lineage
        self._max_bytes = max_bytes
        self._chunk_members = (
            b',"type":"chunk","status":"running","invocationId":"%b","rootTaskId":"%b","traceId":"%b","chunkIndex":'
        ) % (
            lineage.invocation.encode("ascii"),
            lineage.root_task.encode("ascii"),
            lineage.trace.encode("ascii"),
        )
        self._sequence = 0
        self.chunks = 0
        around = len(_BEGIN) + len(self._chunk_members) + len(_VALUE) + len(_END) + 2 * _NUMBER_DIGITS
        self.fitting_bytes = max_bytes - around
        """A value that is no longer fits into a frame whatever its number is."""

    def accepted(self) -> bytes:
        return self._event(StreamEventType.ACCEPTED)

    def chunk(self, value: bytes) -> tuple[bytes, int]:
        """The frame, and how many bytes of JSON the chunk has in it."""
        # Line ends can only stand between tokens: inside strings JSON escapes them.
        line = compact(value) if LF in value or CR in value else value
        framed = b'data: {"schemaVersion":"2","sequence":%d%b%d,"chunk":%b}\n\n' % (
            self._sequence,
            self._chunk_members,
            self.chunks,
            line,
        )
        if len(framed) > self._max_bytes:
            raise FrameTooLarge
        self._sequence += 1
        self.chunks += 1
        return framed, len(line)

    def several(self, values: Sequence[bytes]) -> tuple[bytes, int]:
        """The same for values that all fit: their frames in one piece, which costs half as much."""
        text = b"".join(values)
        if LF in text or CR in text:
            values = [compact(value) if LF in value or CR in value else value for value in values]
            text = b"".join(values)
        count, sequence, index = len(values), self._sequence, self.chunks
        parts = [_BEGIN, b"", self._chunk_members, b"", _VALUE, b"", _END] * count
        parts[1::7] = _numbers(sequence, count)
        parts[3::7] = _numbers(index, count)
        parts[5::7] = values
        self._sequence += count
        self.chunks += count
        return b"".join(parts), len(text)

    def terminal(self, terminal: Terminal) -> bytes:
        return self._event(_TERMINALS[terminal.type], terminal)

    def _event(self, kind: StreamEventType, terminal: Terminal | None = None) -> bytes:
        error: CorrelatedError | msgspec.UnsetType = msgspec.UNSET
        if terminal is not None and terminal.error is not None:
            error = correlated_error(terminal.error, terminal.reason, self._lineage)
        event = StreamEvent(
            schema_version="2",
            sequence=self._sequence,
            type=kind,
            status=STATUS_OF_STREAM_EVENT[kind],
            **self._lineage.ids,
            error=error,
        )
        self._sequence += 1
        return frame(_encode(event))


def _numbers(first: int, count: int) -> list[bytes]:
    if first + count <= len(_WRITTEN_NUMBERS):
        return _WRITTEN_NUMBERS[first : first + count]
    return [b"%d" % number for number in range(first, first + count)]
