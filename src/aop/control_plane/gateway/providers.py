"""Routes that list what a provider owns: Agents, Endpoint Bindings and Releases, newest first."""

from collections.abc import Sequence
from datetime import datetime

from aop.base.settings import identifier
from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.lists import list_response
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.cards import Cards
from aop.control_plane.registry.releases import Releases
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, Paging, SafeIdentifier, VersionText
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response
from aop.serving.edge.routing import Route
from aop.store.rows import PageSize

_PROVIDER = "/v1/providers/:providerId"
_OF_AGENT = {**PAGE_QUERY, "agentId": identifier}


class ProviderRoutes:
    def __init__(self, cards: Cards, bindings: Bindings, releases: Releases) -> None:
        self._cards = cards
        self._bindings = bindings
        self._releases = releases

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2 = Envelope.CATALOG
        return [
            access.route("GET", f"{_PROVIDER}/agents", self.agents, v2, PAGE_QUERY),
            access.route("GET", f"{_PROVIDER}/endpoint-bindings", self.bindings, v2, _OF_AGENT),
            access.route("GET", f"{_PROVIDER}/releases", self.releases, v2, _OF_AGENT),
        ]

    async def agents(self, request: Request) -> Response:
        paging = Paging("provider-agents", tuple[datetime, SafeIdentifier, VersionText], request)
        size = PageSize(paging.limit, PAGE_BYTES)
        page = await self._cards.of_provider(request.principal, request.path["providerId"], paging.after, size)
        return list_response(paging, page)

    async def bindings(self, request: Request) -> Response:
        paging = Paging("provider-bindings", tuple[datetime, SafeIdentifier], request)
        page = await self._bindings.page(
            request.principal, request.path["providerId"], request.query.get("agentId"), paging.after, paging.limit
        )
        return list_response(paging, page)

    async def releases(self, request: Request) -> Response:
        paging = Paging("provider-releases", tuple[datetime, SafeIdentifier], request)
        page = await self._releases.page(
            request.principal, request.path["providerId"], request.query.get("agentId"), paging.after, paging.limit
        )
        return list_response(paging, page)
