"""SQL of the Ledger's reads of one Invocation or some Traces, from its projection; `search` has the lists."""

from collections.abc import Sequence
from uuid import UUID

from aop.ledger.model import ENDS_CHILDREN
from aop.ledger.rows import ContextRow, EventRow, ParentRow, RecordRow, TracePartRow, columns
from aop.store.database import Connection
from aop.store.rows import to_row_or_none, to_rows

_RECORD, _EVENT, _CONTEXT = columns(RecordRow, "record"), columns(EventRow, "event"), columns(ContextRow, "record")

_OF_TRACES = "WHERE trace_id = ANY($1) AND root_task_id = ANY($2) AND workspace_id = $3 AND position > 0"
_SIZES = f"SELECT trace_id, count(*) FROM ledger.invocation {_OF_TRACES} GROUP BY 1"  # noqa: S608  parts of our own
_PARTS = (
    "SELECT trace_id, target_agent_id, outcome, error_code, reason, count(*), max(updated_at)"  # noqa: S608
    f" FROM ledger.record {_OF_TRACES} GROUP BY 1, 2, 3, 4, 5"
)

_PARENT = (
    f"SELECT {_CONTEXT}, record.opening, record.outcome,"  # noqa: S608
    " (SELECT count(*) FROM ledger.invocation AS other WHERE other.root_task_id = $2 AND other.position > 0"
    "   AND other.trace_id = record.trace_id AND other.workspace_id = record.workspace_id) AS in_root_task"
    " FROM ledger.record WHERE invocation_id = $1 AND root_task_id = $2"
)
_ROOT_TASK = "SELECT root_task_id FROM ledger.invocation WHERE invocation_id = $1"


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


async def trace_sizes(connection: Connection, workspace_id: str, roots: Sequence[RecordRow]) -> dict[UUID, int]:
    """How many Invocations the Trace of each root has. With their root tasks, only the months of these are opened."""
    return {row[0]: row[1] for row in await connection.fetch(_SIZES, *_named(workspace_id, roots))}


async def trace_parts(connection: Connection, workspace_id: str, roots: Sequence[RecordRow]) -> Sequence[TracePartRow]:
    return to_rows(TracePartRow, await connection.fetch(_PARTS, *_named(workspace_id, roots)))


def _named(workspace_id: str, roots: Sequence[RecordRow]) -> tuple[Sequence[UUID], Sequence[UUID], str]:
    return [root.trace_id for root in roots], [root.root_task_id for root in roots], workspace_id


async def parent(connection: Connection, invocation: str, root_task: str) -> ParentRow | None:
    """With the root task, only its month is opened. Without such an Invocation, that of another root task."""
    record = await connection.fetchrow(_PARENT, invocation, root_task)
    if record is None:
        other = await connection.fetchval(_ROOT_TASK, invocation)
        record = None if other is None else await connection.fetchrow(_PARENT, invocation, other)
    return to_row_or_none(ParentRow, record)


async def ended_with_children(connection: Connection, invocations: Sequence[str]) -> Sequence[str]:
    rows = await connection.fetch(
        "SELECT invocation_id FROM ledger.event WHERE invocation_id = ANY($1) AND type <> 'stream' AND type = ANY($2)",
        invocations,
        sorted(terminal.type for terminal in ENDS_CHILDREN),
    )
    return [row["invocation_id"].hex for row in rows]
