"""Reads the tree again: its leaves from the rows of the Ledger, every tile and every head over them."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Final

from aop.ledger.tree import store
from aop.ledger.tree.hashing import Peaks, pyramid, subtrees
from aop.ledger.tree.nodes import peaks_over
from aop.ledger.tree.store import TILE, HeadRow, LeafCache, NumberedRows, TileRow, TreeBroken
from aop.store.database import Connection

Problem = tuple[str, str]
"""What it is about, and what is wrong."""
AT_ONCE: Final = 32 * TILE
"""How many leaves are made from rows that are read together."""


class TreeCheck:
    """Goes through the tree from one tile on, with the rows of some tiles at a time."""

    def __init__(self, connection: Connection, size: int, peaks: Peaks) -> None:
        self._connection = connection
        self._peaks = peaks
        self.size = size
        """Where the tree ends. What is not in it yet is no problem."""

    @classmethod
    async def begun(cls, connection: Connection, first: int) -> "TreeCheck | None":
        """From the tile of a number on; None if the tree has not reached it."""
        newest = await store.newest_head(connection)
        if newest is None or newest.size <= first - first % TILE:
            return None
        return cls(connection, newest.size, await peaks_over(connection, first // TILE))

    async def problems(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Problem, None]:
        """Of the tiles and heads over a range that begins at a tile, behind those before it."""
        past = min(past, self.size)
        hashes = await store.hashes_of(self._connection, rows, first, past)
        heads = await store.heads_between(self._connection, first, past)
        expected = list[TileRow]()
        for begin in range(first, past, TILE):
            leaves = hashes[begin - first : begin - first + TILE]
            levels = pyramid(leaves)
            for head in _wrong_heads(self._peaks, levels, [each for each in heads if 0 < each.size - begin <= TILE]):
                yield f"head {head.size}", "is not the root over the events before it"
            if len(leaves) == TILE:
                root = levels[-1][0]
                expected.append(TileRow(0, self._peaks.tiles, root, b"".join(leaves)))
                expected += [TileRow(*completed, None) for completed in self._peaks.add(root)]
        there = await store.tiles_of(self._connection, [(each.level, each.tile) for each in expected])
        for row in _differing(expected, there):
            yield f"tile {row.tile} of level {row.level} of the tree", "is not over its events"


def _wrong_heads(peaks: Peaks, levels: Sequence[Sequence[bytes]], heads: Sequence[HeadRow]) -> Iterator[HeadRow]:
    """Of one tile, from the perfect subtrees of its leaves, so that each head takes a few hashes alone."""
    for head in heads:
        if peaks.root_behind(subtrees(levels, head.size - peaks.tiles * TILE)) != head.root:
            yield head


def _differing(expected: Sequence[TileRow], there: Mapping[tuple[int, int], TileRow]) -> Iterator[TileRow]:
    return (each for each in expected if there.get((each.level, each.tile)) != each)


async def tree_problems(connection: Connection, first: int, last: int) -> AsyncGenerator[Problem, None]:
    """Of the tiles and heads over a range of numbers. What is not in the tree yet is no problem."""
    cache = LeafCache()
    try:
        check = await TreeCheck.begun(connection, first)
        if check is None:
            return
        past = min(check.size, (last // TILE + 1) * TILE)
        for begin in range(first - first % TILE, past, AT_ONCE):
            end = min(begin + AT_ONCE, past)
            rows = await store.rows_between(connection, begin, end, cache)
            async for problem in check.problems(rows, begin, end):
                yield problem
    except TreeBroken as broken:
        yield "the tree", str(broken)
