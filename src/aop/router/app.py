"""Composition root of the A2A Router: everything is wired here and nowhere else."""

from contextlib import AsyncExitStack

from aop.base.clock import utc_now
from aop.base.database import Database
from aop.base.store_check import require_store, require_version
from aop.router.api.topology_status import topology_status_routes
from aop.router.settings import LISTEN_ADDRESS, MAX_CHILDREN, MAX_INVOCATIONS, RouterSettings
from aop.router.topology import Topology
from aop.serving.admission import Slots
from aop.serving.application import Application
from aop.serving.health import Readiness, health_routes
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import UnitLog
from aop.serving.unit import Serving, Unit, require_descriptors, serve

UNIT = "router"
STORE = "ledger"


async def run(settings: RouterSettings) -> None:
    calls = settings.max_in_flight_invocations + settings.max_in_flight_children
    require_descriptors(calls, settings.unit.database_pool_size, f"{MAX_INVOCATIONS}, {MAX_CHILDREN}")
    serving = Serving(settings.listen_address, LISTEN_ADDRESS, settings.unit.shutdown_grace_seconds)
    await serve(serving, lambda: build(settings))


async def build(settings: RouterSettings) -> Unit:
    async with AsyncExitStack() as opened:
        database = await Database.open(
            settings.database_url.reveal(), size=settings.unit.database_pool_size, application=f"aop {UNIT}"
        )
        opened.push_async_callback(database.close)
        async with database.connection() as connection:
            await require_version(connection, STORE)

        async def ledger_store() -> None:
            async with database.connection() as connection:
                await require_store(connection, STORE)

        log, metrics = UnitLog(UNIT, settings.unit.log_level), UnitMetrics(UNIT)
        readiness = Readiness({STORE: ledger_store}, log, metrics)
        roots, children = Slots(settings.max_in_flight_invocations), Slots(settings.max_in_flight_children)
        routes = [
            *health_routes(readiness, metrics),
            *topology_status_routes(Topology(utc_now), settings.service_principals),
        ]
        application = Application(routes, log, metrics)
        return Unit(application, readiness, (roots, children), log, opened.pop_all().aclose)
