"""Composition root of the Control Plane: everything is wired here and nowhere else."""

from contextlib import AsyncExitStack

from aop.base.database import Database
from aop.base.http import HttpClient
from aop.base.network_policy import Resolver
from aop.base.peer import Peer
from aop.base.store_check import require_store, require_version
from aop.control_plane.dispatch.router_client import RouterClient
from aop.control_plane.gateway.callers import Callers
from aop.control_plane.gateway.gates import Gates
from aop.control_plane.gateway.oidc import OidcCallers
from aop.control_plane.gateway.status import status_routes
from aop.control_plane.gateway.tokens import TokenCallers
from aop.control_plane.settings import LISTEN_ADDRESS, MAX_INVOCATIONS, MAX_REQUESTS, ControlPlaneSettings
from aop.serving.admission import Slots
from aop.serving.application import Application
from aop.serving.cors import CrossOrigin
from aop.serving.health import Check, Readiness, health_routes
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import UnitLog
from aop.serving.unit import Serving, Unit, require_descriptors, serve

UNIT = "control-plane"
STORES = ("registry", "workspace", "gateway")
_IDLE_SECONDS = 30.0
_CONNECT_SECONDS = 5.0


async def run(settings: ControlPlaneSettings) -> None:
    calls = settings.max_in_flight_invocations + settings.max_in_flight_requests
    require_descriptors(calls, settings.unit.database_pool_size, f"{MAX_INVOCATIONS}, {MAX_REQUESTS}")
    serving = Serving(settings.listen_address, LISTEN_ADDRESS, settings.unit.shutdown_grace_seconds)
    await serve(serving, lambda: build(settings))


async def build(settings: ControlPlaneSettings) -> Unit:
    async with AsyncExitStack() as opened:
        database = await Database.open(
            settings.database_url.reveal(), size=settings.unit.database_pool_size, application=f"aop {UNIT}"
        )
        opened.push_async_callback(database.close)
        async with database.connection() as connection:
            for owner in STORES:
                await require_version(connection, owner)
        client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS)
        opened.push_async_callback(client.close)
        return _assemble(settings, database, client, opened.pop_all())


def _assemble(settings: ControlPlaneSettings, database: Database, client: HttpClient, opened: AsyncExitStack) -> Unit:
    resolver = Resolver()
    log, metrics = UnitLog(UNIT, settings.unit.log_level), UnitMetrics(UNIT)
    readiness = Readiness({owner: _store_check(database, owner) for owner in STORES}, log, metrics)
    oidc = None if settings.oidc is None else OidcCallers(settings.oidc, client, resolver)
    gates = Gates(
        Callers(TokenCallers(database), oidc),
        Slots(settings.max_in_flight_invocations),
        Slots(settings.max_in_flight_requests),
    )
    router = RouterClient(
        Peer(settings.router_origin, client, resolver), settings.router_token, settings.metadata_response_max_bytes
    )
    routes = [*health_routes(readiness, metrics), *status_routes(gates, readiness, router)]
    application = Application(routes, log, metrics, CrossOrigin(settings.cors_allowed_origins))
    return Unit(application, readiness, (gates.invocations, gates.requests), log, opened.aclose)


def _store_check(database: Database, owner: str) -> Check:
    async def check() -> None:
        async with database.connection() as connection:
            await require_store(connection, owner)

    return check
