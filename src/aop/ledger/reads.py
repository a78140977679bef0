"""SQL of the Ledger's reads of one Invocation or some Traces, from its projection; `search` has the lists."""

from collections.abc import Sequence
from uuid import UUID

from aop.ledger.model import ENDS_CHILDREN
from aop.ledger.rows import ContextRow, EventRow, ParentRow, RecordRow, TracePartRow, columns
from aop.store.database import Connection
from aop.store.rows import to_row_or_none, to_rows

_RECORD, _EVENT, _CONTEXT = columns(RecordRow, "record"), columns(EventRow, "event"), columns(ContextRow, "record")


async def record(connection: Connection, workspace_id: str, invocation: str) -> RecordRow | None:
    query = f"SELECT {_RECORD} FROM ledger.record WHERE invocation_id = $1 AND workspace_id = $2"  # noqa: S608
    return to_row_or_none(RecordRow, await connection.fetchrow(query, invocation, workspace_id))


async def events(connection: Connection, invocation: str, root_task: UUID) -> Sequence[EventRow]:
    query = (
        f"SELECT {_EVENT} FROM ledger.event"  # noqa: S608
        " WHERE invocation_id = $1 AND root_task_id = $2 ORDER BY sequence"
    )
    return to_rows(EventRow, await connection.fetch(query, invocation, root_task))


async def trace(connection: Connection, workspace_id: str, trace_id: str) -> Sequence[RecordRow]:
    # The condition on the position is that of the index, here and below; without it the whole table would be read.
    query = f"SELECT {_RECORD} FROM ledger.record WHERE trace_id = $1 AND workspace_id = $2 AND position > 0"  # noqa: S608
    return to_rows(RecordRow, await connection.fetch(query, trace_id, workspace_id))


async def trace_sizes(connection: Connection, workspace_id: str, traces: Sequence[UUID]) -> dict[UUID, int]:
    """How many Invocations each has."""
    query = (
        "SELECT trace_id, count(*) FROM ledger.invocation"
        " WHERE trace_id = ANY($1) AND workspace_id = $2 AND position > 0 GROUP BY 1"
    )
    return {row[0]: row[1] for row in await connection.fetch(query, traces, workspace_id)}


async def trace_parts(connection: Connection, workspace_id: str, traces: Sequence[UUID]) -> Sequence[TracePartRow]:
    query = (
        "SELECT trace_id, target_agent_id, outcome, error_code, reason, count(*), max(updated_at) FROM ledger.record"
        " WHERE trace_id = ANY($1) AND workspace_id = $2 AND position > 0 GROUP BY 1, 2, 3, 4, 5"
    )
    return to_rows(TracePartRow, await connection.fetch(query, traces, workspace_id))


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
