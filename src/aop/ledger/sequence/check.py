"""Reads the sequence again: numbers without a gap, in the right order, figures that count right, and the tree."""

from collections.abc import AsyncGenerator, Callable
from typing import Final

from aop.ledger.figures.check import FiguresCheck
from aop.ledger.figures.counting import NUMBERS_IN_TILE
from aop.ledger.sequence.chains import NumberedChains
from aop.ledger.tree import store
from aop.ledger.tree.check import AT_ONCE, Problem, TreeCheck
from aop.ledger.tree.store import LeafCache, NumberedRows, TreeBroken
from aop.store.database import Connection

IN_TREE_SECONDS: Final = 60
"""An event that has had its number for longer should be in the tree."""
# Only what is wrong leaves the server. The number that a row should have is behind the row before it, of which the
# first of a range is told.
_NUMBERS: Final = """
SELECT * FROM (
SELECT number.number, number.number <> number.expected AS has_gap, NOT EXISTS (
           SELECT FROM ledger.detached_month AS gone
            WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)
       AND (invocation.opening IS NULL OR number.workspace_id <> invocation.workspace_id
       OR CASE WHEN number.sequence = 0
               THEN number.events <> CASE invocation.opening WHEN 'started' THEN 3 WHEN 'routing' THEN 2 ELSE 1 END
               ELSE event.type IS NULL OR number.is_terminal <> (event.type <> 'stream') END) AS is_wrong,
       number.sequence > 0 AND (
           SELECT true FROM ledger.number AS before WHERE before.invocation_id = number.invocation_id
              AND before.sequence < number.sequence AND before.sequence >= number.sequence - 3
              AND before.sequence + before.events = number.sequence AND before.number < number.number
            LIMIT 1) IS NULL
       OR number.sequence = 0 AND invocation.parent_invocation_id IS NOT NULL AND (
           SELECT true FROM ledger.number AS parent WHERE parent.invocation_id = invocation.parent_invocation_id
              AND parent.sequence = 0 AND parent.number < number.number) IS NULL AS is_early
  FROM (SELECT *, coalesce(lag(number + events) OVER (ORDER BY number), $3::bigint, number) AS expected
          FROM ledger.number WHERE number >= $1 AND number < $2) AS number
  LEFT JOIN LATERAL (SELECT workspace_id, opening, parent_invocation_id FROM ledger.invocation AS one
                      WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                     OFFSET 0) AS invocation ON true
  LEFT JOIN LATERAL (SELECT type FROM ledger.event AS one
                      WHERE one.invocation_id = number.invocation_id AND one.sequence = number.sequence
                        AND one.root_task_id = number.root_task_id AND number.sequence > 0
                     OFFSET 0) AS event ON true) AS judged
 WHERE has_gap OR is_wrong OR is_early
 ORDER BY number
"""
_END: Final = "SELECT number + events FROM ledger.number WHERE number < $1 ORDER BY number DESC LIMIT 1"
_UNENDED: Final = """
SELECT opened.number FROM ledger.number AS opened
 WHERE opened.number = ANY($1) AND opened.sequence = 0
   AND opened.number < (SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1)
   AND (SELECT true FROM ledger.number AS ended
         WHERE ended.invocation_id = opened.invocation_id AND ended.is_terminal LIMIT 1) IS NULL
"""
# Each batch of the sequencer begins where the one before it ended, and together they are all numbers.
_BATCHES: Final = """
WITH batch AS (SELECT first, past, lag(past, 1, least(first, $1)) OVER (ORDER BY first) AS expected
                 FROM ledger.numbering WHERE past > $1 AND first <= $2)
SELECT expected, first FROM batch WHERE first <> expected
UNION ALL
SELECT * FROM (SELECT coalesce(max(past), $1) AS past, $2 + 1 FROM batch) AS last WHERE past <= $2
"""
# What was numbered so long ago that a Router which runs would have put it into the tree.
_SETTLED: Final = f"""
SELECT coalesce((SELECT past FROM ledger.numbering WHERE numbered_at < now() - interval '{IN_TREE_SECONDS} s'
                  ORDER BY first DESC LIMIT 1), 0)
"""  # noqa: S608  a number of our own
_MAX_RUNNING: Final = 100_000
_WRONG: Final = (
    "does not follow the one before it",
    "is not of the row that it names",
    "stands before its parent's or its own earlier event",
)

