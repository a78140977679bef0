"""SQL of the lists: Invocations that match filters, newest or slowest first, with a bound on what a page reads.

An index gives candidates in the order of the list. A page looks at a limited number of them. If these do not fill it,
it ends early and says where the next one goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final

from aop.contracts.lineage import InvocationOrder
from aop.ledger.read.candidates import BY_LATENCY, Source, conditions, newest_first
from aop.ledger.read.record_filter import LedgerPage, ListRead, Position, RecordFilter
from aop.ledger.rows import RecordRow, columns
from aop.store.database import Connection
from aop.store.rows import to_rows

MAX_READ: Final = 20_000
"""Candidates that one page looks at."""

# Statistics say little of the newest rows of a table that grows fast. Whatever they say, candidates come from an index
# in its own order, and each is looked up by its id: a plan that reads or sorts a whole table is never right here. So no
# value makes another plan better, and one is kept: to plan a list anew, over all months, takes longer than to read it.
_PLANNING = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), " + ", ".join(
    f"set_config('enable_{way}', 'off', true)" for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort")
)
_RECORD = columns(RecordRow, "record")


@dataclass(frozen=True)
class _Ranking:
    """An order: by a number that each Invocation has, then by id, both in one direction."""

    sign: str
    column: str
    direction: str
    follows: str
    read_as: str
    """The column of the rank in candidates that are read in this order."""

    def rank(self, table: str = "") -> str:
        return f"{self.sign}{table}{self.column}"

    def order(self) -> str:
        return f"{self.rank()}{self.direction}, invocation_id{self.direction}"

    def behind(self, table: str = "") -> str:
        """The condition of what follows a position."""
        return f"({self.rank(table)}, {table}invocation_id) {self.follows} ({{}}, {{}})"

    def position(self, row: RecordRow) -> Position:
        return (getattr(row, self.column), row.invocation_id.hex)

    def values(self, position: Position) -> tuple[datetime | int, str]:
        """Those of a position, as `behind` compares them."""
        rank, invocation = position
        return (-rank if isinstance(rank, int) else rank, invocation)


_NEWEST_FIRST = _Ranking("", "created_at", " DESC", "<", "created_at")
_SLOWEST_FIRST = _Ranking("-", "latency_ms", "", ">", "rank")


_Bound = tuple[str, Sequence[Any]]
"""SQL and its values."""


class _Search:
    """Statements of fixed fragments; values are always bound."""

    def __init__(self, source: Source, workspace_id: str, filters: RecordFilter) -> None:
        self._source = source
        self._candidates: list[_Bound] = [("workspace_id = {}", (workspace_id,))]
        self._matches: list[_Bound] = []
        self._tables = {source.table}
        for condition in conditions(filters, source):
            if condition.of in source.answers and condition.table == source.table:
                self.keep_candidates(condition.text, *condition.values)
            else:
                self.keep_matches(condition.table, f"{condition.table}.{condition.text}", *condition.values)

    def keep_candidates(self, condition: str, *values: Any) -> None:
        """Only such rows of the source are looked at."""
        self._candidates.append((condition, values))

    def keep_matches(self, table: str, condition: str, *values: Any) -> None:
        """Only such candidates are in the list."""
        self._tables.add(table)
        self._matches.append((condition, values))

    @property
    def may_end_early(self) -> bool:
        """Not all candidates are in the list, and not all are read."""
        return bool(self._matches) and self._source.in_order

    def counted(self, up_to: int) -> _Bound:
        rows, values = self._selected()
        return f"SELECT count(*) FROM ({rows} LIMIT {up_to}) AS counted", values  # noqa: S608

    def candidate(self, ranking: _Ranking, number: int) -> _Bound:
        """The position of one of them, counted from 1."""
        rows, values = self._selected()
        row = f"{rows} ORDER BY {ranking.order()} LIMIT 1 OFFSET {number - 1}"
        return f"SELECT {ranking.column}, invocation_id FROM ({row}) AS candidate", values  # noqa: S608

    def page(self, read_by: _Ranking, max_read: int, shown_by: _Ranking, limit: int) -> _Bound:
        """`read_by` is the order of the candidates, `shown_by` that of the list."""
        rows, values = self._selected()
        if self._source.in_order:
            rows += f" ORDER BY {read_by.order()} LIMIT {max_read}"
        other = self._source.other if len(self._tables) > 1 else ""
        matches, more = _joined(self._matches, len(values) + 1)
        table = f"{'ended' if shown_by is _SLOWEST_FIRST else self._source.table}."
        rank, down = f"{table}{shown_by.read_as}" if read_by is shown_by else shown_by.rank(table), shown_by.direction
        statement = (
            f"SELECT {_RECORD} FROM (SELECT {rank} AS rank, {table}invocation_id, {table}root_task_id"  # noqa: S608
            f"  FROM ({rows}) AS {self._source.table}{other} WHERE {matches or 'true'}"
            f"  ORDER BY {rank}{down}, {table}invocation_id{down} LIMIT {limit}) AS found"
            " JOIN LATERAL (SELECT * FROM ledger.record WHERE record.invocation_id = found.invocation_id"
            "  AND record.root_task_id = found.root_task_id OFFSET 0)"
            f"  AS record ON true ORDER BY found.rank{down}, found.invocation_id{down}"
        )
        return statement, [*values, *more]

    def _selected(self) -> _Bound:
        conditions, values = _joined(self._candidates, 1)
        return f"{self._source.select} AND {conditions}", values


def _joined(conditions: Sequence[_Bound], first: int) -> _Bound:
    numbers = count(first)
    texts = [text.format(*(f"${next(numbers)}" for _ in values)) for text, values in conditions]
    return " AND ".join(texts), [value for _, values in conditions for value in values]


async def search(connection: Connection, read: ListRead, max_read: int) -> LedgerPage[RecordRow]:
    """In the caller's transaction, whose statements must share one snapshot."""
    await connection.execute(_PLANNING)
    source = newest_first(read.filters)
    found = _Search(source, read.workspace_id, read.filters)
    if read.order is InvocationOrder.NEWEST:
        return await _walked(connection, found, _NEWEST_FIRST, read, max_read)
    # The slowest of few are sorted. The slowest of many are met soon among the slowest of all, which lie apart from
    # each other in the table: each costs several times as much as one in the order of time.
    statement, values = found.counted(max_read + 1)
    if source.in_order and await connection.fetchval(statement, *values) > max_read:
        by_latency = _Search(BY_LATENCY, read.workspace_id, read.filters)
        return await _walked(connection, by_latency, _SLOWEST_FIRST, read, max_read // 4)
    found.keep_matches("ended", "ended.latency_ms IS NOT NULL")
    if read.after is not None:
        found.keep_matches("ended", _SLOWEST_FIRST.behind("ended."), *_SLOWEST_FIRST.values(read.after))
    statement, values = found.page(_NEWEST_FIRST, max_read, _SLOWEST_FIRST, read.limit + 1)
    return _page(await connection.fetch(statement, *values), _SLOWEST_FIRST, read.limit)


async def _walked(
    connection: Connection, found: _Search, ranking: _Ranking, read: ListRead, max_read: int
) -> LedgerPage[RecordRow]:
    """Candidates in the order of the list, until the page is full or enough was read."""
    max_read = max(max_read, read.limit + 1)
    if read.after is not None:
        found.keep_candidates(ranking.behind(), *ranking.values(read.after))
    statement, values = found.page(ranking, max_read, ranking, read.limit + 1)
    page = _page(await connection.fetch(statement, *values), ranking, read.limit)
    if page.last is not None or not found.may_end_early:
        return page
    statement, values = found.candidate(ranking, max_read)
    row = await connection.fetchrow(statement, *values)
    return page if row is None else LedgerPage(page.items, (row[0], row[1].hex))


def _page(records: Sequence[Any], ranking: _Ranking, limit: int) -> LedgerPage[RecordRow]:
    rows = to_rows(RecordRow, records[:limit])
    return LedgerPage(rows, ranking.position(rows[-1]) if len(records) > limit else None)


def position_in(order: InvocationOrder, row: RecordRow) -> Position:
    return (_NEWEST_FIRST if order is InvocationOrder.NEWEST else _SLOWEST_FIRST).position(row)
