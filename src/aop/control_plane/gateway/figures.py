"""The figures of a Workspace, for its owner and its callers."""

from collections.abc import Sequence

from aop.base.clock import Clock
from aop.contracts.errors import Envelope
from aop.contracts.figures import WINDOW_QUERY, Window
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import Route


class FiguresRoutes:
    def __init__(self, workspaces: Workspaces, lineage: LineageReads, clock: Clock) -> None:
        self._workspaces = workspaces
        self._lineage = lineage
        self._clock = clock

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        path = "/v1/workspaces/:workspaceId/figures"
        return [access.route("GET", path, self.figures, Envelope.INVOCATION, WINDOW_QUERY)]

    async def figures(self, request: Request) -> Response:
        window, workspace_id = Window.of(request.query, self._clock()), request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return Response(200, await self._lineage.figures(workspace_id, window), (JSON,))
