"""Routes of Discovery, for authenticated callers, and of the public share of an Agent, for anyone."""

from collections.abc import Sequence
from datetime import datetime

from aop.base.settings import identifier
from aop.contracts.catalog import DiscoveryOrder
from aop.contracts.errors import Envelope
from aop.control_plane.discovery.conditions import Filters, SearchPosition
from aop.control_plane.discovery.public_agents import PIECE_BYTES, PublicAgents
from aop.control_plane.discovery.search import Search
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.answers import list_response
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, Paging
from aop.serving.edge.query import QueryRules, boolean
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import Route, RouteAnswer
from aop.serving.edge.streaming import Pieces
from aop.store.rows import PageSize

_QUERY_LENGTH = 256


def _text(text: str) -> str:
    if not 1 <= len(text) <= _QUERY_LENGTH or text.isspace() or "\0" in text:
        raise ValueError("not a query")
    return text


_QUERY: QueryRules = {
    "query": _text,
    "capability": identifier,
    "ownerId": identifier,
    "latest": boolean,
    "installable": boolean,
    "order": DiscoveryOrder,
    **PAGE_QUERY,
}


class DiscoveryRoutes:
    def __init__(self, search: Search) -> None:
        self._search = search

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        return [access.route("GET", "/v1/agents", self.discover, Envelope.CATALOG, _QUERY)]

    async def discover(self, request: Request) -> Response:
        paging = Paging("agents", SearchPosition, request)
        size = PageSize(paging.limit, PAGE_BYTES)
        return list_response(paging, await self._search.page(_filters(request), size, paging.after))


class PublicAgentRoutes:
    """Does not read an Authorization header."""

    def __init__(self, public_agents: PublicAgents) -> None:
        self._public_agents = public_agents

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        path = "/v1/public/agents/:publicAgentId"
        return [Route("GET", path, self.read, Envelope.CATALOG, slots=access.anonymous, query=PAGE_QUERY)]

    async def read(self, request: Request) -> RouteAnswer:
        paging = Paging("public-agent-share", tuple[datetime, str], request)
        size = PageSize(paging.limit, PAGE_BYTES)
        page = await self._public_agents.page(request.path["publicAgentId"], size, paging.after)
        content = self._public_agents.content(page, None if page.last is None else paging.cursor(page.last))
        if page.weight > PIECE_BYTES:
            return Pieces(content, JSON)
        return Response(200, b"".join([piece async for piece in content]), (JSON,))


def _filters(request: Request) -> Filters:
    query = request.query
    return Filters(
        query=query.get("query"),
        capability=query.get("capability"),
        owner_id=query.get("ownerId"),
        latest=query.get("latest", False),
        installable=query.get("installable"),
        order=query.get("order", DiscoveryOrder.RELEVANCE),
    )
