"""`GET /v1/public/agents/:publicAgentId`: the public share, for anyone; an Authorization header is not even read."""

from collections.abc import Sequence
from datetime import datetime

from aop.contracts.errors import Envelope
from aop.control_plane.discovery.public_agents import PIECE_BYTES, PublicAgents
from aop.control_plane.gateway.gates import Gates
from aop.serving.paging import PAGE_BYTES, PAGE_QUERY, Paging
from aop.serving.pieces import Pieces
from aop.serving.request import Request
from aop.serving.response import JSON, Response
from aop.serving.routing import Answer, Route

_PATH = "/v1/public/agents/:publicAgentId"


class PublicAgentCalls:
    def __init__(self, public_agents: PublicAgents) -> None:
        self._public_agents = public_agents

    def routes(self, gates: Gates) -> Sequence[Route]:
        return [Route("GET", _PATH, self.read, Envelope.CATALOG, slots=gates.anonymous, query=PAGE_QUERY)]

    async def read(self, request: Request) -> Answer:
        paging = Paging("public-agent-share", tuple[datetime, str], request)
        page = await self._public_agents.page(request.path["publicAgentId"], paging.limit, PAGE_BYTES, paging.after)
        content = self._public_agents.content(page, None if page.last is None else paging.cursor(page.last))
        if page.weight > PIECE_BYTES:
            return Pieces(content, JSON)
        return Response(200, b"".join([piece async for piece in content]), (JSON,))
