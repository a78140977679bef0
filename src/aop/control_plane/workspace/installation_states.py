"""The present state of an Agent in a Workspace: the caller's role, Installation and pinned version, read together."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from aop.base.clock import Clock
from aop.base.recent import RecentlyUsed
from aop.contracts.authorization import AuthorizationDocument, AuthorizedInstallation
from aop.contracts.errors import DependencyFailed
from aop.contracts.identity import Pin
from aop.control_plane.registry.pins import PinnedRelease, PinnedVersion
from aop.control_plane.workspace.store import installations
from aop.control_plane.workspace.store.authorizations import installations_ever
from aop.control_plane.workspace.store.earlier_states import EarlierState, ShortReads
from aop.control_plane.workspace.store.installations import InstallationStateRow, StateColumns, StateKey, state_row
from aop.control_plane.workspace.store.replacements import replaced_state
from aop.store.database import Connection, Database
from aop.store.grouped_reads import GroupedReads

CurrentInstallation = installations.CurrentInstallation

REPLACED_FOR = timedelta(seconds=60)
"""How long a call that was authorized before a replacement is resolved with what was replaced."""
MAX_KEPT = 1024
"""States in the cache: callers name what they like, and nothing of it may grow without end."""


def authorization_document(installation: CurrentInstallation, release: PinnedRelease) -> AuthorizationDocument:
    if release.published is None:
        raise DependencyFailed("a published Release has no publication")
    return AuthorizationDocument(
        installation=AuthorizedInstallation(
            installation_id=installation.installation_id,
            installed_version=installation.version,
            installed_release_id=installation.release_id,
            accepted_permissions=installation.accepted_permissions,
        ),
        release=release.published,
    )


class Permit(msgspec.Struct, frozen=True):
    """The exact pin a call may run, and the Installation that permits it."""

    pin: Pin
    document: AuthorizationDocument

    @property
    def installation_id(self) -> str:
        return self.document.installation.installation_id

    @property
    def accepted_permissions(self) -> Sequence[str]:
        return self.document.installation.accepted_permissions


class InstallationState:
    """What one statement read: all parts are of the same moment.

    Calls that read the same columns share this too, and what the first of them worked out from it.
    """

    __slots__ = ("_pin", "_usable", "_version", "authorized", "installation", "role")

    def __init__(self, row: InstallationStateRow) -> None:
        self.role = row.role
        self.installation = row.installation
        self._pin = row.pin
        self._version: PinnedVersion | None = None
        self._usable: PinnedRelease | None = None
        self.authorized: Permit | None = None
        """What permitted the calls that read this; the same object for as long as it is read again."""

    def authorize(self, workspace_id: str, version: PinnedVersion, installation: CurrentInstallation) -> Permit:
        """What permits a call: its own Installation, and the Release of the version that this pins."""
        authorized = self.authorized
        if authorized is None:
            pin = Pin(workspace_id, version.agent_id, version.version, installation.release_id, version.digest)
            document = authorization_document(installation, self.require_usable(version))
            authorized = self.authorized = Permit(pin, document)
        return authorized

    def require_agreement(self, installation: CurrentInstallation) -> PinnedVersion:
        """Returns the pinned version, when the Registry still has exactly what was installed."""
        if self._version is None:
            self._version = self._agreeing(installation)
        return self._version

    def require_usable(self, version: PinnedVersion) -> PinnedRelease:
        """The Release of the pinned version, when it may run."""
        if self._usable is None:
            self._usable = version.require_usable()
        return self._usable

    def _agreeing(self, installation: CurrentInstallation) -> PinnedVersion:
        if self._pin is None:
            raise DependencyFailed("the pinned version is gone")
        pin = PinnedVersion.of(self._pin)
        if pin.release is None or pin.release.release_id != installation.release_id:
            raise DependencyFailed("the pinned Release is not the version's Release")
        if pin.digest != installation.card_digest:
            raise DependencyFailed("the pinned Card is another one")
        return pin


class InstallationStates:
    """Reads the store for every call; calls that wait at the same time share one statement.

    What was read is compared with what was read for the same key before. If nothing has changed, what was worked
    out from it holds again. A lone call reads only what can have changed, and all of it.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._states: GroupedReads[StateKey, InstallationState] = GroupedReads(database, self._read)
        self._kept: RecentlyUsed[StateKey, tuple[StateColumns, InstallationState, EarlierState | None]]
        self._kept = RecentlyUsed(max_items=MAX_KEPT)
        self._short_reads = ShortReads()

    def read(
        self, workspace_id: str, agent_id: str, principal: str | None
    ) -> "asyncio.Future[InstallationState | None]":
        """None when there is no such Workspace. Without a principal the state has no role."""
        return self._states.begin((workspace_id, agent_id, principal))

    async def replaced(self, workspace_id: str, agent_id: str, version: str) -> InstallationState | None:
        """As if the Installation of this version had not been replaced just now; None when none was, or when what
        stands in its place is not enabled."""
        since = self._clock() - REPLACED_FOR
        async with self._database.connection() as connection:
            row = await replaced_state(connection, workspace_id, agent_id, version, since)
        return None if row is None else InstallationState(row)

    async def authorizations(self, workspace_id: str, agent_id: str, version: str) -> Sequence[AuthorizationDocument]:
        """What can have permitted a call of this version: every Installation there ever was of it."""
        async with self._database.connection() as connection:
            rows = await installations_ever(connection, workspace_id, agent_id, version)
        found = list[AuthorizationDocument]()
        for row in rows:
            release = None if row.pin is None else PinnedVersion.of(row.pin).release
            if row.installation is not None and release is not None and release.published is not None:
                found.append(authorization_document(row.installation, release))
        return found

    async def close(self) -> None:
        await self._states.close()

    async def _read(self, connection: Connection, keys: Sequence[StateKey]) -> dict[StateKey, InstallationState]:
        kept = self._kept.find(keys[0]) if len(keys) == 1 else None
        if kept is not None and kept[2] is not None and await self._short_reads.is_unchanged(connection, kept[2]):
            return {keys[0]: kept[1]}
        read = await installations.installation_states(connection, keys)
        return {key: self._state(key, columns) for key, columns in read.items()}

    def _state(self, key: StateKey, columns: StateColumns) -> InstallationState:
        kept = self._kept.find(key)
        if kept is not None and kept[0] == columns:
            return kept[1]
        state = InstallationState(state_row(columns))
        self._kept.keep(key, (columns, state, EarlierState.of(key, columns)))
        return state
