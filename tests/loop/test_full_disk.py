"""A store that can write nothing, because its disk is full or others lock its tables: no unit is ready."""

import asyncio
import os
from pathlib import Path

import pytest

from aop.local.state import DatabaseUrls
from tests.ledger.writing import breaches
from tests.support.agent import a_message, data
from tests.support.loop import Changes, Platform, running_platform
from tests.support.postgres import PostgresForTests, session
from tests.support.volumes import filled, volume
from tests.support.waiting import background, becomes_true

pytestmark = pytest.mark.second_ring

_SIZE = "160m"


async def _on_volume(postgres: PostgresForTests, stores: DatabaseUrls, place: Path) -> None:
    """Moves a new platform to a disk of its own."""
    database = stores.migration.rpartition("/")[2]
    async with session(postgres.url("postgres")) as administrator:
        owner = os.stat(await administrator.fetchval("SHOW data_directory"))
        folder = place / "tables"
        folder.mkdir()
        os.chown(folder, owner.st_uid, owner.st_gid)
        await administrator.execute(f"CREATE TABLESPACE {database} LOCATION '{folder}'")
        await administrator.execute(f"ALTER DATABASE {database} SET TABLESPACE {database}")


async def _calls(platform: Platform) -> None:
    while True:
        await platform.invoke()
        await asyncio.sleep(0.02)


@pytest.mark.rows("SOUND-12")
async def test_no_unit_is_ready_while_the_disk_is_full_and_both_are_once_there_is_room(
    postgres: PostgresForTests, stores: DatabaseUrls, tmp_path: Path
) -> None:
    async def is_refused() -> bool:
        return (await platform.invoke()).status == 503

    async def readiness() -> set[int]:
        return {(await unit.get("/readyz")).status for unit in (platform.gateway, platform.router)}

    async def is_unready() -> bool:
        return await readiness() == {503}

    async def is_good() -> bool:
        return await readiness() == {200} and (await platform.invoke()).status == 200

    with volume(tmp_path / "disk", _SIZE) as place:
        await _on_volume(postgres, stores, place)
        async with running_platform(stores) as platform:
            platform.agent.usual = (a_message(data(1)),)
            await becomes_true(is_good)
            with filled(place):
                async with background(_calls(platform)):
                    await becomes_true(is_refused)
                    assert await readiness() == {200}, "for a moment it is no reason to leave a balancer"
                    await becomes_true(is_unready)
            await becomes_true(is_good, 5)
        assert await breaches(stores.router) == []
        await postgres.drop(stores.migration.rpartition("/")[2])
        await postgres.execute(f"DROP TABLESPACE {stores.migration.rpartition('/')[2]}")


@pytest.mark.rows("SOUND-12")
@pytest.mark.parametrize("table", ["invocation", "event"])
async def test_a_router_is_not_ready_while_others_lock_what_it_adds_to(
    postgres: PostgresForTests, stores: DatabaseUrls, table: str
) -> None:
    async def is_unready() -> bool:
        return (await platform.router.get("/readyz")).status == 503

    async def is_good() -> bool:
        return not await is_unready() and (await platform.invoke()).status == 200

    changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "300"})
    async with running_platform(stores, changes) as platform:
        platform.agent.usual = (a_message(data(1)),)
        await becomes_true(is_good)
        async with session(postgres.url(stores.migration.rpartition("/")[2])) as administrator:
            async with administrator.transaction():
                await administrator.execute(f"LOCK TABLE ledger.{table} IN SHARE MODE")
                assert not await is_unready(), "nothing has failed yet"
                async with background(_calls(platform)):
                    await becomes_true(is_unready)
            await becomes_true(is_good)
