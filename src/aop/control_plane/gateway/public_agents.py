"""`GET /v1/public/agents/:publicAgentId`: the public share, for anyone; an Authorization header is not even read."""

from collections.abc import Sequence

from aop.contracts.errors import Envelope
from aop.control_plane.discovery.public_agents import PublicAgents
from aop.control_plane.gateway.gates import Gates
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route


class PublicAgentCalls:
    def __init__(self, public_agents: PublicAgents) -> None:
        self._public_agents = public_agents

    def routes(self, gates: Gates) -> Sequence[Route]:
        return [Route("GET", "/v1/public/agents/:publicAgentId", self.read, Envelope.CATALOG, slots=gates.requests)]

    async def read(self, request: Request) -> Response:
        return json_response(200, await self._public_agents.share(request.path["publicAgentId"]))
