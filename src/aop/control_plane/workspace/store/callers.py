"""SQL of the callers of Workspaces. A record is written once and ended once."""

from collections.abc import Sequence
from datetime import datetime

from aop.contracts.wire import to_document, to_document_or_none, to_documents
from aop.contracts.workspace import WorkspaceCaller
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection

_COLUMNS = "workspace_id, principal_id, added_at, added_by, removed_at"
_CURRENT = (
    f"SELECT {_COLUMNS} FROM workspace.caller WHERE workspace_id = $1 AND principal_id = $2 AND removed_at IS NULL"  # noqa: S608
)


async def wait_for_turn(connection: Connection, workspace_id: str) -> None:
    """Until its transaction ends, no other one adds a caller to the Workspace: what is counted now stays true."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", workspace_id)


async def current_caller(connection: Connection, workspace_id: str, principal_id: str) -> WorkspaceCaller | None:
    return to_document_or_none(WorkspaceCaller, await connection.fetchrow(_CURRENT, workspace_id, principal_id))


async def count_current(connection: Connection, workspace_id: str) -> int:
    count: int = await connection.fetchval(
        "SELECT count(*) FROM workspace.caller WHERE workspace_id = $1 AND removed_at IS NULL", workspace_id
    )
    return count


async def insert_caller(
    connection: Connection, workspace_id: str, principal_id: str, added_by: str, now: datetime
) -> WorkspaceCaller:
    """Begins no earlier than a former record of the principal ended."""
    record = await connection.fetchrow(
        "INSERT INTO workspace.caller (workspace_id, principal_id, added_at, added_by, workspace_created_at)"  # noqa: S608
        " SELECT workspace_id, $2, greatest($4, (SELECT max(removed_at) FROM workspace.caller AS former"
        " WHERE former.workspace_id = $1 AND former.principal_id = $2)), $3, created_at"
        f" FROM workspace.workspace WHERE workspace_id = $1 RETURNING {_COLUMNS}",
        workspace_id,
        principal_id,
        added_by,
        now,
    )
    return to_document(WorkspaceCaller, record)


async def end_caller(
    connection: Connection, workspace_id: str, principal_id: str, now: datetime
) -> WorkspaceCaller | None:
    """None when the principal is no current caller, also when another transaction has just removed it."""
    record = await connection.fetchrow(
        "UPDATE workspace.caller SET removed_at = greatest($3, added_at + interval '1 microsecond')"  # noqa: S608
        f" WHERE workspace_id = $1 AND principal_id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}",
        workspace_id,
        principal_id,
        now,
    )
    return to_document_or_none(WorkspaceCaller, record)


async def callers_of(
    connection: Connection, workspace_id: str, after: TimePosition | None, limit: int
) -> Sequence[WorkspaceCaller]:
    """Current and former ones in the order in which they were added."""
    later = "" if after is None else " AND (added_at, principal_id) > ($3, $4)"
    records = await connection.fetch(
        f"SELECT {_COLUMNS} FROM workspace.caller WHERE workspace_id = $1{later}"  # noqa: S608
        " ORDER BY added_at, principal_id LIMIT $2",
        workspace_id,
        limit,
        *(after or ()),
    )
    return to_documents(WorkspaceCaller, records)
