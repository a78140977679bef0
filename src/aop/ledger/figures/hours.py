"""Rows of figures: one for each hour and one for each day in which a tile counts calls of a Workspace.

The row of an hour has the cells of its five minutes and of its minutes too, behind a list of where each begins.
"""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aop.ledger.figures.cell import Sum

MINUTE: Final = 60
FIVE_MINUTES: Final = 300
HOUR: Final = 3_600
DAY: Final = 86_400
NUMBERS_IN_TILE: Final = 1_024
"""Of level 0."""
TILES_IN_RUN: Final = 64
"""Of level 0 that one tile of level 1 sums. The store knows it too: a row of level 0 names its run."""

_LENGTH: Final = struct.Struct("<H")
# The width of a part, its start within the hour, and where its cell begins.
_PLACE: Final = struct.Struct("<HHI")


class FigureRow(NamedTuple):
    workspace_id: str
    width: int
    start: int
    """In seconds since 1970."""
    cell: bytes
    parts: bytes | None


class RowsOfHours:
    """Makes rows of one hour after the other, in the order of Workspaces and times."""

    def __init__(self) -> None:
        self._workspace_id, self._day, self._hours = "", 0, list[bytes]()

    def add(self, workspace_id: str, hour: int, minutes: Mapping[int, bytes]) -> Iterator[FigureRow]:
        """The row of an hour, from the cells of its minutes by their start, and that of a day that is over."""
        day = hour - hour % DAY
        if (workspace_id, day) != (self._workspace_id, self._day):
            yield from self.end()
        self._workspace_id, self._day = workspace_id, day
        fives = defaultdict[int, list[bytes]](list)
        for start, cell in minutes.items():
            fives[start - start % FIVE_MINUTES].append(cell)
        parts = {(FIVE_MINUTES, start - hour): _summed(cells) for start, cells in fives.items()}
        whole = _summed(list(parts.values()))
        parts |= {(MINUTE, start - hour): cell for start, cell in minutes.items()}
        self._hours.append(whole)
        yield FigureRow(workspace_id, HOUR, hour, whole, _packed_parts(parts))

    def end(self) -> Iterator[FigureRow]:
        """The row of the last day."""
        if self._hours:
            yield FigureRow(self._workspace_id, DAY, self._day, _summed(self._hours), None)
        self._hours = []


def _summed(cells: Sequence[bytes]) -> bytes:
    """One alone, as most are where calls are rare, is its own sum."""
    if len(cells) == 1:
        return cells[0]
    whole = Sum()
    for cell in cells:
        whole.add(cell)
    return whole.take_cell()


def _packed_parts(parts: Mapping[tuple[int, int], bytes]) -> bytes:
    at, places = _LENGTH.size + len(parts) * _PLACE.size, [_LENGTH.pack(len(parts))]
    for (width, start), cell in sorted(parts.items()):
        places.append(_PLACE.pack(width, start, at))
        at += len(cell)
    return b"".join([*places, *(cell for _, cell in sorted(parts.items()))])


def parts_in(parts: bytes) -> Iterator[tuple[int, int, int]]:
    """Of each cell its width, its start within the hour, and where it begins."""
    (length,) = _LENGTH.unpack_from(parts)
    return _PLACE.iter_unpack(parts[_LENGTH.size : _LENGTH.size + length * _PLACE.size])
