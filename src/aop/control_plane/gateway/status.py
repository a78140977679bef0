"""`GET /v1/status`: tells any authenticated caller whether the units are ready."""

from collections.abc import Sequence

from aop.contracts.errors import Envelope
from aop.contracts.health import HealthStatus, PlatformStatus, TopologyHealth
from aop.control_plane.dispatch.router_client import RouterClient, RouterUnavailable
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.health import Readiness
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route


def status_routes(access: GatewayAccess, readiness: Readiness, router: RouterClient) -> Sequence[Route]:
    async def read(request: Request) -> Response:
        own = HealthStatus.OK if await readiness.ready() else HealthStatus.UNAVAILABLE
        try:
            topology = TopologyHealth((await router.topology_status()).source.state)
            peer = HealthStatus.OK
        except RouterUnavailable:
            topology, peer = TopologyHealth.UNAVAILABLE, HealthStatus.UNAVAILABLE
        return json_response(200, PlatformStatus(control_plane=own, router=peer, topology=topology))

    return [access.route("GET", "/v1/status", read, Envelope.INVOCATION)]
