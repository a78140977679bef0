"""The Ledger in a database of its own: the units never meet in one, so that each can have its own server."""

import asyncpg
import pytest
from msgspec.structs import replace

from aop.local.state import DatabaseUrls
from tests.ledger.writing import breaches
from tests.support.agent import a_message, data
from tests.support.loop import running_platform
from tests.support.nested import running_parent
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring

_TABLES = """
SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
 WHERE schemaname IN ('registry', 'workspace', 'gateway', 'ledger') AND tablename <> 'schema_version'
"""


async def used_tables(postgres: PostgresForTests, urls: DatabaseUrls) -> set[str]:
    """Those with a row."""
    connection = await asyncpg.connect(postgres.url(urls.migration.rpartition("/")[2]))
    try:
        names = [row["name"] for row in await connection.fetch(_TABLES)]
        return {name for name in names if await connection.fetchval(f"SELECT EXISTS (SELECT FROM {name})")}
    finally:
        await connection.close()


async def test_control_plane_and_router_work_on_two_databases(postgres: PostgresForTests, stores: DatabaseUrls) -> None:
    """Only the URL of each unit says where its tables are; `aop migrate` runs on both."""
    ledger = await postgres.new_platform()
    migrated = await used_tables(postgres, ledger)
    async with running_platform(replace(stores, router=ledger.router)) as platform:
        platform.agent.script(a_message(data(1)))
        made = (await platform.invoke()).json
        async with running_parent(platform) as parent:
            assert (await parent.call()).status == 200
        assert (await platform.detail(made["invocationId"]))["invocation"]["status"] == "succeeded"
        assert len((await platform.read("/invocations"))["items"]) == 3
        assert len((await platform.read("/traces"))["items"]) == 2
        assert (await platform.read("/figures"))["total"]["counts"]["calls"] == 3

        async def is_in_feed() -> bool:
            events = (await platform.read("/events?limit=100"))["items"]
            return sum("latencyMs" in event["data"] for event in events) == 3

        await becomes_true(is_in_feed)
        reach = await platform.gateway.get(f"/v1/releases/{platform.release.release_id}/reach", token=platform.token)
        assert reach.json["callsLastHour"] == 3
        assert (await platform.gateway.get("/readyz")).status == (await platform.router.get("/readyz")).status == 200
    assert await breaches(ledger.router) == []
    catalog, facts = await used_tables(postgres, stores) - migrated, await used_tables(postgres, ledger) - migrated
    assert facts
    assert all(name.startswith("ledger.") for name in facts)
    assert catalog
    assert not any(name.startswith("ledger.") for name in catalog)
