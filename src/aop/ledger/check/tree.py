"""Reads the tree again: its leaves from the rows of the Ledger, every tile and every head over them."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aop.ledger.tree import store
from aop.ledger.tree.hashing import Peaks, pyramid, split, subtrees
from aop.ledger.tree.nodes import peaks_over
from aop.ledger.tree.store import TILE, HeadRow, LeafCache, NumberedRows, TileRow, TreeBroken
from aop.store.database import Connection

AT_ONCE: Final = 32 * TILE
"""How many leaves are made from rows that are read together."""
_MAX_NAMED: Final = 20


class Breach(NamedTuple):
    """One broken invariant: what it is about and what is wrong. Ids and numbers only."""

    about: str
    problem: str


class TreeCheck:
    """Goes through the tree from one tile on, with the rows of some tiles at a time."""

    def __init__(self, connection: Connection, size: int, first: int, peaks: Peaks) -> None:
        self._connection = connection
        self._peaks = peaks
        self._right = first
        self.size = size
        """Where the tree ends. What is not in it yet is no problem."""
        self.heads = 0
        """How many were compared."""

    @classmethod
    async def begun(cls, connection: Connection, first: int) -> "TreeCheck | None":
        """From the tile of a number on; None if the tree has not reached it."""
        newest, begin = await store.newest_head(connection), first - first % TILE
        if newest is None or newest.size <= begin:
            return None
        return cls(connection, newest.size, begin, await peaks_over(connection, first // TILE))

    async def breaches(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Breach, None]:
        """Of the tiles and heads over a range that begins at a tile, behind those before it."""
        past = min(past, self.size)
        hashes = await store.hashes_of(self._connection, rows, first, past)
        heads = await store.heads_between(self._connection, first, past)
        self.heads += len(heads)
        expected, wrong = list[TileRow](), list[HeadRow]()
        for begin in range(first, past, TILE):
            leaves = hashes[begin - first : begin - first + TILE]
            levels = pyramid(leaves)
            wrong += self._wrong_heads(levels, [each for each in heads if 0 < each.size - begin <= TILE])
            if len(leaves) == TILE:
                root = levels[-1][0]
                expected.append(TileRow(0, self._peaks.tiles, root, b"".join(leaves)))
                expected += [TileRow(*completed, None) for completed in self._peaks.add(root)]
        for head in wrong:
            yield Breach(f"head {head.size}", "is not the root over the events before it")
        there = await store.tiles_of(self._connection, [(each.level, each.tile) for each in expected])
        changed = list[int]()
        for row in expected:
            stored = there.get((row.level, row.tile))
            if stored != row:
                yield Breach(f"tile {row.tile} of level {row.level} of the tree", "is not over its events")
                changed += _changed(row, stored)
        names = rows.names() if changed or wrong else {}
        for number in changed:
            about = names.get(number, f"number {number}")
            yield Breach(about, f"its event with number {number} is not the one in the tree")
        if wrong and not changed:
            yield self._between(wrong[0], names)
        for size, before in await store.lost_heads(self._connection, first, past):
            yield Breach(f"head {before}", f"is missing: head {size} followed it")

    def _wrong_heads(self, levels: Sequence[Sequence[bytes]], heads: Sequence[HeadRow]) -> Iterator[HeadRow]:
        """Of one tile, from the perfect subtrees of its leaves, so that each head takes a few hashes alone."""
        for head in heads:
            if self._peaks.root_behind(subtrees(levels, head.size - self._peaks.tiles * TILE)) != head.root:
                yield head
            else:
                self._right = head.size

    def _between(self, head: HeadRow, names: Mapping[int, str]) -> Breach:
        """Where the change is, of leaves whose hashes are not stored: in what the first wrong head added."""
        right = min(self._right, head.size)
        named = list(dict.fromkeys(names[number] for number in range(right, head.size) if number in names))
        of = ", ".join(named[:_MAX_NAMED]) + (" and others" if len(named) > _MAX_NAMED else "")
        return Breach(
            f"numbers {right} to {head.size - 1}",
            f"have an event that head {head.size} is not over; they are of {of}",
        )


def _changed(row: TileRow, stored: TileRow | None) -> Sequence[int]:
    """The numbers of the leaves that are not those of a stored tile."""
    if stored is None or row.hashes is None or stored.hashes is None:
        return ()
    pairs = zip(split(row.hashes), split(stored.hashes), strict=False)
    return [row.tile * TILE + place for place, (made, kept) in enumerate(pairs) if made != kept]


async def tree_breaches(connection: Connection, first: int, last: int) -> AsyncGenerator[Breach, None]:
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
            async for breach in check.breaches(rows, begin, end):
                yield breach
    except TreeBroken as broken:
        yield Breach("the tree", str(broken))
