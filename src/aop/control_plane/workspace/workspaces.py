"""Workspaces: each belongs to the principal who created it, and the owner never changes."""

from collections.abc import Sequence
from typing import TypeVar

from aop.base.clock import Clock, to_text
from aop.contracts.errors import Conflict, Forbidden, NotFound, Reason
from aop.contracts.workspace import Workspace
from aop.control_plane.workspace import store
from aop.control_plane.workspace.store import InstallPlace, OwnedInstallation, Position, WorkspaceRow
from aop.store.database import Database

R = TypeVar("R", WorkspaceRow, InstallPlace, OwnedInstallation)


class Workspaces:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, caller: str, workspace_id: str) -> Workspace:
        async with self._database.connection() as connection:
            row = await store.insert_workspace(connection, workspace_id, caller, self._clock())
        if row is None:
            raise Conflict("the Workspace exists", reason=Reason.ALREADY_EXISTS)
        return _workspace(row)

    async def read(self, caller: str, workspace_id: str) -> Workspace:
        """Only for its owner. Every other read in a Workspace makes this check first."""
        async with self._database.connection() as connection:
            row = await store.workspace(connection, workspace_id)
        return _workspace(require_owner(row, caller))

    async def page(self, caller: str, after: Position | None, limit: int) -> Sequence[Workspace]:
        """Returns the caller's own, up to one more than the limit, which tells whether there is a next page."""
        async with self._database.connection() as connection:
            rows = await store.workspaces_of(connection, caller, after, limit + 1)
        return [_workspace(row) for row in rows]


def require_owner(row: R | None, caller: str) -> R:
    """`row` names the owner of a Workspace, or is None when there is no such Workspace."""
    if row is None:
        raise NotFound("no such Workspace", reason=Reason.WORKSPACE_UNKNOWN)
    if row.owner_id != caller:
        raise Forbidden("the Workspace belongs to another principal", reason=Reason.NOT_OWNER)
    return row


def _workspace(row: WorkspaceRow) -> Workspace:
    return Workspace(
        workspace_id=row.workspace_id,
        owner_id=row.owner_id,
        created_at=to_text(row.created_at),
        updated_at=to_text(row.updated_at),
    )
