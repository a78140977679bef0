"""Tiles: what was accepted and what ended in a fixed range of numbers, counted by Workspace and time of acceptance.

A tile is counted once, when all its numbers are given, and never changes: a call that ends later is in a later tile, at
the time at which it was accepted.
"""

from typing import Final

from aop.ledger.figures.cells import ADD_KEYS, CELLS_OF_CELLS, CELLS_OF_ROWS, NUMBERS_IN_TILE, TILES_IN_RUN
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS
from aop.store.database import Connection
from aop.store.rows import Row, to_row

COUNTED: Final = """
SELECT newest.edition,
       (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
         WHERE figure_tile.edition = newest.edition AND level = 0) AS tiles,
       (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
         WHERE figure_tile.edition = newest.edition AND level = 1) AS runs
  FROM (SELECT coalesce(max(edition), 1) AS edition FROM ledger.figure_tile) AS newest
"""
"""The newest edition, how many tiles it has of level 0, and how many of level 1."""
COLUMNS: Final = (
    "workspace_id, edition, level, tile, width, start, keys, calls, first_latency, latency_calls, max_latency_ms"
)
_ADD: Final = f"INSERT INTO ledger.figure ({COLUMNS}) "


class Counted(Row, frozen=True):
    edition: int
    tiles: int
    runs: int


async def counted(connection: Connection) -> Counted:
    return to_row(Counted, await connection.fetchrow(COUNTED))


async def count_next_tile(connection: Connection, past: int) -> bool:
    """Counts the first tile that is not counted, if the numbers before `past` fill it. False when they do not."""
    newest = await counted(connection)
    if newest.tiles == (newest.runs + 1) * TILES_IN_RUN:
        await _count_run(connection, newest.edition, newest.runs)
        return True
    if (newest.tiles + 1) * NUMBERS_IN_TILE > past:
        return False
    await _count_tile(connection, newest.edition, newest.tiles)
    return True


async def begin_edition(connection: Connection) -> int | None:
    """Counts the first tile again, in an edition that counts from now on; the sequencer counts the others. None while
    there is no tile."""
    newest = await counted(connection)
    if newest.tiles == 0:
        return None
    await _count_tile(connection, newest.edition + 1, 0)
    return newest.edition + 1


async def _count_tile(connection: Connection, edition: int, tile: int) -> None:
    """Of level 0."""
    async with connection.transaction():
        await _add_tile(connection, edition, 0, tile)
        await connection.execute(ADD_KEYS, tile)
        await connection.execute(_ADD + CELLS_OF_ROWS, edition, tile, LOWER_BOUNDS)


async def _count_run(connection: Connection, edition: int, tile: int) -> None:
    """Of level 1."""
    async with connection.transaction():
        await _add_tile(connection, edition, 1, tile)
        await connection.execute(_ADD + CELLS_OF_CELLS, edition, tile)


async def _add_tile(connection: Connection, edition: int, level: int, tile: int) -> None:
    await connection.execute(
        "INSERT INTO ledger.figure_tile (edition, level, tile) VALUES ($1, $2, $3)", edition, level, tile
    )
