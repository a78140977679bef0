"""SQL of the Ledger's reads, from its projection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aop.contracts.lineage import TERMINAL_STATUSES, InvocationStatus
from aop.ledger.model import ENDS_CHILDREN, STATUS_AFTER
from aop.ledger.rows import ContextRow, EventRow, ParentRow, RecordRow, columns
from aop.store.database import Connection
from aop.store.rows import to_row_or_none, to_rows

_RECORD, _EVENT, _CONTEXT = columns(RecordRow, "record"), columns(EventRow, "event"), columns(ContextRow, "record")
# Terminals have an index by Workspace, status and time of their own.
_ENDED = (
    f"SELECT {_RECORD} FROM ledger.event AS ended"  # noqa: S608
    " JOIN ledger.record USING (invocation_id) WHERE ended.type <> 'stream'"
)
# What has no terminal belongs to an epoch that is not closed, at or behind its last checkpoint.
_OPEN = (
    f"SELECT {_RECORD} FROM ledger.epoch AS life"  # noqa: S608
    " CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint"
    "  WHERE checkpoint.router_id = life.router_id AND checkpoint.epoch = life.epoch) AS settled"
    " JOIN ledger.record ON record.router_id = life.router_id AND record.epoch = life.epoch"
    "  AND record.position >= settled.position"
    " WHERE NOT EXISTS (SELECT FROM ledger.epoch_closed AS closed"
    "  WHERE closed.router_id = life.router_id AND closed.epoch = life.epoch) AND outcome IS NULL"
)
_OPENING_OF = {status: opening for opening, status in STATUS_AFTER.items()}


@dataclass(frozen=True)
class RecordFilter:
    status: InvocationStatus | None = None
    agent_id: str | None = None
    capability: str | None = None
    caller_id: str | None = None
    """A principal; the id of an Agent that called is never meant."""
    since: datetime | None = None
    until: datetime | None = None


async def record(connection: Connection, workspace_id: str, invocation: str) -> RecordRow | None:
    query = f"SELECT {_RECORD} FROM ledger.record WHERE invocation_id = $1 AND workspace_id = $2"  # noqa: S608
    return to_row_or_none(RecordRow, await connection.fetchrow(query, invocation, workspace_id))


async def events(connection: Connection, invocation: str) -> Sequence[EventRow]:
    query = f"SELECT {_EVENT} FROM ledger.event WHERE invocation_id = $1 ORDER BY sequence"  # noqa: S608
    return to_rows(EventRow, await connection.fetch(query, invocation))


async def trace(connection: Connection, workspace_id: str, trace_id: str) -> Sequence[RecordRow]:
    # The condition on the position is that of the index, here and below; without it the whole table would be read.
    query = f"SELECT {_RECORD} FROM ledger.record WHERE trace_id = $1 AND workspace_id = $2 AND position > 0"  # noqa: S608
    return to_rows(RecordRow, await connection.fetch(query, trace_id, workspace_id))


async def parent(connection: Connection, invocation: str) -> ParentRow | None:
    record = await connection.fetchrow(
        f"SELECT {_CONTEXT}, record.opening, record.outcome,"  # noqa: S608
        " (SELECT count(*) FROM ledger.invocation AS other WHERE other.trace_id = record.trace_id"
        "   AND other.workspace_id = record.workspace_id AND other.root_task_id = record.root_task_id"
        "   AND other.position > 0) AS in_root_task"
        " FROM ledger.record WHERE invocation_id = $1",
        invocation,
    )
    return to_row_or_none(ParentRow, record)


async def ended_with_children(connection: Connection, invocations: Sequence[str]) -> Sequence[str]:
    rows = await connection.fetch(
        "SELECT invocation_id FROM ledger.event WHERE invocation_id = ANY($1) AND type <> 'stream' AND type = ANY($2)",
        invocations,
        sorted(terminal.type for terminal in ENDS_CHILDREN),
    )
    return [row["invocation_id"].hex for row in rows]


async def page(
    connection: Connection,
    workspace_id: str,
    filters: RecordFilter,
    after: tuple[datetime, str] | None,
    limit: int,
) -> Sequence[RecordRow]:
    """Newest first; statements are built from fixed fragments, values are always bound."""
    conditions, values = list[str](), list[Any]([workspace_id])

    def add(condition: str, *arguments: Any) -> None:
        numbers = [f"${len(values) + position}" for position in range(1, len(arguments) + 1)]
        values.extend(arguments)
        conditions.append(condition.format(*numbers))

    source, row = _source(filters.status)
    if filters.status in TERMINAL_STATUSES:
        add("ended.type = {}", filters.status)
    elif filters.status is not None:
        add("opening = {}", _OPENING_OF[InvocationStatus(filters.status)])
    if filters.agent_id is not None:
        add("target_agent_id = {}", filters.agent_id)
    if filters.capability is not None:
        add("capability = {}", filters.capability)
    if filters.caller_id is not None:
        add("(caller_type, caller_id) = ('user', {})", filters.caller_id)
    if filters.since is not None:
        add(f"{row}.created_at >= {{}}", filters.since)
    if filters.until is not None:
        add(f"{row}.created_at < {{}}", filters.until)
    if after is not None:
        add(f"({row}.created_at, {row}.invocation_id) < ({{}}, {{}})", *after)
    values.append(limit)
    records = await connection.fetch(
        f"{source} AND {' AND '.join([*conditions, f'{row}.workspace_id = $1'])}"
        f" ORDER BY {row}.created_at DESC, {row}.invocation_id DESC LIMIT ${len(values)}",
        *values,
    )
    return to_rows(RecordRow, records)


def _source(status: InvocationStatus | None) -> tuple[str, str]:
    """Where records of a status are found fast, and the row that is filtered and ordered there."""
    if status is None:
        return f"SELECT {_RECORD} FROM ledger.record WHERE true", "record"  # noqa: S608
    return (_ENDED, "ended") if status in TERMINAL_STATUSES else (_OPEN, "record")
