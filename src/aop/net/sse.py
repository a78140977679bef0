"""Server-sent events: our own framing, a strict reader of it, and a standard parser for what others send."""

from collections.abc import Iterable, Iterator
from typing import Final

COMMENT: Final = b":\n\n"

# `in` finds a number in bytes directly; for a bytes object CPython first raises and drops an exception inside.
LF: Final = 0x0A
CR: Final = 0x0D

_PREFIX: Final = b"data: "
_END: Final = b"\n\n"
_BETWEEN: Final = _END + _PREFIX
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """An event, or what has arrived of it, passed the limit."""


class FramingBroken(Exception):
    """Not a frame of ours: one `data: ` line and an empty line, or the comment."""


def frame(line: bytes) -> bytes:
    """One event of one line; ValueError when it is more than one."""
    if LF in line or CR in line:
        raise ValueError("an event is a single line")
    return b"data: %b\n\n" % line


class EventParser:
    """The data of each event of a standard stream, however its bytes are cut.

    `id`, `event`, `retry`, comments and unknown fields are read and dropped; an event without data is none;
    what no empty line has ended when the stream ends is not an event. The limit counts an event from its
    first byte to the end of its empty line, with every line end as one byte.
    """

    def __init__(self, max_event: int) -> None:
        self._max_event = max_event
        self._buffer = bytearray()
        self._searched = 0
        self._after_cr = False
        self._started = False

    def feed(self, piece: bytes) -> Iterable[bytes]:
        """Events in order; EventTooLarge comes after those that were complete before it. A list if all are simple."""
        if self._started and not self._buffer and not self._after_cr and _is_whole(piece):
            return self._split(piece[6:-2])
        if self._after_cr and piece[:1] == b"\n":
            piece = piece[1:]
            self._after_cr = False
        if piece:
            self._after_cr = piece.endswith(b"\r")
            if CR in piece:
                piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            self._buffer += piece
        return self._events()

    def _events(self) -> Iterable[bytes]:
        buffer = self._buffer
        if not self._started and not self._start():
            return ()
        last = buffer.rfind(_END, self._searched)
        ended = bytes(buffer[: max(last, 0)])
        if last >= 0:
            del buffer[: last + 2]
        self._searched = max(0, len(buffer) - 1)
        events = self._split(ended[6:]) if ended.startswith(_PREFIX) else _any_events(ended, self._max_event - 2)
        # What is left holds no empty line, so at max_bytes one line end stands in front of the next event.
        return _refused_behind(events) if len(buffer) - buffer.startswith(b"\n") > self._max_event else events

    def _split(self, ended: bytes) -> Iterable[bytes]:
        """Of events that begin with data, without the prefix of the first and the line ends of the last."""
        events = ended.split(_BETWEEN)
        if LF not in b"".join(events) and max(map(len, events)) <= self._max_event - 8:
            return events  # nothing but a line of data each, as nearly always
        return self._read_each(events)

    def _read_each(self, events: list[bytes]) -> Iterator[bytes]:
        max_bytes = self._max_event - 2
        for rest in events:
            if LF in rest or len(rest) > max_bytes - 6:
                yield from _any_events(_PREFIX + rest, max_bytes)
            else:
                yield rest

    def _start(self) -> bool:
        """False while the first bytes may still become a byte order mark."""
        if len(self._buffer) < 3 and _BYTE_ORDER_MARK.startswith(bytes(self._buffer)):
            return False
        if self._buffer.startswith(_BYTE_ORDER_MARK):
            del self._buffer[:3]
        self._started = True
        return True


def _refused_behind(events: Iterable[bytes]) -> Iterator[bytes]:
    yield from events
    raise EventTooLarge


def _is_whole(piece: bytes) -> bool:
    """Whether it begins and ends with an event, as what a peer writes at once nearly always does."""
    return piece.startswith(_PREFIX) and piece.endswith(_END) and CR not in piece


def _any_events(ended: bytes, max_bytes: int) -> Iterator[bytes]:
    for block in ended.split(_END):
        event = block.strip(b"\n")  # line ends between two events belong to neither
        if len(event) > max_bytes:
            raise EventTooLarge
        if (joined := _joined_lines(event)) is not None:
            yield joined


def _joined_lines(block: bytes) -> bytes | None:
    lines = []
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" "))
    return b"\n".join(lines) if lines else None


class FrameReader:
    """Whole frames of our own framing, comments included, ready to be forwarded as they are."""

    def __init__(self, max_frame: int) -> None:
        self._max_frame = max_frame
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Frames in order; FramingBroken or EventTooLarge comes after those that were complete before it."""
        self._buffer += piece
        return self._frames()

    def whole_events(self, piece: bytes) -> list[bytes] | None:
        """The lines, without their prefix, of a piece that is nothing but whole events; it counts as read then. None
        leaves it to `feed`, which also says what is wrong."""
        if self._buffer or not _is_whole(piece):
            return None
        lines = piece[6:-2].split(_BETWEEN)
        if LF in b"".join(lines) or max(map(len, lines)) + 8 > self._max_frame:
            return None
        return lines

    def end(self) -> None:
        """The stream has ended; FramingBroken when that cut a frame."""
        if self._buffer:
            raise FramingBroken("the stream ended inside a frame")

    def _frames(self) -> Iterator[bytes]:
        buffer, start = self._buffer, 0
        try:
            while start < len(buffer):
                line_end = buffer.find(b"\n", self._searched)
                stop = len(buffer) if line_end < 0 else line_end
                self._require_line(bytes(buffer[start : start + 6]), ended=line_end >= 0)
                if buffer.find(b"\r", self._searched, stop) >= 0:
                    raise FramingBroken("a carriage return")
                # Both line ends count; while the line has no end yet, they are still to come.
                if stop - start + 2 > self._max_frame:
                    raise EventTooLarge
                self._searched = stop
                if stop + 1 >= len(buffer):
                    return
                if buffer[stop + 1] != 0x0A:
                    raise FramingBroken("a frame of more than one line")
                whole = bytes(buffer[start : stop + 2])
                start = self._searched = stop + 2
                yield whole
        finally:
            del buffer[:start]
            self._searched -= start

    @staticmethod
    def _require_line(head: bytes, *, ended: bool) -> None:
        if head == _PREFIX or head.startswith(b":\n"):
            return
        if ended or not (_PREFIX.startswith(head) or head == b":"):
            raise FramingBroken("neither an event nor the comment")
