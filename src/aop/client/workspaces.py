"""Calls of Workspaces, their callers and Installations, and of the platform's status."""

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
    WorkspaceCaller,
    WorkspaceItem,
    WorkspaceRequest,
)

_WORKSPACE = "/v1/workspaces/{workspaceId}"
_CALLERS = _WORKSPACE + "/callers"
_CALLER = _CALLERS + "/{principalId}"
_INSTALLATIONS = _WORKSPACE + "/installations"
_INSTALLATION = _INSTALLATIONS + "/{installationId}"


class WorkspaceCalls:
    """Own Workspaces, share them, and decide which Agents may run in them with which permissions."""

    @operation("GET", "/v1/status")
    def read_platform_status(self) -> Call[PlatformStatus]:
        """The health of the platform and of each Router that its Control Plane asks.

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
    def list_workspaces(self, role: Literal["owner", "caller"] | None = None) -> Call[Page[WorkspaceItem]]:
        """The Workspaces that the caller owns or may call, oldest first, or one kind alone; `role` tells which.

        >>> {found.role.value for found in client.list_workspaces()}
        {'owner'}
        >>> list(client.list_workspaces("caller"))
        []
        """
        return Call(page_of(WorkspaceItem), query={"role": role})

    @operation("GET", _WORKSPACE)
    def read_workspace(self, workspace_id: str) -> Call[Workspace]:
        """One Workspace that the caller owns or may call.

        >>> client.read_workspace("nowhere")
        Traceback (most recent call last):
        aop.client.errors.PlatformError: NOT_FOUND: ...; workspace_unknown: There is no Workspace ... (trace ...)
        """
        return Call(json_of(Workspace), {"workspaceId": workspace_id})

    @list_operation(_CALLERS)
    def list_callers(self, workspace_id: str) -> Call[Page[WorkspaceCaller]]:
        """Current and former callers, oldest first; a former one has `removed_at`. A caller sees its own record alone.

        >>> [found.principal_id for found in client.list_callers("demo")]
        []
        """
        return Call(page_of(WorkspaceCaller), {"workspaceId": workspace_id})

    @operation("PUT", _CALLER, 200, 201)
    def add_caller(self, workspace_id: str, principal_id: str) -> Call[WorkspaceCaller]:
        """Lets a principal read the Workspace and invoke in it. The principal id is not looked up.

        >>> shared = client.create_workspace("shared")
        >>> client.add_caller("shared", "bob").added_by
        'alice'
        """
        return Call(json_of(WorkspaceCaller), _caller(workspace_id, principal_id))

    @operation("DELETE", _CALLER)
    def remove_caller(self, workspace_id: str, principal_id: str) -> Call[WorkspaceCaller]:
        """Ends what `add_caller` allowed, for every call that is authorized from now on. The record stays."""
        return Call(json_of(WorkspaceCaller), _caller(workspace_id, principal_id))

    @operation("POST", _INSTALLATIONS, 201)
    def install_agent(
        self,
        workspace_id: str,
        agent_id: str,
        version_constraint: str,
        *,
        accepted_permissions: Iterable[str],
        replaces: str | None = None,
    ) -> Call[Installation]:
        """Pins the best version of the range, and accepts exactly the permissions named.

        `replaces` is the id of the enabled Installation of this Agent that the new one takes the place of, in one step:
        no call is refused in between.

        >>> team = client.create_workspace("team")
        >>> client.install_agent("team", "acme:adder", "^1.0.0", accepted_permissions=["sums.read"]).installed_version
        '1.0.0'
        """
        body = InstallRequest(
            agent_id=agent_id,
            version_constraint=version_constraint,
            accepted_permissions=tuple(accepted_permissions),
            replaces=msgspec.UNSET if replaces is None else replaces,
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
        """Ends an Installation and returns its record, which stays."""
        return Call(json_of(Installation), _installation(workspace_id, installation_id))


def _installation(workspace_id: str, installation_id: str) -> dict[str, str]:
    return {"workspaceId": workspace_id, "installationId": installation_id}


def _caller(workspace_id: str, principal_id: str) -> dict[str, str]:
    return {"workspaceId": workspace_id, "principalId": principal_id}