Progress = Callable[[int, int], None]
"""Takes how many numbers were read, of how many."""


class SequenceCheck:
    """Of a range of numbers, some thousand at a time: a row is read once for its number, the figures and the tree.

    `numbers` counts those whose rows were read, `unproven` those that should be in the tree and are under no head.
    """

    def __init__(self, connection: Connection, first: int, last: int) -> None:
        self._connection = connection
        self._first, self._last = first, last
        self._chains = NumberedChains()
        self._tree: TreeCheck | None = None
        self.numbers = self.in_tree = self.heads = self.unproven = 0

    async def problems(self, tell: Progress) -> AsyncGenerator[Problem, None]:
        figures, cache = await FiguresCheck.begun(self._connection), LeafCache()
        begin = self._first - self._first % NUMBERS_IN_TILE
        past = (self._last // NUMBERS_IN_TILE + 1) * NUMBERS_IN_TILE
        async for problem in self._without_witness():
            yield problem
        try:
            self._tree = await TreeCheck.begun(self._connection, begin)
        except TreeBroken as broken:
            yield "the tree", str(broken)
        while begin < past:
            end = min(begin + AT_ONCE, past)
            rows = await store.rows_between(self._connection, begin, end, cache)
            self._count(rows, begin)
            for judge in (self._numbers, figures.problems, self._in_tree):
                async for problem in judge(rows, begin, end):
                    yield problem
            tell(min(end, self._last + 1) - self._first, self._last + 1 - self._first)
            begin = await self._behind(rows, end)
        async for problem in self._unended(0):
            yield problem
        async for problem in figures.sums(self._first, self._last):
            yield problem

    async def _without_witness(self) -> AsyncGenerator[Problem, None]:
        """Numbers of which no batch of the sequencer is there, and tiles of which no head is."""
        for first, past in await self._connection.fetch(_BATCHES, self._first, self._last):
            yield f"numbers {first} to {past - 1}", "are of no batch of the sequencer"
        newest, tiles = await store.newest_head(self._connection), await store.leaves_in_tiles(self._connection)
        size = 0 if newest is None else newest.size
        if size < tiles:
            yield "the tree", f"has tiles over {tiles} events, and heads over the first {size} alone"
        settled = await self._connection.fetchval(_SETTLED)
        self.unproven = max(0, min(settled, self._last + 1) - max(size, self._first))

    def _count(self, rows: NumberedRows, begin: int) -> None:
        first, last = max(begin, self._first), self._last
        self.numbers += sum(events for number, _, events, _ in rows.openings if first <= number <= last)
        self.numbers += sum(first <= row[0] <= last for row in rows.events)

    async def _behind(self, rows: NumberedRows, end: int) -> int:
        """Where to go on: behind a gap, which may be as wide as numbers are."""
        if rows.openings or rows.events:
            return end
        number = await self._connection.fetchval("SELECT min(number) FROM ledger.number WHERE number >= $1", end)
        return end if number is None else max(end, number - number % NUMBERS_IN_TILE)

    async def _numbers(self, rows: NumberedRows, start: int, end: int) -> AsyncGenerator[Problem, None]:
        first, past = max(start, self._first), min(end, self._last + 1)
        if not self._chains.follow(rows, first, past):
            expected = None if first == self._first else await self._connection.fetchval(_END, first)
            for number, *found in await self._connection.fetch(_NUMBERS, first, past, expected):
                for wrong, is_found in zip(_WRONG, found, strict=True):
                    if is_found:
                        yield f"number {number}", wrong
        async for problem in self._unended(_MAX_RUNNING):
            yield problem

    async def _unended(self, allowed: int) -> AsyncGenerator[Problem, None]:
        """Looks for the terminals of those that seem to run, once there are more of them than that."""
        if len(self._chains.running) > allowed:
            for row in await self._connection.fetch(_UNENDED, self._chains.forget()):
                yield f"number {row[0]}", "counts as settled, and its terminal has no number"

    async def _in_tree(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Problem, None]:
        tree = self._tree
        if tree is None or first >= tree.size:
            return
        try:
            async for problem in tree.problems(rows, first, past):
                yield problem
            self.heads = tree.heads
            self.in_tree += max(0, min(past, tree.size, self._last + 1) - max(first, self._first))
        except TreeBroken as broken:
            self._tree = None
            yield "the tree", str(broken)
