"""Reads of recorded Invocations: one, a Trace, or a Workspace's list; only for owner and callers of the Workspace."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from aop.base.clock import from_text
from aop.base.settings import identifier
from aop.contracts.errors import Envelope
from aop.contracts.lineage import InvocationStatus
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.workspace.workspaces import Workspaces
from aop.serving.paging import PAGE_QUERY
from aop.serving.query import QueryRules
from aop.serving.request import Request
from aop.serving.response import JSON, Response
from aop.serving.routing import Route

_WORKSPACE = "/v1/workspaces/:workspaceId"
_LIST_QUERY: QueryRules = {
    **PAGE_QUERY,
    "status": InvocationStatus,
    "agentId": identifier,
    "capability": identifier,
    "callerId": identifier,
    "since": from_text,
    "until": from_text,
}


class LineageRoutes:
    """Checks every part of a query but the cursor, which only the Router can read."""

    def __init__(self, workspaces: Workspaces, lineage: LineageReads) -> None:
        self._workspaces = workspaces
        self._lineage = lineage

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v4 = Envelope.INVOCATION
        return [
            access.route("GET", f"{_WORKSPACE}/invocations", self.page, v4, _LIST_QUERY),
            access.route("GET", f"{_WORKSPACE}/invocations/:invocationId", self.detail, v4),
            access.route("GET", f"{_WORKSPACE}/traces/:traceId", self.trace, v4),
        ]

    async def page(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        query = dict(parse_qsl(request.query_string.decode("ascii"), keep_blank_values=True))
        return _answer(await self._lineage.page(workspace_id, query))

    async def detail(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.detail(workspace_id, request.path["invocationId"]))

    async def trace(self, request: Request) -> Response:
        workspace_id = await self._readable_workspace(request)
        return _answer(await self._lineage.trace(workspace_id, request.path["traceId"]))

    async def _readable_workspace(self, request: Request) -> str:
        workspace_id = request.path["workspaceId"]
        await self._workspaces.read(request.principal, workspace_id)
        return workspace_id


def _answer(body: bytes) -> Response:
    return Response(200, body, (JSON,))
