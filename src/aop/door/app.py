"""Composition root of the door: the way to the Gateway, the protocols, and what every request passes first."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

from aop.base.settings import Secret, SettingProblem, SettingsRefused
from aop.client import AuthoritiesNotUsable
from aop.client.authorities import CA_FILE
from aop.door.a2a.endpoint import a2a_routes
from aop.door.bearers import Bearer, Judgements
from aop.door.faults import GatewayFault
from aop.door.gateway import Gateway
from aop.door.mcp.server import mcp_routes
from aop.door.origins import DoorOrigins
from aop.door.protocol import DoorParts, DoorRoute, Speaks
from aop.door.request import DoorRequest
from aop.door.settings import DoorSettings
from aop.net.authorities import beside_public
from aop.net.policy import Resolver
from aop.serving.edge.admission import Slots
from aop.serving.edge.application import Application
from aop.serving.edge.bearer import bearer_token
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import UnitLog
from aop.serving.edge.response import Response
from aop.serving.edge.routing import Access, Call, Route, RouteAnswer
from aop.serving.edge.streaming import CancelOnDisconnect
from aop.serving.unit.background import UnitContext, start_telemetry, unit_loops
from aop.serving.unit.health import Readiness, health_routes
from aop.serving.unit.unit import Unit
from aop.serving.workers.worker_group import WorkerGroup

UNIT: Final = "door"
PROTOCOLS: Final[tuple[Speaks, ...]] = (a2a_routes, mcp_routes)
_NOBODY: Final = Response(503)
"""The answer to a caller who has left; it is never sent."""


async def build(
    settings: DoorSettings, protocols: Sequence[Speaks] = PROTOCOLS, group: WorkerGroup | None = None
) -> Unit:
    group = group or WorkerGroup()
    log, metrics = UnitLog(UNIT, settings.log_level), UnitMetrics(UNIT)
    async with AsyncExitStack() as opened:
        gateway = _gateway(settings)
        opened.push_async_callback(gateway.close)
        loops = unit_loops(log, metrics)
        opened.push_async_callback(loops.close)
        tracing = start_telemetry(settings.telemetry, UnitContext(log, metrics, loops, Resolver()), opened)
        readiness = Readiness({"gateway": gateway.check, "loops": loops.check}, log, metrics)
        parts = DoorParts(settings, gateway, log, metrics, loops, opened, group)
        judgements = Judgements(gateway.judge, settings.max_judged)
        opened.push_async_callback(judgements.close)
        access = _access(judgements)
        calls, watches = Slots(settings.max_calls), Slots(settings.max_watches)
        metrics.in_flight(lambda: calls.taken)
        routes = [
            *health_routes(readiness, metrics, group),
            *(
                _route(one, access, gateway, watches if one.watches else calls)
                for speaks in protocols
                for one in speaks(parts)
            ),
        ]
        origins = DoorOrigins(settings.allowed_origins, hosts=settings.allowed_hosts)
        application = Application(routes, log, metrics, origins, tracing)
        close = opened.pop_all().aclose
        return Unit(application, readiness, ((calls, watches),), log, metrics, close, end_watches=parts.ending.set)


def _gateway(settings: DoorSettings) -> Gateway:
    try:
        return Gateway(settings.gateway_origin, settings.answer_max_bytes, tls=beside_public(settings.ca_file))
    except AuthoritiesNotUsable:
        raise SettingsRefused([SettingProblem(CA_FILE, "must be a readable file of PEM certificates")]) from None


def _access(judgements: Judgements) -> Access:
    async def judged(request: Request) -> None:
        """Before a place is taken and before anything of the body is read."""
        bearer = Bearer(Secret(bearer_token(request)))
        try:
            await judgements.require(bearer)
        except GatewayFault as fault:
            request.trace_id = fault.trace_id or request.trace_id
            raise
        request.grant = bearer

    return judged


def _route(route: DoorRoute, access: Access, gateway: Gateway, slots: Slots) -> Route:
    return Route(route.method, route.path, _call(route, gateway), access=access, slots=slots, query=None)


def _call(route: DoorRoute, gateway: Gateway) -> Call:
    async def call(http: Request) -> RouteAnswer:
        bearer = http.grant
        assert isinstance(bearer, Bearer)  # noqa: S101  the access rule put it there
        request = DoorRequest(http, gateway.caller(bearer, http.path["workspaceId"]))
        answer: RouteAnswer = _NOBODY
        try:
            with CancelOnDisconnect(http.server.disconnect):
                answer = await route.serve(request)
        except GatewayFault as fault:
            request.ran(fault.trace_id, fault.invocation_id)
            raise
        return answer

    return call
