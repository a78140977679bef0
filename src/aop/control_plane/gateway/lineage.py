"""Reads of recorded Invocations: one, a Trace, lists and events of a Workspace; only for its owner and callers."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from aop.contracts.errors import Envelope
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.edge.lineage_query import EVENTS_QUERY, INVOCATIONS_QUERY, TRACE_QUERY, TRACES_QUERY
from aop.serving.edge.paging import DEFAULT_LIMIT
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import Route

_WORKSPACE = "/v1/workspaces/:workspaceId"


class LineageRoutes:
    """Checks every part of a query but a cursor or position, which only the Router can read."""

    def __init__(self, workspaces: Workspaces, lineage: LineageReads) -> None:
        self._workspaces = workspaces
        self._lineage = lineage

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v4 = Envelope.INVOCATION
        return [
            access.route("GET", f"{_WORKSPACE}/events", self.events, v4, EVENTS_QUERY),
            access.route("GET", f"{_WORKSPACE}/invocations", self.page, v4, INVOCATIONS_QUERY),
            access.route("GET", f"{_WORKSPACE}/invocations/:invocationId", self.detail, v4),
            access.route("GET", f"{_WORKSPACE}/traces", self.traces, v4, TRACES_QUERY),
            access.route("GET", f"{_WORKSPACE}/traces/:traceId", self.trace, v4, TRACE_QUERY),
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

    async def _readable_workspace(self, request: Request) -> str:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return workspace_id


def _query(request: Request) -> Mapping[str, str]:
    """As it was sent, because the Router reads it again."""
    return dict(parse_qsl(request.query_string.decode("ascii"), keep_blank_values=True))


def _answer(body: bytes) -> Response:
    return Response(200, body, (JSON,))
