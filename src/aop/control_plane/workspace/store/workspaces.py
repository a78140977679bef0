"""SQL of Workspaces, and of what a principal is to one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.contracts.wire import to_document, to_document_or_none, to_documents
from aop.contracts.workspace import Workspace, WorkspaceItem, WorkspaceRole
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection

_COLUMNS = "workspace.workspace_id, owner_id, created_at, updated_at"


class WorkspaceAccess(msgspec.Struct, frozen=True):
    """A Workspace, and what one principal is to it."""

    role: WorkspaceRole | None
    workspace: Workspace


def role_of(principal: str) -> str:
    """The column `role` of a statement over `workspace.workspace`; `principal` is an expression of ours.

    The owner comes first, so its calls look for no caller. The rest is one lookup in the index of current callers: a
    scalar subquery is never turned into a scan of the table, whatever the statistics say.
    """
    return (
        f"CASE WHEN workspace.owner_id = {principal} THEN 'owner' ELSE (SELECT 'caller' FROM workspace.caller"  # noqa: S608
        f" WHERE caller.workspace_id = workspace.workspace_id AND caller.principal_id = {principal}"
        " AND caller.removed_at IS NULL) END AS role"
    )


def role_in(record: Mapping[str, Any]) -> WorkspaceRole | None:
    """What a statement with that column says."""
    return None if record["role"] is None else WorkspaceRole(record["role"])


async def insert_workspace(connection: Connection, workspace_id: str, owner_id: str, now: datetime) -> Workspace | None:
    """None when the id is taken, also when another transaction has just taken it."""
    record = await connection.fetchrow(
        "INSERT INTO workspace.workspace (workspace_id, owner_id, created_at, updated_at) VALUES ($1, $2, $3, $3)"
        " ON CONFLICT DO NOTHING RETURNING workspace_id, owner_id, created_at, updated_at",
        workspace_id,
        owner_id,
        now,
    )
    return to_document_or_none(Workspace, record)


async def workspace(connection: Connection, workspace_id: str, principal: str) -> WorkspaceAccess | None:
    record = await connection.fetchrow(
        f"SELECT {_COLUMNS}, {role_of('$2')}"  # noqa: S608
        " FROM workspace.workspace WHERE workspace_id = $1",
        workspace_id,
        principal,
    )
    return None if record is None else WorkspaceAccess(role_in(record), to_document(Workspace, record))


async def workspaces_of(
    connection: Connection, principal: str, role: WorkspaceRole | None, after: TimePosition | None, limit: int
) -> Sequence[WorkspaceItem]:
    """Those that the principal owns and those that it may call, or one kind alone. Of each kind no more is read than
    the limit."""
    later = "" if after is None else " AND (%s, workspace_id) > ($3, $4)"
    owned = (
        f"SELECT {_COLUMNS}, 'owner' AS role FROM workspace.workspace"  # noqa: S608
        f" WHERE owner_id = $1{later and later % 'created_at'} ORDER BY created_at, workspace_id LIMIT $2"
    )
    shared = (
        "SELECT workspace_id FROM workspace.caller WHERE principal_id = $1 AND removed_at IS NULL"  # noqa: S608
        f"{later and later % 'workspace_created_at'} ORDER BY workspace_created_at, workspace_id LIMIT $2"
    )
    kinds = {
        WorkspaceRole.OWNER: f"({owned})",
        WorkspaceRole.CALLER: f"(SELECT {_COLUMNS}, 'caller' AS role FROM ({shared}) AS shared"  # noqa: S608
        " JOIN workspace.workspace USING (workspace_id))",
    }
    read = " UNION ALL ".join(kinds.values()) if role is None else kinds[role]
    records = await connection.fetch(
        f"SELECT * FROM ({read}) AS listed ORDER BY created_at, workspace_id LIMIT $2",  # noqa: S608
        principal,
        limit,
        *(after or ()),
    )
    return to_documents(WorkspaceItem, records)
