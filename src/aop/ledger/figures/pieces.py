"""Of which cells the figures of a window are made: of the widest ones that lie in one of its steps each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aop.contracts.figures import Window
from aop.ledger.figures.hours import DAY, FIVE_MINUTES, HOUR, MINUTE

WIDTHS: Final = (DAY, HOUR, FIVE_MINUTES, MINUTE)


class Piece(NamedTuple):
    """Cells of one width that follow each other, from a start to before another, in seconds since 1970."""

    width: int
    first: int
    past: int


class RowRange(NamedTuple):
    """Rows of one width that follow each other, and whether their parts are read instead of their own cells."""

    width: int
    first: int
    past: int
    in_parts: bool


@dataclass(frozen=True)
class Plan:
    """What is read of a window, and to which step each cell belongs."""

    since: int
    step: int
    ranges: Sequence[RowRange]
    parts: dict[tuple[int, int], int]
    """The step of each part by its width and start."""

    def step_of(self, start: int) -> int:
        """Of a row that is read with its own cell."""
        return (start - self.since) // self.step


def plan_of(window: Window) -> Plan:
    since = int(window.since.timestamp())
    ranges, parts = list[RowRange](), dict[tuple[int, int], int]()
    for width, first, past in pieces_of(window):
        if width >= HOUR:
            ranges.append(RowRange(width, first, past, in_parts=False))
            continue
        parts |= {(width, start): (start - since) // window.step for start in range(first, past, width)}
        hours = RowRange(HOUR, first - first % HOUR, -(-past // HOUR) * HOUR, in_parts=True)
        if ranges and ranges[-1].in_parts and ranges[-1].past >= hours.first:
            hours = hours._replace(first=ranges.pop().first)
        ranges.append(hours)
    return Plan(since, window.step, ranges, parts)


def pieces_of(window: Window) -> Sequence[Piece]:
    """In order of time. Neighbours of one width are one piece, also over several steps."""
    pieces = list[Piece]()
    for piece in _of_steps(int(window.since.timestamp()), int(window.until.timestamp()), window.step):
        if pieces and (pieces[-1].width, pieces[-1].past) == (piece.width, piece.first):
            pieces[-1] = pieces[-1]._replace(past=piece.past)
        else:
            pieces.append(piece)
    return pieces


def _of_steps(since: int, until: int, step: int) -> Iterator[Piece]:
    widths = [width for width in WIDTHS if width <= step]
    for start in range(since, until, step):
        yield from _widest(start, min(start + step, until), widths)


def _widest(since: int, until: int, widths: Sequence[int]) -> Iterator[Piece]:
    width, narrower = widths[0], widths[1:]
    first, past = -(-since // width) * width, until // width * width
    if first >= past:
        if narrower:
            yield from _widest(since, until, narrower)
        return
    if since < first:
        yield from _widest(since, first, narrower)
    yield Piece(width, first, past)
    if past < until:
        yield from _widest(past, until, narrower)
