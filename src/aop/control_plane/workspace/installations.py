"""Installations: an Agent in a Workspace, pinned to one exact Release. No Agent is ever contacted here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.base.clock import Clock, to_text
from aop.base.ids import new_id
from aop.contracts.errors import Conflict, InvalidRequest, NotFound, Violation
from aop.contracts.workspace import Installation, InstallationStatus, InstallRequest
from aop.control_plane.registry.pins import PinnedVersion, Pins
from aop.control_plane.workspace import store
from aop.control_plane.workspace.selection import highest_version, read_constraint
from aop.control_plane.workspace.store import Position
from aop.control_plane.workspace.workspaces import require_owner
from aop.store.database import Database

_SOURCES = {
    InstallationStatus.ENABLED: (InstallationStatus.DISABLED,),
    InstallationStatus.DISABLED: (InstallationStatus.ENABLED,),
    InstallationStatus.UNINSTALLED: (InstallationStatus.ENABLED, InstallationStatus.DISABLED),
}
"""From which states an Installation may come into each state."""


@dataclass(frozen=True)
class InstallationPage:
    """Some Installations, and where the next page begins when there is one."""

    installations: Sequence[Installation]
    last: Position | None


class Installations:
    def __init__(self, database: Database, clock: Clock, pins: Pins) -> None:
        self._database = database
        self._clock = clock
        self._pins = pins

    async def install(self, caller: str, workspace_id: str, request: InstallRequest) -> Installation:
        wanted = read_constraint(request.version_constraint)
        async with self._database.connection() as connection:
            place = await store.place_for(connection, workspace_id, request.agent_id)
        require_owner(place, caller)
        if place["installed"]:
            raise Conflict("the Agent is installed")
        version = await highest_version(self._pins, request.agent_id, wanted)
        pin = await self._pins.pinned(request.agent_id, version)
        release = pin.require_usable()
        await self._require_declared(pin, request.accepted_permissions)
        accepted = sorted(request.accepted_permissions)
        values = (pin.version, release.release_id, pin.digest, accepted, self._clock())
        async with self._database.connection() as connection:
            row = await store.insert_installation(
                connection,
                (new_id("inst"), workspace_id, request.agent_id, request.version_constraint, *values),
            )
        if row is None:
            raise Conflict("the Agent was installed just now")
        return _installation(row)

    async def read(self, caller: str, workspace_id: str, installation_id: str) -> Installation:
        return _installation(await self._own(caller, workspace_id, installation_id))

    async def page(
        self, caller: str, workspace_id: str, after: Position | None, limit: int, most_bytes: int
    ) -> InstallationPage:
        """Current ones and history, in the order they were installed."""
        async with self._database.connection() as connection:
            require_owner(await store.workspace(connection, workspace_id), caller)
            rows = await store.installations_of(connection, workspace_id, after, (limit + 1, most_bytes))
        shown = rows[:limit]
        more = bool(shown) and shown[0]["found"] > len(shown)
        last = (shown[-1]["installed_at"], shown[-1]["installation_id"]) if more else None
        return InstallationPage([_installation(row) for row in shown], last)

    async def change(
        self, caller: str, workspace_id: str, installation_id: str, status: InstallationStatus
    ) -> Installation:
        """Enables, disables or uninstalls; of calls that race each other one wins and the others are in conflict."""
        await self._own(caller, workspace_id, installation_id)
        async with self._database.connection() as connection:
            row = await store.move(connection, installation_id, _SOURCES[status], status, self._clock())
        if row is None:
            raise Conflict(f"the Installation cannot become {status}")
        return _installation(row)

    async def _own(self, caller: str, workspace_id: str, installation_id: str) -> Any:
        async with self._database.connection() as connection:
            row = await store.installation(connection, workspace_id, installation_id)
        require_owner(row, caller)
        if row["installation_id"] is None:
            raise NotFound("no such Installation in this Workspace")
        return row

    async def _require_declared(self, pin: PinnedVersion, accepted: Sequence[str]) -> None:
        if not accepted:
            return
        declared = (await self._pins.rights(pin)).declared
        undeclared = [index for index, permission in enumerate(accepted) if permission not in declared]
        if undeclared:
            raise InvalidRequest(
                *(Violation(f"/acceptedPermissions/{index}", "permission_undeclared") for index in undeclared)
            )


def _installation(row: Any) -> Installation:
    uninstalled_at = row["uninstalled_at"]
    return Installation(
        installation_id=row["installation_id"],
        workspace_id=row["workspace_id"],
        agent_id=row["agent_id"],
        version_constraint=row["version_constraint"],
        installed_version=row["installed_version"],
        installed_release_id=row["installed_release_id"],
        accepted_permissions=tuple(row["accepted_permissions"]),
        status=InstallationStatus(row["status"]),
        installed_at=to_text(row["installed_at"]),
        updated_at=to_text(row["updated_at"]),
        uninstalled_at=msgspec.UNSET if uninstalled_at is None else to_text(uninstalled_at),
    )
