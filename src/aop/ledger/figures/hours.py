"""Rows of figures: one for each hour and one for each day in which a tile counts calls of a Workspace.

The row of an hour has the cells of its five minutes and of its minutes too, behind a list of where each begins.
"""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from aop.ledger.figures.cell import Sum

MINUTE: Final = 60
FIVE_MINUTES: Final = 300
HOUR: Final = 3_600
DAY: Final = 86_400

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
        self._workspace_id, self._day, self._sum = "", 0, Sum()
        self._is_begun = False

    def add(self, workspace_id: str, hour: int, minutes: Mapping[int, bytes]) -> Iterator[FigureRow]:
        """The row of an hour, from the cells of its minutes by their start, and that of a day that is over."""
        day = hour - hour % DAY
        if (workspace_id, day) != (self._workspace_id, self._day):
            yield from self.end()
        self._workspace_id, self._day, self._is_begun = workspace_id, day, True
        whole, fives = Sum(), defaultdict[int, Sum](Sum)
        for start, cell in minutes.items():
            fives[start - start % FIVE_MINUTES].add(cell)
        parts = {(FIVE_MINUTES, start - hour): each.take_cell() for start, each in fives.items()}
        for cell in parts.values():
            whole.add(cell)
        parts |= {(MINUTE, start - hour): cell for start, cell in minutes.items()}
        cell = whole.take_cell()
        self._sum.add(cell)
        yield FigureRow(workspace_id, HOUR, hour, cell, _packed_parts(parts))

    def end(self) -> Iterator[FigureRow]:
        """The row of the last day."""
        if self._is_begun:
            yield FigureRow(self._workspace_id, DAY, self._day, self._sum.take_cell(), None)
        self._sum, self._is_begun = Sum(), False


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
