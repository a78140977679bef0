"""Reads the sequence again: numbers without a gap, in the right order, figures that count right, and the tree."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from aop.ledger.figures.counting import NUMBERS_IN_TILE, TILES_IN_RUN
from aop.ledger.figures.hours import FigureRow
from aop.ledger.figures.tiles import counted, rows_of_run, rows_of_tile
from aop.ledger.tree.check import tree_problems
from aop.store.database import Connection

_BATCH: Final = 500
# The numbers of Invocations that were created in a span.
_SPAN: Final = """
SELECT min(number), max(number) FROM ledger.number JOIN ledger.invocation USING (invocation_id, root_task_id)
 WHERE ($1::timestamptz IS NULL OR created_at >= $1) AND ($2::timestamptz IS NULL OR created_at < $2)
"""
_NUMBERS: Final = """
SELECT number.number, number.number <> number.expected AS has_gap, NOT EXISTS (
           SELECT FROM ledger.detached_month AS gone
            WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)
       AND (invocation.invocation_id IS NULL OR number.workspace_id <> invocation.workspace_id
       OR CASE WHEN number.sequence = 0
               THEN number.events <> CASE invocation.opening WHEN 'started' THEN 3 WHEN 'routing' THEN 2 ELSE 1 END
               ELSE event.type IS NULL OR number.is_terminal <> (event.type <> 'stream') END) AS is_wrong,
       number.sequence > 0 AND NOT EXISTS (
           SELECT FROM ledger.number AS before WHERE before.invocation_id = number.invocation_id
              AND before.sequence + before.events = number.sequence AND before.number < number.number)
       OR number.sequence = 0 AND invocation.parent_invocation_id IS NOT NULL AND NOT EXISTS (
           SELECT FROM ledger.number AS parent WHERE parent.invocation_id = invocation.parent_invocation_id
              AND parent.sequence = 0 AND parent.number < number.number) AS is_early
  FROM (SELECT *, lag(number + events, 1, number) OVER (ORDER BY number) AS expected
          FROM ledger.number WHERE number BETWEEN $1 AND $2) AS number
  LEFT JOIN ledger.invocation USING (invocation_id, root_task_id)
  LEFT JOIN ledger.event ON event.invocation_id = number.invocation_id AND event.root_task_id = number.root_task_id
       AND event.sequence = number.sequence
 ORDER BY number.number
"""
_BELOW_MARK: Final = """
SELECT invocation.invocation_id FROM ledger.invocation
 WHERE ($1::timestamptz IS NULL OR created_at >= $1) AND ($2::timestamptz IS NULL OR created_at < $2)
   AND position < (SELECT max(position) FROM ledger.numbered_position AS mark
                    WHERE mark.router_id = invocation.router_id AND mark.epoch = invocation.epoch)
   AND NOT EXISTS (SELECT FROM ledger.number
                    WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0)
"""
_UNENDED: Final = """
SELECT opened.number FROM ledger.number AS opened
 WHERE opened.number BETWEEN $1 AND $2 AND opened.sequence = 0
   AND opened.number < (SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1)
   AND NOT EXISTS (SELECT FROM ledger.number AS ended
                    WHERE ended.invocation_id = opened.invocation_id AND ended.is_terminal)
"""
_DETACHED_TILES: Final = f"""
SELECT DISTINCT number / {NUMBERS_IN_TILE} FROM ledger.number JOIN ledger.detached_month AS gone
    ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root
 WHERE number BETWEEN $1 AND $2
"""  # noqa: S608  a number of our own
_ROWS: Final = """
SELECT workspace_id, width, extract(epoch FROM start)::bigint, cell, parts
  FROM ledger.figure WHERE edition = $1 AND level = $2 AND tile = $3
"""

Problem = tuple[str, str]
"""What it is about, and what is wrong."""


async def sequence_problems(
    connection: Connection, since: datetime | None, until: datetime | None
) -> AsyncGenerator[Problem, None]:
    """Of the Invocations that were created in a span. What has no number yet is no problem."""
    async for row in connection.cursor(_BELOW_MARK, since, until, prefetch=_BATCH):
        yield f"inv_{row[0].hex}", "has no number although its position counts as numbered"
    first, last = await connection.fetchrow(_SPAN, since, until)
    if first is None:
        return
    async for row in connection.cursor(_NUMBERS, first, last, prefetch=_BATCH):
        number, has_gap, is_wrong, is_early = row
        if has_gap:
            yield f"number {number}", "does not follow the one before it"
        if is_wrong:
            yield f"number {number}", "is not of the row that it names"
        if is_early:
            yield f"number {number}", "stands before its parent's or its own earlier event"
    async for row in connection.cursor(_UNENDED, first, last, prefetch=_BATCH):
        yield f"number {row[0]}", "counts as settled, and its terminal has no number"
    async for problem in _tile_problems(connection, first, last):
        yield problem
    async for problem in tree_problems(connection, first, last):
        yield problem


async def _tile_problems(connection: Connection, first: int, last: int) -> AsyncGenerator[Problem, None]:
    """Tiles of level 0 against the rows of the Ledger, and those of level 1 against level 0."""
    newest, in_run = await counted(connection), NUMBERS_IN_TILE * TILES_IN_RUN
    detached = {row[0] for row in await connection.fetch(_DETACHED_TILES, first - first % NUMBERS_IN_TILE, last)}
    for tile in range(first // NUMBERS_IN_TILE, min(newest.tiles, last // NUMBERS_IN_TILE + 1)):
        if tile in detached:
            continue  # its calls cannot be counted again
        there = await connection.fetch(_ROWS, newest.edition, 0, tile)
        for row in await _differing(there, rows_of_tile(connection, tile)):
            yield f"tile {tile}", _miscount(row)
    for tile in range(first // in_run, min(newest.runs, last // in_run + 1)):
        there = await connection.fetch(_ROWS, newest.edition, 1, tile)
        for row in await _differing(there, rows_of_run(connection, newest.edition, tile)):
            yield f"tile {tile} of level 1", _miscount(row)


async def _differing(there: Sequence[Sequence[Any]], right: AsyncIterator[FigureRow]) -> Sequence[FigureRow]:
    """One of each Workspace, width and start, be it too much, missing or wrong."""
    differing = {FigureRow(*row) for row in there} ^ {row async for row in right}
    return list({(row.workspace_id, row.width, row.start): row for row in sorted(differing, key=repr)}.values())


def _miscount(row: FigureRow) -> str:
    start = datetime.fromtimestamp(row.start, UTC).isoformat()
    return f"does not count the calls of Workspace {row.workspace_id} in {row.width} s from {start} as they are"
