"""Installations: an Agent in a Workspace, pinned to one exact Release. Contacts no Agent."""

from collections.abc import Sequence

import msgspec

from aop.base.clock import Clock, from_text
from aop.base.ids import new_id
from aop.base.semver_range import Range
from aop.cards.summary import CardSummary
from aop.contracts.errors import Conflict, InvalidRequest, NotFound, Reason, Violation
from aop.contracts.workspace import (
    Installation,
    InstallationItem,
    InstallationStatus,
    InstalledSkill,
    InstallRequest,
)
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.registry.pins import PinnedVersion, Pins, PinStatus
from aop.control_plane.workspace.roles import require_caller, require_owner
from aop.control_plane.workspace.selection import highest_version, read_constraint
from aop.control_plane.workspace.store import installations, workspaces
from aop.control_plane.workspace.store.installations import (
    InstallationAccess,
    InstallationCounts,
    NewInstallation,
)
from aop.control_plane.workspace.store.replacements import replace
from aop.store.database import Database
from aop.store.rows import PageSize

_SOURCES = {
    InstallationStatus.ENABLED: (InstallationStatus.DISABLED,),
    InstallationStatus.DISABLED: (InstallationStatus.ENABLED,),
    InstallationStatus.UNINSTALLED: (InstallationStatus.ENABLED, InstallationStatus.DISABLED),
}
"""For each state, the states from which an Installation may move to it."""


class Installations:
    def __init__(self, database: Database, clock: Clock, pins: Pins) -> None:
        self._database = database
        self._clock = clock
        self._pins = pins

    async def install(self, caller: str, workspace_id: str, request: InstallRequest) -> Installation:
        """With `replaces`, the Installation named there is uninstalled in the same transaction."""
        constraint = read_constraint(request.version_constraint)
        if isinstance(request.replaces, str):
            return await self._replace(caller, workspace_id, request, request.replaces, constraint)
        async with self._database.connection() as connection:
            place = await installations.place_for(connection, workspace_id, caller, request.agent_id)
        if require_owner(place).installed:
            raise Conflict("the Agent is installed", reason=Reason.ALREADY_INSTALLED)
        new = await self._selected(workspace_id, request, constraint)
        async with self._database.connection() as connection:
            installation = await installations.insert_installation(connection, new)
        if installation is None:
            raise Conflict("the Agent was installed just now", reason=Reason.ALREADY_INSTALLED)
        return installation

    async def _replace(
        self, caller: str, workspace_id: str, request: InstallRequest, replaced_id: str, constraint: Range
    ) -> Installation:
        replaced = _required(require_owner(await self._find(caller, workspace_id, replaced_id)))
        if replaced.agent_id != request.agent_id:
            raise InvalidRequest(Violation("/replaces", "replaces"))
        new = await self._selected(workspace_id, request, constraint)
        async with self._database.transaction() as connection:
            installation = await replace(connection, replaced.installation_id, new)
            if installation is None:
                raise Conflict("the Installation is not enabled", reason=Reason.STATE_CHANGED)
        return installation

    async def _selected(self, workspace_id: str, request: InstallRequest, constraint: Range) -> NewInstallation:
        """The pin of the highest version in the range, with permissions that its Card declares."""
        version = await highest_version(self._pins, request.agent_id, constraint)
        pin = await self._pins.pinned(request.agent_id, version)
        release = pin.require_usable()
        await self._require_declared(pin, request.accepted_permissions)
        return NewInstallation(
            new_id("inst"),
            workspace_id,
            request.agent_id,
            request.version_constraint,
            pin.version,
            release.release_id,
            pin.digest,
            sorted(request.accepted_permissions),
            self._clock(),
        )

    async def read(self, caller: str, workspace_id: str, installation_id: str) -> Installation:
        return _required(require_caller(await self._find(caller, workspace_id, installation_id)))

    async def page(
        self, caller: str, workspace_id: str, after: TimePosition | None, size: PageSize
    ) -> ListPage[InstallationItem, TimePosition]:
        """Returns current and former Installations in the order of installation."""
        async with self._database.connection() as connection:
            require_caller(await workspaces.workspace(connection, workspace_id, caller))
            page = await installations.installations_of(connection, workspace_id, after, size)
        summaries = await self._pins.summaries([row.card for row in page.rows])
        statuses = await self._pins.statuses([row.card for row in page.rows if _is_current(row.installation)])
        items = [_item(row.installation, summaries[row.card.digest], statuses.get(row.card)) for row in page.rows]
        return ListPage.of(items, _position, is_last=page.is_last)

    async def count(self, release_id: str) -> InstallationCounts:
        """How many Workspaces have it installed now, for a caller who may know this."""
        async with self._database.connection() as connection:
            return await installations.count_of_release(connection, release_id)

    async def change(
        self, caller: str, workspace_id: str, installation_id: str, status: InstallationStatus
    ) -> Installation:
        """Enables, disables or uninstalls. One of several calls at once succeeds; the others raise Conflict."""
        sources = _SOURCES[status]
        if _required(require_owner(await self._find(caller, workspace_id, installation_id))).status not in sources:
            raise Conflict(f"the Installation cannot become {status}", reason=Reason.INSTALLATION_STATE)
        async with self._database.connection() as connection:
            installation = await installations.move(connection, installation_id, sources, status, self._clock())
        if installation is None:
            raise Conflict("the Installation changed just now", reason=Reason.STATE_CHANGED)
        return installation

    async def _find(self, caller: str, workspace_id: str, installation_id: str) -> InstallationAccess | None:
        async with self._database.connection() as connection:
            return await installations.find_installation(connection, workspace_id, caller, installation_id)

    async def _require_declared(self, pin: PinnedVersion, accepted: Sequence[str]) -> None:
        if not accepted:
            return
        declared = (await self._pins.summary(pin)).declared
        undeclared = [index for index, permission in enumerate(accepted) if permission not in declared]
        if undeclared:
            raise InvalidRequest(
                *(Violation(f"/acceptedPermissions/{index}", "permission_undeclared") for index in undeclared)
            )


def _required(access: InstallationAccess) -> Installation:
    if access.installation is None:
        raise NotFound("no such Installation in this Workspace", reason=Reason.INSTALLATION_UNKNOWN)
    return access.installation


def _is_current(installation: Installation) -> bool:
    return installation.status is not InstallationStatus.UNINSTALLED


def _position(installation: Installation) -> TimePosition:
    return from_text(installation.installed_at), installation.installation_id


def _item(installation: Installation, card: CardSummary, status: PinStatus | None) -> InstallationItem:
    """Without the status of one that is uninstalled: nothing is called, and nothing is upgraded."""
    accepted = frozenset(installation.accepted_permissions)
    shown = status if status is not None and _is_current(installation) else PinStatus()
    return InstallationItem(
        **msgspec.structs.asdict(installation),
        **msgspec.structs.asdict(shown),
        agent_name=card.name,
        limits=card.limits,
        skills=tuple(
            InstalledSkill(id=skill_id, name=skill.name, permissions_accepted=skill.required <= accepted)
            for skill_id, skill in card.skills.items()
        ),
    )
