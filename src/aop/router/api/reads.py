"""Metadata reads of the Ledger for the Control Plane: lists, one Invocation, a Trace, the calls of a Release."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from aop.contracts.errors import DependencyFailed, Envelope, InvalidRequest, NotFound, Reason, Violation
from aop.contracts.lineage import InvocationOrder
from aop.ledger.months import Archived
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, Position, RecordFilter
from aop.ledger.read.traces import LineageBroken
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.lineage_query import INVOCATIONS_QUERY, TRACE_QUERY, TRACES_QUERY
from aop.serving.edge.paging import HexIdentifier, ListAnswer, Paging
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, Spanned

_WORKSPACE = "/internal/v1/workspaces/:workspaceId"
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
_POSITIONS: Final[Mapping[InvocationOrder, type[Position]]] = {
    InvocationOrder.NEWEST: tuple[datetime, HexIdentifier],
    InvocationOrder.SLOWEST: tuple[_Count, HexIdentifier],
}


class LedgerReadRoutes:
    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        # Each has a trace of its own, so that its span would stand alone beside the Gateway's.
        v4, authenticate, no = Envelope.INVOCATION, principals.authenticate, Spanned.NOT
        return [
            Route("GET", f"{_WORKSPACE}/invocations", self.page, v4, authenticate, query=INVOCATIONS_QUERY, spanned=no),
            Route("GET", f"{_WORKSPACE}/invocations/:invocationId", self.detail, v4, authenticate, spanned=no),
            Route("GET", f"{_WORKSPACE}/traces", self.traces, v4, authenticate, query=TRACES_QUERY, spanned=no),
            Route("GET", f"{_WORKSPACE}/traces/:traceId", self.trace, v4, authenticate, query=TRACE_QUERY, spanned=no),
            Route("GET", "/internal/v1/releases/:releaseId/reach", self.reach, v4, authenticate, spanned=no),
        ]

    async def page(self, request: Request) -> Response:
        paging, read = _list_read("invocations", request)
        page = await self._ledger.page(read)
        return _list_answer(page.records, paging, page.last)

    async def traces(self, request: Request) -> Response:
        paging, read = _list_read("traces", request)
        page = await self._ledger.traces(read)
        return _list_answer(page.items, paging, page.last)

    async def detail(self, request: Request) -> Response:
        try:
            found = await self._ledger.detail(request.path["workspaceId"], request.path["invocationId"])
        except LineageBroken as broken:
            raise DependencyFailed(str(broken)) from None
        except Archived:
            raise NotFound("the Invocation was archived", reason=Reason.ARCHIVED) from None
        if found is None:
            raise NotFound("no such Invocation in this Workspace", reason=Reason.INVOCATION_UNKNOWN)
        return json_response(200, found)

    async def trace(self, request: Request) -> Response:
        paging = Paging("trace", tuple[datetime, _Count, HexIdentifier], request)
        try:
            page = await self._ledger.trace(request.path["workspaceId"], request.path["traceId"], paging.after)
        except LineageBroken as broken:
            raise DependencyFailed(str(broken)) from None
        except Archived:
            raise NotFound("the Trace was archived", reason=Reason.ARCHIVED) from None
        if page is None:
            raise NotFound("no such Trace in this Workspace", reason=Reason.TRACE_UNKNOWN)
        if not page.trace.invocations:
            raise InvalidRequest(Violation("/cursor", "cursor"))  # a cursor of ours always has something behind it
        cursor = msgspec.UNSET if page.last is None else paging.cursor(page.last)
        return json_response(200, msgspec.structs.replace(page.trace, next_cursor=cursor))

    async def reach(self, request: Request) -> Response:
        found = await self._ledger.calls_of(request.path["releaseId"])
        if found is None:
            raise InvalidRequest(Violation("/releaseId", "path_value"))
        return json_response(200, found)


def _list_read(name: str, request: Request) -> tuple[Paging[Position], ListRead]:
    query = request.query
    order = query.get("order", InvocationOrder.NEWEST)
    paging = Paging(name, _POSITIONS[order], request)
    filters = RecordFilter(
        status=query.get("status"),
        agent_id=query.get("agentId"),
        capability=query.get("capability"),
        caller_id=query.get("callerId"),
        root=query.get("root"),
        trace_id=query.get("traceId"),
        error_code=query.get("errorCode"),
        reason=query.get("reason"),
        since=query.get("since"),
        until=query.get("until"),
    )
    return paging, ListRead(request.path["workspaceId"], paging.limit, filters, order, paging.after)


def _list_answer(items: Sequence[Any], paging: Paging[Position], last: Position | None) -> Response:
    return json_response(200, ListAnswer(items, msgspec.UNSET if last is None else paging.cursor(last)))
