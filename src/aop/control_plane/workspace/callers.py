"""Callers: principals with whom the owner shares a Workspace. Their ids are not looked up."""

from typing import Final

import msgspec

from aop.base.clock import Clock, from_text
from aop.contracts.errors import Conflict, NotFound, Reason
from aop.contracts.workspace import WorkspaceCaller, WorkspaceRole
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.workspace.roles import require_caller, require_owner
from aop.control_plane.workspace.store import callers, workspaces
from aop.store.database import Database

MAX_CALLERS: Final = 1_000
"""Current callers of one Workspace; former ones do not count."""


class AddedCaller(msgspec.Struct, frozen=True):
    caller: WorkspaceCaller
    is_new: bool


class WorkspaceCallers:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, owner: str, workspace_id: str, principal_id: str) -> AddedCaller:
        async with self._database.transaction() as connection:
            require_owner(await workspaces.workspace(connection, workspace_id, owner))
            if principal_id == owner:
                raise Conflict("the owner is no caller", reason=Reason.CALLER_IS_OWNER)
            await callers.wait_for_turn(connection, workspace_id)
            current = await callers.current_caller(connection, workspace_id, principal_id)
            if current is not None:
                return AddedCaller(current, is_new=False)
            if await callers.count_current(connection, workspace_id) >= MAX_CALLERS:
                raise Conflict("the Workspace has no room for a caller", reason=Reason.CALLER_LIMIT)
            added = await callers.insert_caller(connection, workspace_id, principal_id, owner, self._clock())
        return AddedCaller(added, is_new=True)

    async def remove(self, owner: str, workspace_id: str, principal_id: str) -> WorkspaceCaller:
        """Whatever is authorized after this has returned finds the principal removed; what runs goes on."""
        async with self._database.connection() as connection:
            require_owner(await workspaces.workspace(connection, workspace_id, owner))
            former = await callers.end_caller(connection, workspace_id, principal_id, self._clock())
        if former is None:
            raise NotFound("no current caller of the Workspace", reason=Reason.CALLER_UNKNOWN)
        return former

    async def page(
        self, principal: str, workspace_id: str, after: TimePosition | None, limit: int
    ) -> ListPage[WorkspaceCaller, TimePosition]:
        """Every record for the owner, the own current one for a caller."""
        async with self._database.connection() as connection:
            access = require_caller(await workspaces.workspace(connection, workspace_id, principal))
            if access.role is WorkspaceRole.OWNER:
                records = await callers.callers_of(connection, workspace_id, after, limit + 1)
                return ListPage.cut(records, limit, _position)
            own = await callers.current_caller(connection, workspace_id, principal)
        # One record is one page; a cursor after it leads to nothing.
        return ListPage(() if own is None or after is not None else (own,), None)


def _position(caller: WorkspaceCaller) -> TimePosition:
    return from_text(caller.added_at), caller.principal_id
