"""`GET /internal/v1/topology/status`: the local, read-only view of the watched topology."""

from collections.abc import Sequence

from aop.base.settings import identifier
from aop.contracts.errors import Envelope
from aop.router.targets.topology import Topology
from aop.serving.bearer import ServicePrincipals
from aop.serving.query import QueryRules
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route, Spanned

_QUERY: QueryRules = {"releaseId": identifier}


def topology_status_routes(topology: Topology, principals: ServicePrincipals) -> Sequence[Route]:
    async def read(request: Request) -> Response:
        return json_response(200, topology.status(request.query.get("releaseId")))

    path, authenticate = "/internal/v1/topology/status", principals.authenticate
    return [Route("GET", path, read, Envelope.INVOCATION, authenticate, query=_QUERY, spanned=Spanned.NOT)]
