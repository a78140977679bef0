"""Reads of the Ledger for the Control Plane: lists, one Invocation, a Trace, the calls of a Release, the event feed and
the figures of a Workspace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from aop.base.clock import Clock
from aop.contracts.errors import InvalidRequest, NotFound, Reason, Violation
from aop.contracts.events import EventPage, cloud_event
from aop.contracts.figures import WINDOW_QUERY, Window
from aop.contracts.lineage import InvocationOrder
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import LedgerPage, ListRead, Position, RecordFilter
from aop.ledger.sequence.feed import FeedReader, PositionUnknown
from aop.router.api.ledger_reads import WORKSPACE, Count, ledger_refusals, read_route
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.lineage_query import EVENTS_QUERY, INVOCATIONS_QUERY, TRACE_QUERY, TRACES_QUERY
from aop.serving.edge.paging import DEFAULT_LIMIT, HexIdentifier, ListAnswer, Paging, SealedPosition
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route

_POSITIONS: Final[Mapping[InvocationOrder, type[Position]]] = {
    InvocationOrder.NEWEST: tuple[datetime, HexIdentifier],
    InvocationOrder.SLOWEST: tuple[Count, HexIdentifier],
}


class _FeedPosition(NamedTuple):
    """How many numbers of the Ledger lie up to the last event, and that event; None before the first one."""

    past: Count
    event: HexIdentifier | None


_BEGINNING: Final = _FeedPosition(0, None)


class LedgerReadRoutes:
    def __init__(self, ledger: LedgerReader, feed: FeedReader, figures: FiguresReader, clock: Clock) -> None:
        self._ledger = ledger
        self._feed = feed
        self._figures = figures
        self._clock = clock

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        return [
            read_route(principals, f"{WORKSPACE}/invocations", self.page, INVOCATIONS_QUERY),
            read_route(principals, f"{WORKSPACE}/invocations/:invocationId", self.detail),
            read_route(principals, f"{WORKSPACE}/traces", self.traces, TRACES_QUERY),
            read_route(principals, f"{WORKSPACE}/traces/:traceId", self.trace, TRACE_QUERY),
            read_route(principals, f"{WORKSPACE}/events", self.events, EVENTS_QUERY),
            read_route(principals, f"{WORKSPACE}/figures", self.figures, WINDOW_QUERY),
            read_route(principals, "/internal/v1/releases/:releaseId/reach", self.reach),
        ]

    async def page(self, request: Request) -> Response:
        return await _listed("invocations", self._ledger.page, request)

    async def traces(self, request: Request) -> Response:
        return await _listed("traces", self._ledger.traces, request)

    async def detail(self, request: Request) -> Response:
        with ledger_refusals():
            found = await self._ledger.detail(request.path["workspaceId"], request.path["invocationId"])
        if found is None:
            raise NotFound("no such Invocation in this Workspace", reason=Reason.INVOCATION_UNKNOWN)
        return json_response(200, found)

    async def trace(self, request: Request) -> Response:
        paging = Paging("trace", tuple[datetime, Count, HexIdentifier], request)
        with ledger_refusals():
            page = await self._ledger.trace(request.path["workspaceId"], request.path["traceId"], paging.after)
        if page is None:
            raise NotFound("no such Trace in this Workspace", reason=Reason.TRACE_UNKNOWN)
        if not page.trace.invocations:
            raise InvalidRequest(Violation("/cursor", "cursor"))  # a cursor of ours always has something behind it
        return json_response(200, msgspec.structs.replace(page.trace, next_cursor=paging.next_cursor(page.last)))

    async def reach(self, request: Request) -> Response:
        found = await self._ledger.calls_of(request.path["releaseId"])
        if found is None:
            raise InvalidRequest(Violation("/releaseId", "path_value"))
        return json_response(200, found)

    async def events(self, request: Request) -> Response:
        """A position belongs to its Workspace and to no limit, so that a reader may change the limit at any time."""
        workspace_id = request.path["workspaceId"]
        position = SealedPosition("after", "position", _FeedPosition, f"events {workspace_id}".encode())
        past, event = position.of(request) or _BEGINNING
        after = None if event is None else (past, event)
        try:
            with ledger_refusals():
                read = await self._feed.read(workspace_id, after, request.query.get("limit", DEFAULT_LIMIT))
        except PositionUnknown:
            raise InvalidRequest(position.refused) from None
        page = EventPage(
            items=tuple(map(cloud_event, read.events)),
            after=position.text(_BEGINNING if read.last is None else _FeedPosition(*read.last)),
        )
        return json_response(200, page)

    async def figures(self, request: Request) -> Response:
        window = Window.of(request.query, self._clock())
        return json_response(200, await self._figures.read(request.path["workspaceId"], window))


async def _listed(name: str, read: Callable[[ListRead], Awaitable[LedgerPage[Any]]], request: Request) -> Response:
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
    page = await read(ListRead(request.path["workspaceId"], paging.limit, filters, order, paging.after))
    return json_response(200, ListAnswer(page.items, paging.next_cursor(page.last)))
