"""Readers of Workspaces, their callers and Installations."""

from enum import StrEnum
from typing import Literal

import msgspec

from aop.contracts.card import Limits
from aop.contracts.catalog import Resemblance
from aop.contracts.wire import Wire


class InstallationStatus(StrEnum):
    ENABLED = "enabled"
    DISABLED = "disabled"
    UNINSTALLED = "uninstalled"


class WorkspaceRole(StrEnum):
    """What a principal is to a Workspace; a stranger has none."""

    OWNER = "owner"
    CALLER = "caller"


class WorkspaceRequest(Wire, frozen=True, kw_only=True):
    workspace_id: str


class Workspace(Wire, frozen=True, kw_only=True):
    workspace_id: str
    owner_id: str
    created_at: str
    updated_at: str


class WorkspaceItem(Workspace, frozen=True, kw_only=True):
    """A Workspace as a list shows it."""

    role: WorkspaceRole


class WorkspaceCaller(Wire, frozen=True, kw_only=True):
    """A principal with whom a Workspace is shared, or was until `removed_at`."""

    workspace_id: str
    principal_id: str
    added_at: str
    added_by: str
    removed_at: str | msgspec.UnsetType = msgspec.UNSET


class InstallRequest(Wire, frozen=True, kw_only=True):
    agent_id: str
    version_constraint: str
    accepted_permissions: tuple[str, ...]
    replaces: str | msgspec.UnsetType = msgspec.UNSET
    """The enabled Installation that the new one takes the place of."""


class InstallationUpdate(Wire, frozen=True, kw_only=True):
    """The two states an owner may set; uninstalling is another call."""

    status: Literal["enabled", "disabled"]


class Installation(Wire, frozen=True, kw_only=True):
    installation_id: str
    workspace_id: str
    agent_id: str
    version_constraint: str
    installed_version: str
    installed_release_id: str
    accepted_permissions: tuple[str, ...]
    status: InstallationStatus
    installed_at: str
    updated_at: str
    uninstalled_at: str | msgspec.UnsetType = msgspec.UNSET
    replaced_by: str | msgspec.UnsetType = msgspec.UNSET


class InstalledSkill(Wire, frozen=True, kw_only=True):
    id: str
    name: str
    permissions_accepted: bool


VersionRefusal = Literal[
    "AGENT_RELEASE_UNPUBLISHED", "AGENT_RELEASE_SUSPENDED", "AGENT_RELEASE_REVOKED", "AGENT_DISABLED"
]
"""Why no call of an exact version is accepted."""


class InstallationItem(Installation, frozen=True, kw_only=True):
    """An Installation as a list shows it: with what its Card says in short."""

    agent_name: str
    limits: Limits
    skills: tuple[InstalledSkill, ...]
    refused_with: VersionRefusal | msgspec.UnsetType = msgspec.UNSET
    """Why every call is refused now, whatever the Installation's own state."""
    newer_version: str | msgspec.UnsetType = msgspec.UNSET
    resembles: tuple[Resemblance, ...] | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "workspace/1": Workspace,
    "workspace/1#createRequest": WorkspaceRequest,
    "workspace-item/1": WorkspaceItem,
    "workspace-caller/1": WorkspaceCaller,
    "install-request/2": InstallRequest,
    "installation-update/1": InstallationUpdate,
    "installation/2": Installation,
    "installation-item/2": InstallationItem,
}
