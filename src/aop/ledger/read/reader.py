"""The read handle of the Ledger: an Invocation with its events, a Trace, a Workspace's list, a Release's calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from aop.base.ids import hex_part
from aop.contracts.identity import InvocationContext
from aop.contracts.lineage import InvocationDetail, InvocationRecord, TraceItem
from aop.contracts.reach import ReleaseCalls
from aop.ledger.model import ENDS_CHILDREN, Opening
from aop.ledger.months import require_not_archived, require_trace_not_archived
from aop.ledger.read.documents import event_of, members_of, opening_events, record_of
from aop.ledger.read.record_filter import LedgerPage, ListRead
from aop.ledger.read.search import MAX_READ, position_in, search
from aop.ledger.read.traces import LineageBroken, TracePage, TracePosition, items, trace_page, within
from aop.ledger.rows import EventRow, ParentRow, RecordRow, TracePartRow
from aop.store.database import Connection, Database
from aop.store.queries import queries_beside
from aop.store.rows import to_row, to_row_or_none, to_rows

_QUERIES: Final = queries_beside(__file__)


@dataclass(frozen=True)
class ParentFacts:
    """Facts of an Invocation that decide whether it may call another."""

    context: InvocationContext
    running: bool
    invocations_of_root_task: int


class LedgerReader:
    def __init__(self, database: Database, *, max_read: int = MAX_READ) -> None:
        """`max_read` is how many Invocations a page of a list looks at."""
        self._database = database
        self._max_read = max_read

    async def detail(self, workspace_id: str, invocation_id: str) -> InvocationDetail | None:
        """None also if the text is no id of an Invocation. Raises Archived if it was detached, as others do too."""
        invocation = hex_part(invocation_id, "inv")
        if invocation is None:
            return None
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            found = await connection.fetchrow(_QUERIES["record"], invocation, workspace_id)
            if found is None:
                await require_not_archived(connection, invocation, workspace_id)
                return None
            row = to_row(RecordRow, found)
            events = to_rows(EventRow, await connection.fetch(_QUERIES["events"], invocation, row.root_task_id))
        record, members = record_of(row), members_of(row.context)
        chain = (*opening_events(row, members), *(event_of(event, row.context.lineage, members) for event in events))
        if [event.sequence for event in chain] != list(range(len(chain))) or chain[-1].status != record.status:
            raise LineageBroken("the events do not form one chain")
        return InvocationDetail(invocation=record, events=chain)

    async def trace(self, workspace_id: str, trace: str, after: TracePosition | None = None) -> TracePage | None:
        async with self._database.connection() as connection:
            rows = to_rows(RecordRow, await connection.fetch(_QUERIES["trace"], trace, workspace_id))
            if not rows:
                await require_trace_not_archived(connection, trace, workspace_id)
        return trace_page(trace, rows, after) if rows else None

    async def parent(self, invocation_id: str, root_task_id: str) -> ParentFacts | None:
        """Also if its root task is another one: the caller compares."""
        invocation, root_task = hex_part(invocation_id, "inv"), hex_part(root_task_id, "task")
        if invocation is None or root_task is None:
            return None
        async with self._database.connection() as connection:
            row = await _parent(connection, invocation, root_task)
        if row is None:
            return None
        running = row.opening is Opening.STARTED and row.outcome is None
        return ParentFacts(row.context, running, row.in_root_task)

    async def ended_with_children(self, invocations: Sequence[str]) -> Sequence[str]:
        """Those that were canceled or timed out, which ends their children."""
        digits = [invocation.removeprefix("inv_") for invocation in invocations]
        types = sorted(terminal.type for terminal in ENDS_CHILDREN)
        async with self._database.connection() as connection:
            rows = await connection.fetch(_QUERIES["ended_with_children"], digits, types)
        return [f"inv_{row['invocation_id'].hex}" for row in rows]

    async def calls_of(self, release_id: str) -> ReleaseCalls | None:
        """None if the text is no id of a Release."""
        release = hex_part(release_id, "rel")
        if release is None:
            return None
        async with self._database.transaction(readonly=True) as connection:
            # Statistics of a fast-growing table say little of its newest rows: to read all of it is never right here.
            await connection.execute("SET LOCAL enable_seqscan = off")
            hour, day, running = await connection.fetchrow(_QUERIES["calls_of"], release)
        return ReleaseCalls(release_id=release_id, calls_last_hour=hour, calls_last_day=day, running=running)

    async def page(self, read: ListRead) -> LedgerPage[InvocationRecord]:
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            found = await search(connection, read, self._max_read)
        return LedgerPage([record_of(row) for row in found.items], found.last)

    async def traces(self, read: ListRead) -> LedgerPage[TraceItem]:
        """By their roots, which the filters and the order are about."""
        by_root = replace(read, filters=replace(read.filters, root=True))
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            found = await search(connection, by_root, self._max_read)
            # With their root tasks, only the months of these Traces are opened.
            sizes = await connection.fetch(_QUERIES["trace_sizes"], *_ids_of(found.items), read.workspace_id)
            roots = within(found.items, {row[0]: row[1] for row in sizes}, self._max_read)
            parts = await connection.fetch(_QUERIES["trace_parts"], *_ids_of(roots), read.workspace_id)
        last = found.last if len(roots) == len(found.items) else position_in(read.order, roots[-1])
        return LedgerPage(items(roots, to_rows(TracePartRow, parts)), last)


async def _parent(connection: Connection, invocation: str, root_task: str) -> ParentRow | None:
    """With the root task, only its month is opened. Without such an Invocation, that of another root task."""
    row = await connection.fetchrow(_QUERIES["parent"], invocation, root_task)
    if row is None:
        root_of = "SELECT root_task_id FROM ledger.invocation WHERE invocation_id = $1"
        other = await connection.fetchval(root_of, invocation)
        row = None if other is None else await connection.fetchrow(_QUERIES["parent"], invocation, other)
    return to_row_or_none(ParentRow, row)


def _ids_of(roots: Sequence[RecordRow]) -> tuple[Sequence[UUID], Sequence[UUID]]:
    """Of their Traces, and of their root tasks."""
    return [root.trace_id for root in roots], [root.root_task_id for root in roots]
