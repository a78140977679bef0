"""Reads of the recorded Invocations of a Workspace, for its owner and callers: lists, details, figures and bundles."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from aop.base.clock import Clock
from aop.contracts.errors import Envelope
from aop.contracts.figures import WINDOW_QUERY, Window
from aop.control_plane.dispatch.bundles import Bundled, Bundles
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.edge.lineage_query import EVENTS_QUERY, INVOCATIONS_QUERY, TRACE_QUERY, TRACES_QUERY
from aop.serving.edge.paging import DEFAULT_LIMIT
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Response, json_response
from aop.serving.edge.routing import Route

_WORKSPACE = "/v1/workspaces/:workspaceId"


class LineageRoutes:
    """Checks every part of a query but a cursor or position, which only the Router can read."""

    def __init__(self, workspaces: Workspaces, lineage: LineageReads, bundles: Bundles, clock: Clock) -> None:
        self._workspaces = workspaces
        self._lineage = lineage
        self._bundles = bundles
        self._clock = clock

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v4 = Envelope.INVOCATION
        return [
            access.route("GET", f"{_WORKSPACE}/events", self.events, v4, EVENTS_QUERY),
            access.route("GET", f"{_WORKSPACE}/invocations", self.page, v4, INVOCATIONS_QUERY),
            access.route("GET", f"{_WORKSPACE}/invocations/:invocationId", self.detail, v4),
            access.route("GET", f"{_WORKSPACE}/traces", self.traces, v4, TRACES_QUERY),
            access.route("GET", f"{_WORKSPACE}/traces/:traceId", self.trace, v4, TRACE_QUERY),
            access.route("GET", f"{_WORKSPACE}/figures", self.figures, v4, WINDOW_QUERY),
            *self._bundle_routes(access, "invocations", "invocationId"),
            *self._bundle_routes(access, "traces", "traceId"),
        ]

    async def events(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        limit = request.query.get("limit", DEFAULT_LIMIT)
        return _answer(await self._lineage.events(workspace_id, _query(request), limit))

    async def page(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.page(workspace_id, _query(request)))

    async def traces(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.traces(workspace_id, _query(request)))

    async def detail(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.detail(workspace_id, request.path["invocationId"]))

    async def trace(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.trace(workspace_id, request.path["traceId"], _query(request)))

    async def figures(self, request: Request) -> Response:
        window = Window.of(request.query, self._clock())
        return _answer(await self._lineage.figures(await self._readable_workspace(request), window))

    def _bundle_routes(self, access: GatewayAccess, of: Bundled, parameter: str) -> Sequence[Route]:
        """What others need to check an Invocation or a Trace offline, whole or in pages."""
        path = f"{_WORKSPACE}/{of}/:{parameter}/bundle"
        v4, authenticate, slots = Envelope.INVOCATION, access.callers.authenticate, access.bundles

        async def whole(request: Request) -> Response:
            workspace_id = await self._readable_workspace(request)
            return json_response(200, await self._bundles.whole(workspace_id, of, request.path[parameter]))

        async def page(request: Request) -> Response:
            workspace_id, query = await self._readable_workspace(request), request.query
            return json_response(200, await self._bundles.page(workspace_id, of, request.path[parameter], query))

        return [
            Route("GET", path, whole, v4, authenticate, slots),
            Route("GET", f"{path}/pages", page, v4, authenticate, slots, query=TRACE_QUERY),
        ]

    async def _readable_workspace(self, request: Request) -> str:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return workspace_id


def _query(request: Request) -> Mapping[str, str]:
    """As it was sent, because the Router reads it again."""
    return dict(parse_qsl(request.query_string.decode("ascii"), keep_blank_values=True))


def _answer(body: bytes) -> Response:
    return Response(200, body, (JSON,))
