"""Whether something that the Ledger does not have any more was detached with its month."""

from collections.abc import Sequence
from uuid import UUID

from aop.store.database import Connection

# Numbers are never detached, and lead to the month.
_INVOCATION = (
    "SELECT EXISTS (SELECT FROM ledger.number JOIN ledger.detached_month AS gone"
    " ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root"
    " WHERE number.invocation_id = $1 AND ($2::text IS NULL OR number.workspace_id = $2))"
)
_TRACE = "SELECT EXISTS (SELECT FROM ledger.detached_trace WHERE trace_id = $1 AND workspace_id = $2)"
_NUMBERS = (
    "SELECT number.number, number.events FROM ledger.number JOIN ledger.detached_month AS gone"
    " ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root"
    " WHERE number.number >= $1 AND number.number < $2"
)
# From the newest number on: what a Workspace did last in the detached months is met soon.
_LAST = (
    "SELECT number.number + number.events FROM ledger.number"
    " WHERE (number.workspace_id, number.number) >= ($1, 0) AND (number.workspace_id, number.number) <= ($1, $2)"
    " AND EXISTS (SELECT FROM ledger.detached_month AS gone"
    "  WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)"
    " ORDER BY number.workspace_id DESC, number.number DESC LIMIT 1"
)


class Archived(Exception):
    """It was exported and detached with its month: an operator has the file."""


async def require_not_archived(connection: Connection, invocation: str, workspace_id: str | None) -> None:
    if await connection.fetchval(_INVOCATION, UUID(invocation), workspace_id):
        raise Archived


async def require_trace_not_archived(connection: Connection, trace: str, workspace_id: str | None) -> None:
    if await connection.fetchval(_TRACE, UUID(trace), workspace_id):
        raise Archived


async def detached_numbers(connection: Connection, first: int, past: int) -> Sequence[int]:
    """The numbers in a range whose rows were detached."""
    rows = await connection.fetch(_NUMBERS, first, past)
    return [number + place for number, events in rows for place in range(events)]


async def end_of_detached(connection: Connection, workspace_id: str) -> int:
    """The number behind the last event of the Workspace that was detached; 0 if none was."""
    newest = await connection.fetchval("SELECT max(last_number) FROM ledger.detached_month")
    return 0 if newest is None else await connection.fetchval(_LAST, workspace_id, newest) or 0
