"""Routes of Agent Cards: register, publish, disable, read one version, compare two; overviews and lists."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from aop.base.semver import Version
from aop.cards.reading import CardReader
from aop.contracts.compatibility import AgentCompatibility
from aop.contracts.documents import document
from aop.contracts.errors import Envelope, InvalidRequest, Violation
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.answers import answer_of, list_response
from aop.control_plane.registry.cards import Cards
from aop.control_plane.registry.owned_agents import OwnedAgents
from aop.serving.edge.body import read_json
from aop.serving.edge.paging import PAGE_BYTES, PAGE_QUERY, Paging, SafeIdentifier, VersionText
from aop.serving.edge.request import Request, holds_copy
from aop.serving.edge.response import JSON, Response, json_response
from aop.serving.edge.routing import Route
from aop.store.rows import PageSize

_AGENT = "/v1/agents/:agentId"
_VERSION = f"{_AGENT}/versions/:version"
_FROM = "from"


def _version(text: str) -> str:
    Version.parse(text)
    return text


class CatalogRoutes:
    def __init__(self, cards: Cards, owned: OwnedAgents, reader: CardReader, card_max_bytes: int) -> None:
        self._cards = cards
        self._owned = owned
        self._reader = reader
        self._card_max_bytes = card_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2, known = Envelope.CATALOG, access.callers.authenticate
        return [
            access.route("POST", "/v1/agents", self.register, v2),
            access.route("GET", "/v1/me/agents", self.owned, v2, PAGE_QUERY),
            access.route("GET", "/v1/providers/:providerId/agents", self.of_provider, v2, PAGE_QUERY),
            access.route("GET", _AGENT, self.overview, v2, PAGE_QUERY),
            access.route("GET", _VERSION, self.read, v2),
            Route("GET", f"{_VERSION}/compatibility", self.compare, v2, known, access.comparisons, {_FROM: _version}),
            access.route("POST", f"{_VERSION}/publish", answer_of(self._cards.publish, "agentId", "version"), v2),
            access.route("POST", f"{_VERSION}/disable", answer_of(self._cards.disable, "agentId", "version"), v2),
        ]

    async def register(self, request: Request) -> Response:
        body = await read_json(request, document("agent-card/0.2"), self._card_max_bytes)
        entry = await self._cards.register(request.principal, await self._reader.read(body.raw, body.value))
        location = f"/v1/agents/{entry.agent_id}/versions/{entry.version}"
        return json_response(201, entry, ((b"location", location.encode("ascii")),))

    async def read(self, request: Request) -> Response:
        card = await self._cards.read(request.principal, request.path["agentId"], request.path["version"])
        headers = (
            (b"etag", f'"{card.digest}"'.encode("ascii")),
            (b"x-platform-publication-status", card.status.encode("ascii")),
            (b"cache-control", b"private, no-cache"),
        )
        if holds_copy(request, card.digest):
            return Response(304, headers=headers, cacheable=True)
        return Response(200, card.document, (JSON, *headers), cacheable=True)

    async def compare(self, request: Request) -> Response:
        """A caller that may not read one of the two Cards is refused as by its read, the newer first."""
        if _FROM not in request.query:
            raise InvalidRequest(Violation(f"/{_FROM}", "query_value"))
        agent_id, version, from_version = request.path["agentId"], request.path["version"], request.query[_FROM]
        after = await self._cards.read(request.principal, agent_id, version)
        before = await self._cards.read(request.principal, agent_id, from_version)
        skills = await self._reader.compare(before.document, after.document)
        return json_response(
            200, AgentCompatibility(agent_id=agent_id, from_version=from_version, version=version, skills=skills)
        )

    async def overview(self, request: Request) -> Response:
        paging = Paging("agent-overview", tuple[datetime, VersionText], request)
        agent_id = request.path["agentId"]
        size = PageSize(paging.limit, PAGE_BYTES)
        overview, last = await self._cards.overview(request.principal, agent_id, paging.after, size)
        if last is not None:
            overview = msgspec.structs.replace(overview, next_cursor=paging.cursor((last[0], last[2])))
        return json_response(200, overview)

    async def of_provider(self, request: Request) -> Response:
        paging = Paging("provider-agents", tuple[datetime, SafeIdentifier, VersionText], request)
        provider_id, size = request.path["providerId"], PageSize(paging.limit, PAGE_BYTES)
        return list_response(paging, await self._cards.of_provider(request.principal, provider_id, paging.after, size))

    async def owned(self, request: Request) -> Response:
        """Every Agent that the caller owns."""
        paging = Paging("my-agents", tuple[SafeIdentifier], request)
        size = PageSize(paging.limit, PAGE_BYTES)
        return list_response(paging, await self._owned.page(request.principal, paging.after, size))
