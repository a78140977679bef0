"""Reads the figures of a Workspace."""

from typing import Final

from aop.contracts.figures import Figures, Window
from aop.ledger.figures.document import figures_of
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS
from aop.ledger.figures.pieces import pieces_of
from aop.ledger.figures.statement import CELLS_IN_WINDOW, KEYS, LATE
from aop.ledger.figures.tally import KeyRow, LateRow, Tally
from aop.store.database import Database
from aop.store.rows import to_rows

# The loop of the unit has its turn after each of these.
_CELLS_AT_ONCE: Final = 100
# Statistics of tables that grow fast say little of their newest rows: to read all of one is never right here,
# nor all of an index.
# Nor is it to plan a statement again for each read, which takes longer than the statement.
_PLANS: Final = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL max_parallel_workers_per_gather = 0;"
    " SET LOCAL plan_cache_mode = force_generic_plan"
)


class FiguresReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, workspace_id: str, window: Window) -> Figures:
        """Sums are made here: the server takes several times as long for those of many short arrays."""
        tally, steps = Tally(), (workspace_id, window.since, window.step)
        pieces = zip(*pieces_of(window), strict=True)
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            await connection.execute(_PLANS)
            late = to_rows(LateRow, await connection.fetch(LATE, *steps, window.until, LOWER_BOUNDS))
            cells = await connection.cursor(CELLS_IN_WINDOW, *steps, *pieces)
            while batch := await cells.fetch(_CELLS_AT_ONCE):
                for cell in batch:
                    tally.add_cell(*cell)
            keys = to_rows(KeyRow, await connection.fetch(KEYS, tally.key_numbers()))
        tally.name(keys)
        for row in late:
            tally.add_late(row)
        return await figures_of(tally, workspace_id, window)
