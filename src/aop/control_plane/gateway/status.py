"""`GET /v1/status`: tells any authenticated caller how the units are, and nothing of where they run."""

import asyncio
from collections.abc import Sequence

from aop.base.fresh import Fresh
from aop.contracts.errors import Envelope
from aop.contracts.health import HealthStatus, PlatformStatus, RouterHealth, RouterState, TopologyHealth
from aop.contracts.router_status import RouterStatus
from aop.control_plane.dispatch.router_client import RouterClient, RouterUnavailable
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route
from aop.serving.unit.health import Readiness

_FRESH_SECONDS = 0.5


def status_routes(access: GatewayAccess, readiness: Readiness, router: RouterClient) -> Sequence[Route]:
    async def ask() -> RouterStatus | None:
        try:
            return await router.status()
        except RouterUnavailable:
            return None

    # Every page of every Console asks every few seconds, and any caller may ask as often as it likes.
    router_status = Fresh(ask, _FRESH_SECONDS)

    async def read(request: Request) -> Response:
        ready, peer = await asyncio.gather(readiness.ready(), router_status.get())
        own = HealthStatus.OK if ready else HealthStatus.UNAVAILABLE
        return json_response(200, _unreachable(own) if peer is None else _answered(own, peer))

    return [access.route("GET", "/v1/status", read, Envelope.INVOCATION)]


def _unreachable(own: HealthStatus) -> PlatformStatus:
    return PlatformStatus(
        control_plane=own,
        router=HealthStatus.UNAVAILABLE,
        topology=TopologyHealth.UNAVAILABLE,
        routers=(RouterState(status=RouterHealth.UNAVAILABLE),),
    )


def _answered(own: HealthStatus, peer: RouterStatus) -> PlatformStatus:
    """Without the id that the operator gave the Router: it often has the name of a host in it."""
    return PlatformStatus(
        control_plane=own,
        router=HealthStatus.OK,
        topology=TopologyHealth(peer.topology.state),
        routers=(
            RouterState(
                status=RouterHealth(peer.status),
                instance_id=peer.instance_id,
                topology=peer.topology,
                schema_work=peer.schema_work,
                facts=peer.facts,
                sequence=peer.sequence,
            ),
        ),
        ledger_head=peer.ledger_head,
    )
