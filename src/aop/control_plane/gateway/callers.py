"""Routes of the callers of a Workspace."""

from collections.abc import Sequence

from aop.base.clock import from_text
from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.time_position import TimePosition, after
from aop.control_plane.workspace.callers import WorkspaceCallers
from aop.serving.edge.paging import PAGE_QUERY, ListAnswer, Paging
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
            access.route("DELETE", _CALLER, self.remove, v3),
        ]

    async def page(self, request: Request) -> Response:
        paging = Paging("callers", TimePosition, request)
        workspace_id = request.path["workspaceId"]
        found = await self._callers.page(request.principal, workspace_id, after(paging), paging.limit)
        items = found[: paging.limit]
        if len(found) == len(items):
            return json_response(200, ListAnswer(items))
        last = TimePosition.of(from_text(items[-1].added_at), items[-1].principal_id)
        return json_response(200, ListAnswer(items, paging.cursor(last)))

    async def add(self, request: Request) -> Response:
        path = request.path
        added = await self._callers.add(request.principal, path["workspaceId"], path["principalId"])
        return json_response(201 if added.is_new else 200, added.caller)

    async def remove(self, request: Request) -> Response:
        path = request.path
        removed = await self._callers.remove(request.principal, path["workspaceId"], path["principalId"])
        return json_response(200, removed)
