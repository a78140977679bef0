"""Units of two versions on one store: which old ones stay ready, and which new ones start."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from aop.store.migrations import OWNERS, migrations_of
from proof.world import World, world
from tests.store.next_version import DECLARED, migrated
from tests.support.postgres import PostgresForTests
from tests.support.replicas import Replica
from tests.support.waiting import becomes_true, patience

pytestmark = pytest.mark.second_ring

ADDITIONS = ("ALTER TABLE", "CREATE INDEX", "CREATE TABLE", "GRANT SELECT", "--")


@pytest_asyncio.fixture
async def made(stores: DatabaseUrls, postgres: PostgresForTests, tmp_path: Path) -> AsyncIterator[World]:
    async with world(stores, postgres.url(stores.migration.rpartition("/")[2]), tmp_path) as running:
        yield running


def of_next_version(unit: Replica, kind: str) -> Replica:
    """The same unit, on the same port, as its successor would run."""
    return replace(unit, command=("-m", "tests.store.next_unit", kind), process=None)


async def is_ready(unit: Replica) -> bool:
    return (await unit.unit.get("/readyz")).status == 200


@pytest.mark.rows("HA-03")
async def test_old_units_stay_ready_on_a_migration_that_declares_their_version_and_new_ones_wait_for_it(
    made: World, stores: DatabaseUrls
) -> None:
    old, new = made.router, of_next_version(made.router, DECLARED)
    assert await refused(new), "a new unit does not start before the migration"
    await migrated_beside(stores.migration, DECLARED)
    assert await is_ready(old)
    assert (await made.invoke(a=1)).status == 200
    await old.kill()
    await old.restart()
    assert (await made.invoke(a=2)).status == 200, "an old unit starts on it, too"
    await old.kill()
    await new.restart()
    try:
        assert (await made.invoke(a=3)).status == 200
    finally:
        await new.kill()


@pytest.mark.rows("HA-03")
async def test_old_units_turn_unready_on_a_migration_that_declares_nothing(made: World, stores: DatabaseUrls) -> None:
    old, new = made.router, of_next_version(made.router, "undeclared")
    assert await refused(new)
    await migrated_beside(stores.migration)

    async def is_unready() -> bool:
        return not await is_ready(old)

    await becomes_true(is_unready)
    await old.kill()
    assert await refused(old), "and start no more"
    await new.restart()
    try:
        assert (await made.invoke(a=1)).status == 200
    finally:
        await new.kill()


@pytest.mark.rows("HA-03")
@pytest.mark.parametrize("owner", OWNERS)
def test_a_migration_that_lets_old_units_stay_only_adds_what_they_ignore(owner: str) -> None:
    """A constraint, a trigger, a function or a column that must have a value would bind old units too."""
    for migration in migrations_of(owner):
        if migration.oldest_ready is not None:
            statements = [part.strip() for part in migration.sql.split(";") if part.strip()]
            assert all(part.startswith(ADDITIONS) for part in statements), migration
            assert "NOT NULL" not in migration.sql, migration
            assert "CONSTRAINT" not in migration.sql, migration
            assert "UNIQUE" not in migration.sql, migration


async def migrated_beside(url: str, *options: str) -> None:
    """Beside a Router that works: a migration gives up for a table that is in use and says to repeat it."""
    async with patience():
        while (said := await migrated(url, *options))[0]:
            assert "repeat this when it has ended" in said[1], said


async def refused(unit: Replica) -> bool:
    """It ends by itself with the exit code of what is not configured, and names the command that is missing."""
    # Under another id: one that runs already would keep it from starting, too.
    place = {"PLATFORM_ROUTER_ID": "router-9", "PLATFORM_ROUTER_LISTEN_ADDRESS": f"127.0.0.1:{any_free_port()}"}
    unit = replace(unit, settings={**unit.settings, **place}, process=None)
    said = len(unit.said)
    await unit.start()
    return await unit.ended() == 78 and "run: aop migrate" in unit.said[said:]
