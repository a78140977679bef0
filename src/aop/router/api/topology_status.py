"""`GET /internal/v1/topology/status`: the local, read-only view of the watched topology."""

from collections.abc import Sequence

from aop.contracts.errors import Envelope
from aop.router.topology import Topology
from aop.serving.bearer import ServicePrincipals
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route


def topology_status_routes(topology: Topology, principals: ServicePrincipals) -> Sequence[Route]:
    async def read(request: Request) -> Response:
        return json_response(200, topology.status())

    return [
        Route("GET", "/internal/v1/topology/status", read, Envelope.INVOCATION, principals.authenticate),
    ]
