"""A store whose commits stall for some seconds: whatever was accepted is ended, and nothing is left behind."""

import asyncio

import pytest

from aop.base.clock import utc_now
from aop.ledger.model import LOST, SUCCEEDED
from aop.ledger.write.epochs import close_earlier
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceUnknown, AcceptedButLost, Journal
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger.writing import ROUTER, Writing, an_acceptance, an_end, breaches, new_epoch, writing
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.stalls import stalled_commits
from tests.support.waiting import becomes_true, generous

WRITE_SECONDS = 0.7
STALLED_WRITES = 7
PAUSE = 0.05
APPLICATION = "test stalled journal"


async def call(journal: Journal) -> str:
    """What a Router does with an Invocation, and what its caller is told."""
    try:
        place = await journal.accept(an_acceptance())
    except AcceptedButLost as found:
        await journal.end_unstarted(found.last_fact)
        return "lost"
    except (AcceptanceFailed, AcceptanceUnknown):
        return "failed"
    return "succeeded" if await journal.end(an_end(place, SUCCEEDED)) else "lost"


async def calls_for(journal: Journal, seconds: float) -> list[asyncio.Task[str]]:
    calls = []
    for _ in range(int(seconds / PAUSE)):
        calls.append(asyncio.create_task(call(journal)))
        await asyncio.sleep(PAUSE)
    return calls


async def open_rows(written: Writing) -> int:
    rows = await written.rows(
        "SELECT count(*) AS n FROM ledger.invocation AS opened WHERE (SELECT count(*) FROM ledger.event"
        " WHERE event.invocation_id = opened.invocation_id AND type <> 'stream') <> 1"
    )
    return int(rows[0]["n"])


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-08")
async def test_a_stall_of_many_write_timeouts_leaves_every_accepted_invocation_with_one_terminal_and_no_connection(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await postgres.execute(f"ALTER DATABASE {stores.router.rpartition('/')[2]} SET synchronous_commit = 'on'")
    opened: list[Connection] = []

    async def connected() -> Connection:
        opened.append(await connect(stores.router, application=APPLICATION))
        return opened[-1]

    async with writing(stores.router, connect_by=connected, seconds=WRITE_SECONDS) as written:
        journal = written.journal
        calls = await calls_for(journal, 0.2)
        async with stalled_commits(postgres.url("postgres")) as stalled:
            calls += await calls_for(journal, STALLED_WRITES * WRITE_SECONDS)
            behind = journal.unsettled()
        calls += await calls_for(journal, 0.5)
        told = await asyncio.gather(*calls)
        assert {"succeeded", "failed"} <= set(told)
        assert len(stalled) > 1
        assert behind.unconfirmed > 0

        async def settled() -> bool:
            return journal.unsettled().count == 0

        await becomes_true(settled)
        assert await call(journal) == "succeeded"
        # Before any checkpoint could hide it, and without the help of a next epoch.
        assert await open_rows(written) == 0
        async with opened_database(stores.router) as database:
            await journal.checkpoint(database, journal.settled_before)
    assert all(connection.is_closed() for connection in opened)

    async def nobody_left() -> bool:
        return not await written.rows("SELECT FROM pg_stat_activity WHERE application_name = $1", APPLICATION)

    await becomes_true(nobody_left)
    epoch = await new_epoch(stores.router)
    connection = await connect(stores.router, application="test")
    assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended == 0
    await connection.close()
    assert await breaches(stores.router) == []


@pytest.mark.rows("SAFE-08")
async def test_a_router_that_dies_in_a_stall_leaves_everything_to_its_next_epoch(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await postgres.execute(f"ALTER DATABASE {stores.router.rpartition('/')[2]} SET synchronous_commit = 'on'")
    async with writing(stores.router, seconds=generous(0.3)) as written:
        place = await written.journal.accept(an_acceptance())
        async with stalled_commits(postgres.url("postgres")):
            calls = await calls_for(written.journal, 1.5)
            assert await written.journal.end(an_end(place, SUCCEEDED)) is False
            await asyncio.gather(*calls)
            assert written.journal.settled_before == 1
            await written.journal.close()
    epoch = await new_epoch(stores.router)
    connection = await connect(stores.router, application="test")
    assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended > 0
    await connection.close()
    assert await open_rows(written) == 0
    assert await written.terminals(place.context.lineage.invocation) in (
        [(LOST.type, LOST.error)],
        [(SUCCEEDED.type, None)],
    )
    assert await breaches(stores.router) == []
