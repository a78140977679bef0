"""Routes of Workspaces, their callers and their Installations."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.workspace import (
    InstallationStatus,
    InstallationUpdate,
    InstallRequest,
    WorkspaceRequest,
    WorkspaceRole,
)
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.answers import answer_of, list_response
from aop.control_plane.workspace.callers import WorkspaceCallers
from aop.control_plane.workspace.installations import Installations
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.edge.body import read_json
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route
from aop.store.rows import PageSize

_WORKSPACES = "/v1/workspaces"
_WORKSPACE = f"{_WORKSPACES}/:workspaceId"
_CALLERS = f"{_WORKSPACE}/callers"
_CALLER = f"{_CALLERS}/:principalId"
_INSTALLATIONS = f"{_WORKSPACE}/installations"
_INSTALLATION = f"{_INSTALLATIONS}/:installationId"


class WorkspaceRoutes:
    def __init__(
        self,
        workspaces: Workspaces,
        callers: WorkspaceCallers,
        installations: Installations,
        request_max_bytes: int,
    ) -> None:
        self._workspaces = workspaces
        self._callers = callers
        self._installations = installations
        self._request_max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v3, read_installation = Envelope.WORKSPACE, answer_of(self._installations.read, "workspaceId", "installationId")
        return [
            access.route("POST", _WORKSPACES, self.create, v3),
            access.route("GET", _WORKSPACES, self.page, v3, {**PAGE_QUERY, "role": WorkspaceRole}),
            access.route("GET", _WORKSPACE, answer_of(self._workspaces.read, "workspaceId"), v3),
            access.route("GET", _CALLERS, self.callers, v3, PAGE_QUERY),
            access.route("PUT", _CALLER, self.add_caller, v3),
            access.route("DELETE", _CALLER, answer_of(self._callers.remove, "workspaceId", "principalId"), v3),
            access.route("POST", _INSTALLATIONS, self.install, v3),
            access.route("GET", _INSTALLATIONS, self.installed, v3, PAGE_QUERY),
            access.route("GET", _INSTALLATION, read_installation, v3),
            access.route("PATCH", _INSTALLATION, self.update, v3),
            access.route("DELETE", _INSTALLATION, self.uninstall, v3),
        ]

    async def create(self, request: Request) -> Response:
        body = await read_json(request, document("workspace/1#createRequest"), self._request_max_bytes)
        workspace = msgspec.json.decode(body.raw, type=WorkspaceRequest)
        return json_response(201, await self._workspaces.create(request.principal, workspace.workspace_id))

    async def page(self, request: Request) -> Response:
        paging = Paging("workspaces", tuple[datetime, SafeIdentifier], request)
        role = request.query.get("role")
        return list_response(paging, await self._workspaces.page(request.principal, role, paging.after, paging.limit))

    async def callers(self, request: Request) -> Response:
        paging = Paging("callers", tuple[datetime, SafeIdentifier], request)
        workspace_id = request.path["workspaceId"]
        return list_response(
            paging, await self._callers.page(request.principal, workspace_id, paging.after, paging.limit)
        )

    async def add_caller(self, request: Request) -> Response:
        path = request.path
        added = await self._callers.add(request.principal, path["workspaceId"], path["principalId"])
        return json_response(201 if added.is_new else 200, added.caller)

    async def install(self, request: Request) -> Response:
        body = await read_json(request, document("install-request/2"), self._request_max_bytes)
        installation = msgspec.json.decode(body.raw, type=InstallRequest)
        installed = await self._installations.install(request.principal, request.path["workspaceId"], installation)
        return json_response(201, installed)

    async def installed(self, request: Request) -> Response:
        paging = Paging("installations", tuple[datetime, SafeIdentifier], request)
        workspace_id, size = request.path["workspaceId"], PageSize(paging.limit, PAGE_BYTES)
        return list_response(
            paging, await self._installations.page(request.principal, workspace_id, paging.after, size)
        )

    async def update(self, request: Request) -> Response:
        body = await read_json(request, document("installation-update/1"), self._request_max_bytes)
        change = msgspec.json.decode(body.raw, type=InstallationUpdate)
        return await self._change(request, InstallationStatus(change.status))

    async def uninstall(self, request: Request) -> Response:
        return await self._change(request, InstallationStatus.UNINSTALLED)

    async def _change(self, request: Request, status: InstallationStatus) -> Response:
        path = request.path
        changed = await self._installations.change(
            request.principal, path["workspaceId"], path["installationId"], status
        )
        return json_response(200, changed)
