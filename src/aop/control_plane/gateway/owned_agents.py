"""The route that lists every Agent that the caller owns."""

from collections.abc import Sequence

import msgspec

from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.registry.owned_agents import OwnedAgents
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, ListAnswer, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route
from aop.store.rows import PageSize


class OwnedAgentRoutes:
    def __init__(self, agents: OwnedAgents) -> None:
        self._agents = agents

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        return [access.route("GET", "/v1/me/agents", self.page, Envelope.CATALOG, PAGE_QUERY)]

    async def page(self, request: Request) -> Response:
        paging = Paging("my-agents", tuple[SafeIdentifier], request)
        after = None if paging.after is None else paging.after[0]
        page = await self._agents.page(request.principal, after, PageSize(paging.limit, PAGE_BYTES))
        cursor = msgspec.UNSET if page.last is None else paging.cursor((page.last,))
        return json_response(200, ListAnswer(page.agents, cursor))
