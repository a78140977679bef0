"""Full units refuse at once and start nothing, and a Ledger that does not write gives no result away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from aop.local.state import DatabaseUrls
from tests.support.agent import a_message, data, invocation_of
from tests.support.errors import require_error
from tests.support.loop import SPACE, Changes, running_platform
from tests.support.peers import after
from tests.support.postgres import PostgresForTests
from tests.support.waiting import generous_ms


def hasty() -> Changes:
    """A Router that gives up a write soon, but not one that a busy machine only delays."""
    return Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": str(generous_ms(0.2))})


@pytest.mark.second_ring
@pytest.mark.rows("INV-30")
@pytest.mark.parametrize("unit", ["gateway", "router"])
async def test_one_more_call_than_there_are_slots_is_refused_and_harms_nobody(stores: DatabaseUrls, unit: str) -> None:
    full = {f"PLATFORM_{unit.upper()}_MAX_IN_FLIGHT_INVOCATIONS": "3"}
    changes = Changes(control_plane=full) if unit == "gateway" else Changes(router=full)
    async with running_platform(stores, changes) as platform:
        release = asyncio.Event()
        platform.agent.usual = (after(release, a_message(data("kept"))),)
        running = [asyncio.create_task(platform.invoke()) for _ in range(3)]
        await platform.agent.arrival("message/send", 3)
        for _ in range(3):
            reply = await platform.invoke()
            await platform.require_refused(reply, 503, "OVERLOADED", 3)
            assert reply.header("retry-after") == "1"
        assert (await platform.gateway.get(f"/v1/workspaces/{SPACE}", token=platform.token)).status == 200
        release.set()
        assert [reply.json["result"] for reply in await asyncio.gather(*running)] == ["kept"] * 3
        assert (await platform.invoke()).status == 200
        assert len(platform.agent.received) == 4


@asynccontextmanager
async def locked(postgres: PostgresForTests, stores: DatabaseUrls, table: str) -> AsyncIterator[None]:
    """Whoever writes to the table waits; whoever reads it does not."""
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
    try:
        yield
    finally:
        await transaction.rollback()
        await connection.close()


@pytest.mark.rows("INV-25")
async def test_a_result_whose_terminal_is_not_written_is_not_given_away(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores, hasty()) as platform:
        release = asyncio.Event()
        platform.agent.script(after(release, a_message(data("canary-result"))))
        call = asyncio.create_task(platform.invoke())
        request = await platform.agent.arrival("message/send")
        async with locked(postgres, stores, "ledger.event"):
            release.set()
            reply = await call
            require_error(reply, 503, "DEPENDENCY_ERROR", "4")
            assert reply.json["invocationId"] == invocation_of(request)
            assert b"canary" not in reply.body
        detail = await platform.ended(reply.json["invocationId"])
        assert detail["events"][-1]["error"] == reply.json
        await platform.require_failed(reply, 503, "DEPENDENCY_ERROR")
        assert platform.agent.methods(reply.json["invocationId"]) == ["message/send"]


@pytest.mark.second_ring
@pytest.mark.rows("INV-25")
async def test_without_its_first_write_an_invocation_never_was(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores, hasty()) as platform:
        async with locked(postgres, stores, "ledger.invocation"):
            reply = await platform.invoke()
        await platform.require_refused(reply, 503, "DEPENDENCY_ERROR", 0)
        assert platform.agent.received == []
        assert (await platform.invoke()).status == 200
