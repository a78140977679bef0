"""The route that lists every Agent that the caller owns."""

from collections.abc import Sequence

from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.lists import list_response
from aop.control_plane.registry.owned_agents import OwnedAgents
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response
from aop.serving.edge.routing import Route
from aop.store.rows import PageSize


class OwnedAgentRoutes:
    def __init__(self, agents: OwnedAgents) -> None:
        self._agents = agents

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        return [access.route("GET", "/v1/me/agents", self.page, Envelope.CATALOG, PAGE_QUERY)]

    async def page(self, request: Request) -> Response:
        paging = Paging("my-agents", tuple[SafeIdentifier], request)
        size = PageSize(paging.limit, PAGE_BYTES)
        return list_response(paging, await self._agents.page(request.principal, paging.after, size))
