"""Reads the figures of a Workspace."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from aop.contracts.errors import InvalidRequest, Violation
from aop.contracts.figures import Figures, Window
from aop.ledger.figures.document import FiguresDocument
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS
from aop.ledger.figures.pieces import plan_of
from aop.ledger.figures.tally import KeyRow, LateRow, StepSums, Tally
from aop.store.database import Connection, Database
from aop.store.problems import StoreUnavailable
from aop.store.queries import queries_beside
from aop.store.rows import to_rows

_QUERIES: Final = queries_beside(__file__)
MAX_KEYS: Final = 50_000
"""A read holds the name and the calls of each. What a step takes does not depend on them."""
MAX_LATE: Final = 100_000
"""A Ledger with so many calls that no tile counts is about to be numbered; its figures take too long meanwhile."""
# The loop of the unit has its turn after each of these. A row may have a megabyte.
_ROWS_AT_ONCE: Final = 25
# Statistics of tables that grow fast say little of their newest rows: to read all of one is never right here,
# nor all of an index.
# Nor is it to plan a statement again for each read, which takes longer than the statement.
_PLANS: Final = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL max_parallel_workers_per_gather = 0;"
    " SET LOCAL plan_cache_mode = force_generic_plan"
)
# While a table is empty and analyzed, all its indexes look alike, and a plan of then would read the whole of one for
# each call. So a session plans a statement anew whenever this month has doubled, which it does a few times only.
_PAGES: Final = (
    "SELECT coalesce(pg_relation_size(to_regclass('ledger.invocation' || to_char(now() AT TIME ZONE 'UTC',"
    " '_YYYY_MM'))), 0) / 8192"
)


class FiguresReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, workspace_id: str, window: Window) -> Figures:
        """The total first: it says which Agents and Skills have entries of their own in each step. So a step needs few
        sums. Sums are made here: the server takes several times as long."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            await connection.execute(_PLANS)
            plan = f" -- {(await connection.fetchval(_PAGES)).bit_length()}"
            late = await _late(connection, _QUERIES["late"] + plan, workspace_id, window)
            rows = _QUERIES["rows_in_window"] + plan
            whole = replace(window, step=(window.until - window.since) // timedelta(seconds=1))
            total = StepSums[dict[int, int]](defaultdict(int))
            await _tally(connection, rows, workspace_id, whole, [total], _AsItIs())
            named = await connection.fetch(_QUERIES["keys"], list(total.calls))
            keys = {row.number: row.key for row in to_rows(KeyRow, named)}
            numbers = {key: number for number, key in keys.items()}
            for row in late:
                total.add_calls(numbers.setdefault(row.key, -1 - len(numbers)), row)
            keys = {number: key for key, number in numbers.items()}
            if len(keys) > MAX_KEYS:
                raise _too_many_keys()
            document = FiguresDocument(workspace_id, window, keys, total)
            steps = [StepSums([0] * document.in_bucket.sums) for _ in range(window.buckets)]
            await _tally(connection, rows, workspace_id, window, steps, document.in_bucket.kinds)
        for row in late:
            steps[row.number].add_calls(document.in_bucket.kinds[numbers[row.key]], row)
        return await document.of(steps)


async def _late(connection: Connection, query: str, workspace_id: str, window: Window) -> Sequence[LateRow]:
    """What no tile counts yet."""
    values = (workspace_id, window.since, window.step, window.until, LOWER_BOUNDS, MAX_LATE + 1)
    rows = await connection.fetch(query, *values)
    if len(rows) > MAX_LATE:
        raise StoreUnavailable("too many calls are not counted yet")
    return to_rows(LateRow, rows)


async def _tally(
    connection: Connection,
    query: str,
    workspace_id: str,
    window: Window,
    steps: Sequence[StepSums[Any]],
    numbers: Mapping[int, int],
) -> None:
    """Adds what tiles count."""
    plan = plan_of(window)
    tally, ranges = Tally(plan, steps, numbers), zip(*plan.ranges, strict=True)
    rows = await connection.cursor(query, workspace_id, *ranges)
    while batch := await rows.fetch(_ROWS_AT_ONCE):
        for row in batch:
            tally.add_row(*row)
        if len(steps[0].calls) > MAX_KEYS:
            raise _too_many_keys()
    tally.settle()


def _too_many_keys() -> InvalidRequest:
    """A shorter window may have fewer."""
    return InvalidRequest(Violation("/since", "too_many_kinds"))


class _AsItIs(dict[int, int]):
    """Every number by itself."""

    def __missing__(self, number: int) -> int:
        return number
