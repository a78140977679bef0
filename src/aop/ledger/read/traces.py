"""Traces from their rows: one, parents before children and in pages when it is large, or many as items of a list."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import (
    FAILURE_STATUSES,
    MAX_AGENTS_OF_ITEM,
    MAX_IN_TRACE_PAGE,
    STATUS_OF_EVENT,
    Trace,
    TraceError,
    TraceItem,
)
from aop.ledger.read.documents import record_of, unset
from aop.ledger.rows import RecordRow, TracePartRow

TracePosition = tuple[datetime, int, str]
"""Of an Invocation in a large Trace: when it was created, how many parents it has above it, its id."""


class LineageBroken(Exception):
    """Stored facts contradict each other. This is never shown as absence."""


@dataclass(frozen=True)
class TracePage:
    trace: Trace
    last: TracePosition | None


def trace_page(trace: str, rows: Sequence[RecordRow], after: TracePosition | None) -> TracePage:
    """A small Trace level by level, as one page. A large one by creation: what a running Trace gains comes behind what
    was read, and no Invocation is older than its parent, so that none comes before it."""
    placed = _with_depths(rows)
    if after is None and len(placed) <= MAX_IN_TRACE_PAGE:
        return _page(trace, placed, len(placed))
    ordered = sorted(placed, key=_position)
    return _page(trace, [item for item in ordered if after is None or _position(item) > after], MAX_IN_TRACE_PAGE)


def _page(trace: str, placed: Sequence[tuple[int, RecordRow]], limit: int) -> TracePage:
    kept = placed[:limit]
    last = _position(kept[-1]) if len(placed) > limit else None
    return TracePage(Trace(trace_id=trace, invocations=tuple(record_of(row) for _, row in kept)), last)


def _position(placed: tuple[int, RecordRow]) -> TracePosition:
    depth, row = placed
    return (row.created_at, depth, row.invocation_id.hex)


def _with_depths(rows: Sequence[RecordRow]) -> Sequence[tuple[int, RecordRow]]:
    """Roots by creation, then their children, level by level. A missing or cyclic parent leaves rows out."""
    if len({row.root_task_id for row in rows}) != 1:
        raise LineageBroken("one Trace has two root Tasks")
    children: dict[UUID | None, list[RecordRow]] = {}
    for row in sorted(rows, key=lambda row: (row.created_at, row.invocation_id)):
        children.setdefault(row.parent_invocation_id, []).append(row)
    placed = [(0, row) for row in children.get(None, ())]
    for depth, row in placed:
        placed.extend((depth + 1, child) for child in children.get(row.invocation_id, ()))
    if len(placed) != len(rows):
        raise LineageBroken("a parent is missing")
    return placed


def within(roots: Sequence[RecordRow], sizes: Mapping[UUID, int], max_read: int) -> Sequence[RecordRow]:
    """The first of them whose Traces together are not too large to be read; at least one."""
    read = 0
    for place, root in enumerate(roots):
        read += sizes[root.trace_id]
        if place and read > max_read:
            return roots[:place]
    return roots


def items(roots: Sequence[RecordRow], parts: Iterable[TracePartRow]) -> Sequence[TraceItem]:
    of_trace: dict[UUID, list[TracePartRow]] = {}
    for part in parts:
        of_trace.setdefault(part.trace_id, []).append(part)
    return [_item(root, of_trace[root.trace_id]) for root in roots]


def _item(root: RecordRow, parts: Sequence[TracePartRow]) -> TraceItem:
    agents, errors = Counter[str](), Counter[tuple[ErrorCode, Reason | None]]()
    running = 0
    for part in parts:
        agents[part.target_agent_id] += part.invocations
        if part.outcome is None:
            running += part.invocations
        elif STATUS_OF_EVENT[part.outcome] in FAILURE_STATUSES and part.error_code is not None:
            errors[part.error_code, part.reason] += part.invocations
    most_called = sorted(agents, key=lambda agent: (-agents[agent], agent))
    frequent = sorted(errors.items(), key=lambda error: (-error[1], error[0][0], error[0][1] or ""))
    return TraceItem(
        trace_id=root.trace_id.hex,
        root=record_of(root),
        invocations=agents.total(),
        running=running,
        failures=errors.total(),
        errors=tuple(
            TraceError(error_code=code, reason=unset(reason), count=count) for (code, reason), count in frequent
        ),
        agents=tuple(most_called[:MAX_AGENTS_OF_ITEM]),
        agent_count=len(agents),
        duration_ms=(max(part.updated_at for part in parts) - root.created_at) // timedelta(milliseconds=1),
    )
