"""What every unit with a store is built on, opened once: log, metrics, loops, name resolution and the database."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from aop.base.settings import Secret
from aop.net.policy import Lookup, Resolver
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.background import UnitContext, unit_loops
from aop.serving.unit.health import Check
from aop.serving.unit.unit_settings import UnitSettings
from aop.serving.unit.write_check import WriteCheck
from aop.store.database import Database
from aop.store.store_check import require_store, require_version
from aop.store.writable import LeaderWatch


@dataclass(frozen=True)
class Stores:
    """Where a unit keeps its data, and who in it owns a part of the database; `additions` as in WriteCheck."""

    database_url: Secret
    owners: Sequence[str]
    additions: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Foundation(UnitContext):
    database: Database
    writes: WriteCheck

    def store_check(self, owner: str) -> Check:
        """What readiness asks: whether the owner's part of the database is as this version expects it."""

        async def check() -> None:
            async with self.database.connection() as connection:
                await require_store(connection, owner)

        return check


async def open_foundation(
    name: str,
    settings: UnitSettings,
    stores: Stores,
    lookup: Lookup,
    opened: AsyncExitStack,
    instance: str | None = None,
) -> Foundation:
    """The database is closed with `opened`. Loops are left to the unit, which ends them before what they use."""
    database = await Database.open(
        stores.database_url.reveal(),
        size=settings.database_pool_size,
        application=f"aop {name}",
        statement_ms=settings.database_statement_timeout_ms,
    )
    opened.push_async_callback(database.close)
    async with database.connection() as connection:
        for owner in stores.owners:
            await require_version(connection, owner)
    log, metrics = UnitLog(name, settings.log_level), UnitMetrics(name)
    loops = unit_loops(log, metrics)
    seconds = settings.database_statement_timeout_ms / 1000
    watch = LeaderWatch(stores.database_url.reveal(), timeout=seconds, command_timeout=seconds)
    if watch.is_needed:
        loops.start("leader watch", watch.turn, needed=False)
    writes = WriteCheck(database, stores.additions)
    return Foundation(log, metrics, loops, Resolver(lookup), instance, database=database, writes=writes)
