"""The read handle of the Ledger: an Invocation with its events, a Trace, a Workspace's list, a Release's calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aop.base.ids import hex_part
from aop.contracts.identity import InvocationContext
from aop.contracts.lineage import InvocationDetail, InvocationRecord
from aop.contracts.reach import ReleaseCalls
from aop.ledger import reads
from aop.ledger.archived import require_not_archived, require_trace_not_archived
from aop.ledger.documents import event_of, members_of, opening_events, record_of
from aop.ledger.model import Opening
from aop.ledger.record_filter import ListRead, Position
from aop.ledger.release_calls import calls_of
from aop.ledger.search import MAX_READ, position_in, search
from aop.ledger.traces import LineageBroken, TraceItemPage, TracePage, TracePosition, items, trace_page, within
from aop.store.database import Database


@dataclass(frozen=True)
class RecordPage:
    records: Sequence[InvocationRecord]
    last: Position | None
    """Where the next page goes on; None behind the last."""


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
            row = await reads.record(connection, workspace_id, invocation)
            if row is None:
                await require_not_archived(connection, invocation, workspace_id)
                return None
            events = await reads.events(connection, invocation, row.root_task_id)
        record, members = record_of(row), members_of(row.context)
        chain = (*opening_events(row, members), *(event_of(event, row.context.lineage, members) for event in events))
        if [event.sequence for event in chain] != list(range(len(chain))) or chain[-1].status != record.status:
            raise LineageBroken("the events do not form one chain")
        return InvocationDetail(invocation=record, events=chain)

    async def trace(self, workspace_id: str, trace: str, after: TracePosition | None = None) -> TracePage | None:
        async with self._database.connection() as connection:
            rows = await reads.trace(connection, workspace_id, trace)
            if not rows:
                await require_trace_not_archived(connection, trace, workspace_id)
        return trace_page(trace, rows, after) if rows else None

    async def parent(self, invocation_id: str, root_task_id: str) -> ParentFacts | None:
        """Also if its root task is another one: the caller compares."""
        invocation, root_task = hex_part(invocation_id, "inv"), hex_part(root_task_id, "task")
        if invocation is None or root_task is None:
            return None
        async with self._database.connection() as connection:
            row = await reads.parent(connection, invocation, root_task)
        if row is None:
            return None
        running = row.opening is Opening.STARTED and row.outcome is None
        return ParentFacts(row.context, running, row.in_root_task)

    async def ended_with_children(self, invocations: Sequence[str]) -> Sequence[str]:
        """Those that were canceled or timed out, which ends their children."""
        async with self._database.connection() as connection:
            digits = [invocation.removeprefix("inv_") for invocation in invocations]
            return [f"inv_{ended}" for ended in await reads.ended_with_children(connection, digits)]

    async def calls_of(self, release_id: str) -> ReleaseCalls | None:
        """None if the text is no id of a Release."""
        release = hex_part(release_id, "rel")
        if release is None:
            return None
        async with self._database.transaction(readonly=True) as connection:
            row = await calls_of(connection, release)
        return ReleaseCalls(
            release_id=release_id, calls_last_hour=row.last_hour, calls_last_day=row.last_day, running=row.running
        )

    async def page(self, read: ListRead) -> RecordPage:
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            found = await search(connection, read, self._max_read)
        return RecordPage([record_of(row) for row in found.rows], found.last)

    async def traces(self, read: ListRead) -> TraceItemPage:
        """By their roots, which the filters and the order are about."""
        by_root = replace(read, filters=replace(read.filters, root=True))
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            found = await search(connection, by_root, self._max_read)
            sizes = await reads.trace_sizes(connection, read.workspace_id, found.rows)
            roots = within(found.rows, sizes, self._max_read)
            parts = await reads.trace_parts(connection, read.workspace_id, roots)
        last = found.last if len(roots) == len(found.rows) else position_in(read.order, roots[-1])
        return TraceItemPage(items(roots, parts), last)
