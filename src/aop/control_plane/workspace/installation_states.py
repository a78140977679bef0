"""How an Agent stands in a Workspace right now: owner, current Installation and pinned version, read together."""

from collections.abc import Sequence
from typing import Any

import msgspec

from aop.contracts.errors import DependencyFailed
from aop.contracts.workspace import InstallationStatus
from aop.control_plane.registry.pins import PinnedVersion
from aop.control_plane.workspace import store
from aop.store.database import Database
from aop.store.grouped_reads import GroupedReads


class CurrentInstallation(msgspec.Struct, frozen=True):
    installation_id: str
    status: InstallationStatus
    version: str
    release_id: str
    card_digest: str
    accepted_permissions: Sequence[str]


class InstallationState:
    """One row of one statement: its parts belong to the same moment."""

    def __init__(self, row: Any) -> None:
        self._row = row
        self.owner_id: str = row["owner_id"]

    @property
    def installation(self) -> CurrentInstallation | None:
        row = self._row
        if row["installation_id"] is None:
            return None
        return CurrentInstallation(
            row["installation_id"],
            InstallationStatus(row["status"]),
            row["installed_version"],
            row["installed_release_id"],
            row["installed_card_digest"],
            tuple(row["accepted_permissions"]),
        )

    def require_agreement(self, installation: CurrentInstallation) -> PinnedVersion:
        """The pinned version, when the Registry still knows exactly what was installed."""
        if self._row["version"] is None:
            raise DependencyFailed("the pinned version is gone")
        pin = PinnedVersion.of(self._row)
        if pin.release is None or pin.release.release_id != installation.release_id:
            raise DependencyFailed("the pinned Release is not the version's Release")
        if pin.digest != installation.card_digest:
            raise DependencyFailed("the pinned Card is another one")
        return pin


class InstallationStates:
    """Reads afresh for every call; calls that wait together are read together."""

    def __init__(self, database: Database) -> None:
        self._rows: GroupedReads[tuple[str, str], Any] = GroupedReads(database, store.installation_states)

    async def read(self, workspace_id: str, agent_id: str) -> InstallationState | None:
        """None when there is no such Workspace."""
        row = await self._rows.get((workspace_id, agent_id))
        return None if row is None else InstallationState(row)

    async def close(self) -> None:
        await self._rows.close()
