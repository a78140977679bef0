"""Calls of Workspaces and Installations, and of the platform's status."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from aop.client.call import Call, Page, json_of, page_of
from aop.client.operation import list_operation, operation
from aop.contracts.health import PlatformStatus
from aop.contracts.workspace import (
    Installation,
    InstallationItem,
    InstallationUpdate,
    InstallRequest,
    Workspace,
    WorkspaceRequest,
)

_WORKSPACE = "/v1/workspaces/{workspaceId}"
_INSTALLATIONS = _WORKSPACE + "/installations"
_INSTALLATION = _INSTALLATIONS + "/{installationId}"


class WorkspaceCalls:
    """Own Workspaces, and decide which Agents may run in them with which permissions."""

    @operation("GET", "/v1/status")
    def read_platform_status(self) -> Call[PlatformStatus]:
        """The health of the platform.

        >>> client.read_platform_status().router.value
        'ok'
        """
        return Call(json_of(PlatformStatus))

    @operation("POST", "/v1/workspaces", 201)
    def create_workspace(self, workspace_id: str) -> Call[Workspace]:
        """A new Workspace that belongs to the caller.

        >>> client.create_workspace("research").workspace_id
        'research'
        """
        return Call(json_of(Workspace), body=msgspec.json.encode(WorkspaceRequest(workspace_id=workspace_id)))

    @list_operation("/v1/workspaces")
    def list_workspaces(self) -> Call[Page[Workspace]]:
        """The caller's own Workspaces, oldest first."""
        return Call(page_of(Workspace))

    @operation("GET", _WORKSPACE)
    def read_workspace(self, workspace_id: str) -> Call[Workspace]:
        """One own Workspace.

        >>> client.read_workspace("nowhere")
        Traceback (most recent call last):
        aop.client.errors.PlatformError: NOT_FOUND: ...; workspace_unknown: There is no Workspace ... (trace ...)
        """
        return Call(json_of(Workspace), {"workspaceId": workspace_id})

    @operation("POST", _INSTALLATIONS, 201)
    def install_agent(
        self,
        workspace_id: str,
        agent_id: str,
        version_constraint: str,
        *,
        accepted_permissions: Iterable[str],
    ) -> Call[Installation]:
        """Pins the best version of the range, and accepts exactly the permissions named.

        >>> team = client.create_workspace("team")
        >>> client.install_agent("team", "acme:adder", "^1.0.0", accepted_permissions=["sums.read"]).installed_version
        '1.0.0'
        """
        body = InstallRequest(
            agent_id=agent_id, version_constraint=version_constraint, accepted_permissions=tuple(accepted_permissions)
        )
        return Call(json_of(Installation), {"workspaceId": workspace_id}, body=msgspec.json.encode(body))

    @list_operation(_INSTALLATIONS)
    def list_installations(self, workspace_id: str) -> Call[Page[InstallationItem]]:
        """Current and former Installations, oldest first; former ones are `uninstalled`. Each has its Skills.

        >>> [(found.agent_id, found.status.value) for found in client.list_installations("demo")]
        [('acme:adder', 'enabled')]
        """
        return Call(page_of(InstallationItem), {"workspaceId": workspace_id})

    @operation("GET", _INSTALLATION)
    def read_installation(self, workspace_id: str, installation_id: str) -> Call[Installation]:
        """One Installation, current or former."""
        return Call(json_of(Installation), _installation(workspace_id, installation_id))

    @operation("PATCH", _INSTALLATION)
    def update_installation(
        self, workspace_id: str, installation_id: str, status: Literal["enabled", "disabled"]
    ) -> Call[Installation]:
        """Enables or disables an Installation; a disabled one refuses Invocations."""
        body = msgspec.json.encode(InstallationUpdate(status=status))
        return Call(json_of(Installation), _installation(workspace_id, installation_id), body=body)

    @operation("DELETE", _INSTALLATION)
    def uninstall_agent(self, workspace_id: str, installation_id: str) -> Call[Installation]:
        """Ends an Installation and returns its record, which is kept."""
        return Call(json_of(Installation), _installation(workspace_id, installation_id))


def _installation(workspace_id: str, installation_id: str) -> dict[str, str]:
    return {"workspaceId": workspace_id, "installationId": installation_id}
