"""Of which cells the figures of a window are made: of the widest ones that lie in one of its steps each."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aop.contracts.figures import Window
from aop.ledger.figures.cells import WIDTHS


class Piece(NamedTuple):
    """Cells of one width that follow each other, from a start to before another, in seconds since 1970."""

    width: int
    first: int
    past: int


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
    for start in range(since, until, step):
        yield from _widest(start, min(start + step, until), WIDTHS)


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
