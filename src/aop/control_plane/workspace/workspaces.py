"""Workspaces: each belongs to the principal who created it, and the owner never changes."""

from collections.abc import Sequence

from aop.base.clock import Clock, to_text
from aop.contracts.errors import Conflict, Reason
from aop.contracts.workspace import Workspace, WorkspaceItem, WorkspaceRole
from aop.control_plane.workspace.roles import require_caller
from aop.control_plane.workspace.store import workspaces
from aop.control_plane.workspace.store.workspaces import Position, WorkspaceRow
from aop.store.database import Database


class Workspaces:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, caller: str, workspace_id: str) -> Workspace:
        async with self._database.connection() as connection:
            row = await workspaces.insert_workspace(connection, workspace_id, caller, self._clock())
        if row is None:
            raise Conflict("the Workspace exists", reason=Reason.ALREADY_EXISTS)
        return Workspace(**_members(row))

    async def read(self, caller: str, workspace_id: str) -> Workspace:
        """Only for its owner and its callers. Every read of the Ledger in a Workspace makes this check first."""
        async with self._database.connection() as connection:
            row = await workspaces.workspace(connection, workspace_id, caller)
        return Workspace(**_members(require_caller(row)))

    async def page(
        self, caller: str, role: WorkspaceRole | None, after: Position | None, limit: int
    ) -> Sequence[WorkspaceItem]:
        """Returns those that the caller owns or may call, up to one more than the limit: then there is a next page."""
        async with self._database.connection() as connection:
            rows = await workspaces.workspaces_of(connection, caller, role, after, limit + 1)
        return [WorkspaceItem(**_members(row), role=row.role) for row in rows]


def _members(row: WorkspaceRow) -> dict[str, str]:
    return {
        "workspace_id": row.workspace_id,
        "owner_id": row.owner_id,
        "created_at": to_text(row.created_at),
        "updated_at": to_text(row.updated_at),
    }
