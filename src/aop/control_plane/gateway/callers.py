"""Routes of the callers of a Workspace."""

from collections.abc import Sequence
from datetime import datetime

from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.answers import answer_of, list_response
from aop.control_plane.workspace.callers import WorkspaceCallers
from aop.serving.edge.paging import PAGE_QUERY, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route

_CALLERS = "/v1/workspaces/:workspaceId/callers"
_CALLER = f"{_CALLERS}/:principalId"


class CallerRoutes:
    def __init__(self, callers: WorkspaceCallers) -> None:
        self._callers = callers

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v3 = Envelope.WORKSPACE
        return [
            access.route("GET", _CALLERS, self.page, v3, PAGE_QUERY),
            access.route("PUT", _CALLER, self.add, v3),
            access.route("DELETE", _CALLER, answer_of(self._callers.remove, "workspaceId", "principalId"), v3),
        ]

    async def page(self, request: Request) -> Response:
        paging = Paging("callers", tuple[datetime, SafeIdentifier], request)
        workspace_id = request.path["workspaceId"]
        return list_response(
            paging, await self._callers.page(request.principal, workspace_id, paging.after, paging.limit)
        )

    async def add(self, request: Request) -> Response:
        path = request.path
        added = await self._callers.add(request.principal, path["workspaceId"], path["principalId"])
        return json_response(201 if added.is_new else 200, added.caller)
