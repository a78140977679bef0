"""Reads the sequence again: numbers without a gap, in the right order, figures that count right, and the tree."""

from collections.abc import AsyncGenerator, Callable
from typing import Final

from aop.ledger.check.figures import FiguresCheck
from aop.ledger.check.tree import AT_ONCE, Breach, TreeCheck
from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.ledger.figures.tiles import tile_counts
from aop.ledger.tree import store
from aop.ledger.tree.store import LeafCache, NumberedRows, TreeBroken
from aop.store.database import Connection
from aop.store.queries import queries_beside

IN_TREE_SECONDS: Final = 60
"""An event that has had its number for longer should be in the tree."""
_QUERIES: Final = queries_beside(__file__)

Progress = Callable[[int, int], None]
"""Takes how many numbers were read, of how many."""


async def lost_numbers(connection: Connection) -> AsyncGenerator[Breach, None]:
    """Of the newest ones, which no later number shows."""
    counted = (await tile_counts(connection)).tiles * NUMBERS_IN_TILE
    in_tiles = await store.leaves_in_tiles(connection)
    for past, reach, witness in await connection.fetch(_QUERIES["lost_numbers"], counted, in_tiles):
        yield Breach(f"numbers {past} to {reach - 1}", f"are gone: {witness} has them")


class SequenceCheck:
    """Of a range of numbers, some thousand at a time, each with its figures and its part of the tree.

    `numbers` counts those whose rows were read, `unproven` those that should be in the tree and are under no head.
    """

    def __init__(self, connection: Connection, first: int, last: int) -> None:
        self._connection = connection
        self._first, self._last = first, last
        self._tree: TreeCheck | None = None
        self.numbers = self.in_tree = self.heads = self.unproven = 0

    async def breaches(self, tell: Progress) -> AsyncGenerator[Breach, None]:
        figures, cache = await FiguresCheck.begun(self._connection), LeafCache()
        begin = self._first - self._first % NUMBERS_IN_TILE
        past = (self._last // NUMBERS_IN_TILE + 1) * NUMBERS_IN_TILE
        async for breach in self._without_witness():
            yield breach
        try:
            self._tree = await TreeCheck.begun(self._connection, begin)
        except TreeBroken as broken:
            yield Breach("the tree", str(broken))
        while begin < past:
            end = min(begin + AT_ONCE, past)
            rows = await store.rows_between(self._connection, begin, end, cache)
            self._count(rows, begin)
            for check in (self._numbers, figures.breaches, self._in_tree):
                async for breach in check(rows, begin, end):
                    yield breach
            tell(min(end, self._last + 1) - self._first, self._last + 1 - self._first)
            begin = await self._next(rows, end)
        async for breach in figures.sums(self._first, self._last):
            yield breach

    async def _without_witness(self) -> AsyncGenerator[Breach, None]:
        """Numbers of which no batch of the sequencer is there, and tiles of which no head is."""
        for first, past in await self._connection.fetch(_QUERIES["lone_numbers"], self._first, self._last):
            yield Breach(f"numbers {first} to {past - 1}", "are of no batch of the sequencer")
        newest, tiles = await store.newest_head(self._connection), await store.leaves_in_tiles(self._connection)
        size = 0 if newest is None else newest.size
        if size < tiles:
            yield Breach("the tree", f"has tiles over {tiles} events, and heads over the first {size} alone")
        numbered = await self._connection.fetchval(_QUERIES["numbered_before"], IN_TREE_SECONDS)
        self.unproven = max(0, min(numbered, self._last + 1) - max(size, self._first))

    def _count(self, rows: NumberedRows, begin: int) -> None:
        first, last = max(begin, self._first), self._last
        self.numbers += sum(events for number, _, events, _ in rows.openings if first <= number <= last)
        self.numbers += sum(first <= row[0] <= last for row in rows.events)

    async def _next(self, rows: NumberedRows, end: int) -> int:
        """Where to go on: after a gap, which may be as wide as numbers are."""
        if rows.openings or rows.events:
            return end
        number = await self._connection.fetchval(_QUERIES["next_number"], end)
        return end if number is None else max(end, number - number % NUMBERS_IN_TILE)

    async def _numbers(self, _: NumberedRows, start: int, end: int) -> AsyncGenerator[Breach, None]:
        first, past = max(start, self._first), min(end, self._last + 1)
        for number, problem in await self._connection.fetch(_QUERIES["judge_numbers"], first, past, self._first):
            yield Breach(f"number {number}", problem)

    async def _in_tree(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Breach, None]:
        tree = self._tree
        if tree is None or first >= tree.size:
            return
        try:
            async for breach in tree.breaches(rows, first, past):
                yield breach
            self.heads = tree.heads
            self.in_tree += max(0, min(past, tree.size, self._last + 1) - max(first, self._first))
        except TreeBroken as broken:
            self._tree = None
            yield Breach("the tree", str(broken))
