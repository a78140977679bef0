"""`GET …/bundle` of an Invocation or a Trace: what others need to check it offline; for whoever may read it."""

from collections.abc import Sequence
from typing import Literal

from aop.contracts.errors import Envelope
from aop.control_plane.dispatch.bundles import Bundles
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.edge.lineage_query import TRACE_QUERY
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route

_WORKSPACE = "/v1/workspaces/:workspaceId"


class BundleRoutes:
    def __init__(self, workspaces: Workspaces, bundles: Bundles) -> None:
        self._workspaces = workspaces
        self._bundles = bundles

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        calls = {"invocations/:invocationId": self.of_invocation, "traces/:traceId": self.of_trace}
        v4, known = Envelope.INVOCATION, access.callers.authenticate
        pages = {"invocations/:invocationId": self.page_of_invocation, "traces/:traceId": self.page_of_trace}
        return [
            *(Route("GET", f"{_WORKSPACE}/{of}/bundle", call, v4, known, access.bundles) for of, call in calls.items()),
            *(
                Route("GET", f"{_WORKSPACE}/{of}/bundle/pages", call, v4, known, access.bundles, query=TRACE_QUERY)
                for of, call in pages.items()
            ),
        ]

    async def of_invocation(self, request: Request) -> Response:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return json_response(200, await self._bundles.of_invocation(workspace_id, request.path["invocationId"]))

    async def of_trace(self, request: Request) -> Response:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return json_response(200, await self._bundles.of_trace(workspace_id, request.path["traceId"]))

    async def page_of_invocation(self, request: Request) -> Response:
        return await self._page(request, "invocations", request.path["invocationId"])

    async def page_of_trace(self, request: Request) -> Response:
        return await self._page(request, "traces", request.path["traceId"])

    async def _page(self, request: Request, of: Literal["invocations", "traces"], name: str) -> Response:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return json_response(200, await self._bundles.page(workspace_id, of, name, request.query))
