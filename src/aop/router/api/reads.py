"""Metadata reads of the Ledger for the Control Plane: a list, one Invocation, a Trace, the calls of a Release."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from aop.base.clock import from_text
from aop.base.settings import identifier
from aop.contracts.errors import DependencyFailed, Envelope, InvalidRequest, NotFound, Reason, Violation
from aop.contracts.lineage import InvocationStatus
from aop.ledger.reader import LedgerReader, LineageBroken, RecordFilter
from aop.serving.bearer import ServicePrincipals
from aop.serving.paging import PAGE_QUERY, HexIdentifier, ListAnswer, Paging
from aop.serving.query import QueryRules
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route, Spanned

_WORKSPACE = "/internal/v1/workspaces/:workspaceId"
LIST_QUERY: QueryRules = {
    **PAGE_QUERY,
    "status": InvocationStatus,
    "agentId": identifier,
    "capability": identifier,
    "callerId": identifier,
    "since": from_text,
    "until": from_text,
}


class LedgerReadRoutes:
    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        # Each has a trace of its own, so that its span would stand alone beside the Gateway's.
        v4, authenticate, no = Envelope.INVOCATION, principals.authenticate, Spanned.NOT
        return [
            Route("GET", f"{_WORKSPACE}/invocations", self.page, v4, authenticate, query=LIST_QUERY, spanned=no),
            Route("GET", f"{_WORKSPACE}/invocations/:invocationId", self.detail, v4, authenticate, spanned=no),
            Route("GET", f"{_WORKSPACE}/traces/:traceId", self.trace, v4, authenticate, spanned=no),
            Route("GET", "/internal/v1/releases/:releaseId/reach", self.reach, v4, authenticate, spanned=no),
        ]

    async def page(self, request: Request) -> Response:
        paging = Paging("invocations", tuple[datetime, HexIdentifier], request)
        query = request.query
        filters = RecordFilter(
            status=query.get("status"),
            agent_id=query.get("agentId"),
            capability=query.get("capability"),
            caller_id=query.get("callerId"),
            since=query.get("since"),
            until=query.get("until"),
        )
        page = await self._ledger.page(request.path["workspaceId"], filters, paging.after, paging.limit)
        cursor = msgspec.UNSET if page.last is None else paging.cursor(page.last)
        return json_response(200, ListAnswer(page.records, cursor))

    async def detail(self, request: Request) -> Response:
        try:
            found = await self._ledger.detail(request.path["workspaceId"], request.path["invocationId"])
        except LineageBroken as broken:
            raise DependencyFailed(str(broken)) from None
        if found is None:
            raise NotFound("no such Invocation in this Workspace", reason=Reason.INVOCATION_UNKNOWN)
        return json_response(200, found)

    async def trace(self, request: Request) -> Response:
        try:
            found = await self._ledger.trace(request.path["workspaceId"], request.path["traceId"])
        except LineageBroken as broken:
            raise DependencyFailed(str(broken)) from None
        if found is None:
            raise NotFound("no such Trace in this Workspace", reason=Reason.TRACE_UNKNOWN)
        return json_response(200, found)

    async def reach(self, request: Request) -> Response:
        found = await self._ledger.calls_of(request.path["releaseId"])
        if found is None:
            raise InvalidRequest(Violation("/releaseId", "path_value"))
        return json_response(200, found)
