"""The event feed of a Workspace, for the Control Plane."""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import msgspec

from aop.contracts.errors import DependencyFailed, Envelope, InvalidRequest, NotFound, Reason
from aop.contracts.events import EventPage, cloud_event
from aop.ledger.months import Archived
from aop.ledger.read.traces import LineageBroken
from aop.ledger.sequence.feed import FeedReader, PositionUnknown
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.lineage_query import EVENTS_QUERY
from aop.serving.edge.paging import DEFAULT_LIMIT, HexIdentifier, SealedPosition
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, Spanned

_EVENTS: Final = "/internal/v1/workspaces/:workspaceId/events"


class _Position(NamedTuple):
    """How many numbers of the Ledger lie up to the last event, and that event; None before the first one."""

    past: Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
    event: HexIdentifier | None


_BEGINNING: Final = _Position(0, None)


class EventReadRoutes:
    def __init__(self, feed: FeedReader) -> None:
        self._feed = feed

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        # It has a trace of its own, so that its span would stand alone beside the Gateway's.
        v4, authenticate, no = Envelope.INVOCATION, principals.authenticate, Spanned.NOT
        return [Route("GET", _EVENTS, self.events, v4, authenticate, query=EVENTS_QUERY, spanned=no)]

    async def events(self, request: Request) -> Response:
        """A position belongs to its Workspace and to no limit, so that a reader may change the limit at any time."""
        workspace_id = request.path["workspaceId"]
        position = SealedPosition("after", "position", _Position, f"events {workspace_id}".encode())
        past, event = position.of(request) or _BEGINNING
        after = None if event is None else (past, event)
        try:
            read = await self._feed.read(workspace_id, after, request.query.get("limit", DEFAULT_LIMIT))
        except PositionUnknown:
            raise InvalidRequest(position.refused) from None
        except Archived:
            raise NotFound("events behind the position were archived", reason=Reason.ARCHIVED) from None
        except LineageBroken as broken:
            raise DependencyFailed(str(broken)) from None
        page = EventPage(
            items=tuple(map(cloud_event, read.events)),
            after=position.text(_BEGINNING if read.last is None else _Position(*read.last)),
        )
        return json_response(200, page)
