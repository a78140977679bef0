"""Workspaces: each belongs to the principal who created it, and the owner never changes."""

from aop.base.clock import Clock, from_text
from aop.contracts.errors import Conflict, Reason
from aop.contracts.workspace import Workspace, WorkspaceItem, WorkspaceRole
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.workspace.roles import require_caller
from aop.control_plane.workspace.store import workspaces
from aop.store.database import Database


class Workspaces:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, caller: str, workspace_id: str) -> Workspace:
        async with self._database.connection() as connection:
            workspace = await workspaces.insert_workspace(connection, workspace_id, caller, self._clock())
        if workspace is None:
            raise Conflict("the Workspace exists", reason=Reason.ALREADY_EXISTS)
        return workspace

    async def read(self, caller: str, workspace_id: str) -> Workspace:
        """Only for its owner and its callers. Every read of the Ledger in a Workspace makes this check first."""
        async with self._database.connection() as connection:
            access = await workspaces.workspace(connection, workspace_id, caller)
        return require_caller(access).workspace

    async def page(
        self, caller: str, role: WorkspaceRole | None, after: TimePosition | None, limit: int
    ) -> ListPage[WorkspaceItem, TimePosition]:
        """Those that the caller owns or may call."""
        async with self._database.connection() as connection:
            items = await workspaces.workspaces_of(connection, caller, role, after, limit + 1)
        return ListPage.cut(items, limit, _position)


def _position(workspace: Workspace) -> TimePosition:
    return from_text(workspace.created_at), workspace.workspace_id
