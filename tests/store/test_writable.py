"""Connections go to the one node that takes writes: found among several hosts, given up when it no longer does."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from aop.store.backends import Backend, backend_of, end_backend
from aop.store.database import Database, connect
from aop.store.problems import NotReplicated, NotWritable, StoreUnavailable
from aop.store.writable import LeaderWatch
from tests.support.standby import Node, Pair, pair_of_nodes
from tests.support.waiting import becomes_true, promptly

STATEMENT_MS = 1000
MARK = "INSERT INTO public.mark VALUES ($1)"
PORT = "SELECT current_setting('port')::integer"


@pytest_asyncio.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    async with pair_of_nodes(tmp_path) as made:
        await made.first.execute("CREATE TABLE public.mark (number integer)", made.database)
        yield made


async def pool(url: str) -> Database:
    return await Database.open(url, size=4, application="test", statement_ms=STATEMENT_MS)


async def port_of(database: Database) -> int:
    async with database.connection() as connection:
        return int(await connection.fetchval(PORT))


async def marks(node: Node, database: str) -> int:
    return int(str(await node.value("SELECT count(*) FROM public.mark", database)))


async def becomes_port(database: Database, port: int) -> None:
    async def there() -> bool:
        try:
            return await port_of(database) == port
        except StoreUnavailable:
            return False

    await becomes_true(there)


@pytest.mark.second_ring
@pytest.mark.rows("HA-01")
async def test_the_writable_node_is_found_wherever_it_stands_among_the_hosts(pair: Pair) -> None:
    for nodes in ((pair.second, pair.first), (pair.first, pair.second)):
        connection = await connect(pair.url(*nodes), application="test")
        assert await connection.fetchval(PORT) == pair.first.port
        await connection.close()
    with pytest.raises(NotWritable):
        await connect(pair.url(pair.second), application="test")


@pytest.mark.second_ring
@pytest.mark.rows("HA-01")
async def test_a_first_host_that_is_frozen_does_not_use_up_the_time_of_the_others(pair: Pair) -> None:
    with pair.second.frozen():
        async with promptly(3):
            connection = await connect(pair.url(pair.second, pair.first), application="test")
        assert await connection.fetchval(PORT) == pair.first.port
        connection.terminate()


@pytest.mark.second_ring
@pytest.mark.rows("HA-01")
async def test_a_node_that_turned_read_only_is_a_store_that_fails_and_is_left_at_once(pair: Pair) -> None:
    database = await pool(pair.url(pair.first, pair.second))
    await set_read_only(pair.first, "on")
    try:
        with pytest.raises(StoreUnavailable, match="ReadOnly"):
            await insert(database, 1)
        with pytest.raises(NotWritable):
            await insert(database, 2)
        await set_read_only(pair.first, "off")
        await insert(database, 3)
        assert await marks(pair.first, pair.database) == 1
    finally:
        await database.close()


@pytest.mark.second_ring
@pytest.mark.rows("HA-01")
async def test_after_a_leader_froze_the_promoted_one_is_used_and_the_former_one_never_again(pair: Pair) -> None:
    database = await pool(pair.url(pair.first, pair.second))
    early = await connect(pair.url(pair.first, pair.second), application="test")
    # As many as the pool has: each of them is lost with the leader, and only the first call pays for that.
    async with asyncio.TaskGroup() as several:
        for _ in range(4):
            several.create_task(sleep_a_moment(database))
    try:
        with pair.first.frozen():
            await pair.second.promote()
            await becomes_port(database, pair.second.port)
            began = time.monotonic()
            await asyncio.gather(*(insert(database, number) for number in range(8)))
            assert time.monotonic() - began < STATEMENT_MS / 1000 * 2.5, "a session of the frozen leader was used"
            assert early.is_former
        # It still takes writes, as nobody told it anything. Those would be lost.
        await pair.first.execute("INSERT INTO public.mark VALUES (0)", pair.database)
        with pair.second.frozen(), pytest.raises(StoreUnavailable):
            await connect(pair.url(pair.first, pair.second), application="test")
        assert await port_of(database) == pair.second.port
        assert await marks(pair.second, pair.database) == 8
    finally:
        early.terminate()
        await database.close()


@pytest.mark.second_ring
@pytest.mark.rows("HA-01")
async def test_reads_leave_sessions_of_a_former_leader_that_still_answers(pair: Pair) -> None:
    """Nobody fenced it, so that it answers as if nothing had happened: only who looks at all hosts can know."""
    url = pair.url(pair.first, pair.second)
    reads, watch = await pool(url), LeaderWatch(url, timeout=STATEMENT_MS / 1000)
    kept = reads.keep()
    assert kept is not None
    assert watch.is_needed
    try:
        async with asyncio.TaskGroup() as several:
            for _ in range(3):
                several.create_task(sleep_a_moment(reads))
        assert await (await kept.opened()).fetchval(PORT) == pair.first.port
        await watch.probe()
        assert await port_of(reads) == pair.first.port
        await pair.second.promote()
        assert await port_of(reads) == pair.first.port
        await watch.probe()
        assert {await port_of(reads) for _ in range(8)} == {pair.second.port}
        assert await (await kept.opened()).fetchval(PORT) == pair.second.port
    finally:
        await kept.release()
        await reads.close()


@pytest.mark.rows("HA-01")
async def test_a_commit_that_no_standby_has_is_never_told_as_done(pair: Pair) -> None:
    """Whoever interrupts the wait for it is told so. The server itself reports success and a warning."""
    database = await pool(pair.url(pair.first, pair.second))
    await pair.require_standby()
    try:
        await insert(database, 1)
        with pair.second.frozen():
            for work in (insert, insert_in_transaction):
                writing = asyncio.create_task(work(database, 2))
                await becomes_true(lambda: cancelled_wait(pair))
                with pytest.raises(NotReplicated):
                    await writing
            with pytest.raises(StoreUnavailable, match="TimeoutError"):
                await insert(database, 3)
            assert await marks(pair.first, pair.database) > 2, "rows that a failover would lose"
        await insert(database, 4)
    finally:
        await database.close()


@pytest.mark.second_ring
async def test_a_backend_is_ended_by_its_number_and_its_start_only(stores: DatabaseUrls) -> None:
    one, other = [await connect(stores.router, application="test") for _ in range(2)]
    found = await backend_of(one)
    namesake = Backend(found.pid, (await backend_of(other)).started)
    assert not await end_backend(other, namesake)
    assert await one.fetchval("SELECT true")
    assert not await end_backend(other, found)
    with pytest.raises(Exception, match=r"terminat|closed"):
        await one.fetchval("SELECT true")
    other.terminate()


async def insert(database: Database, number: int) -> None:
    async with database.connection() as connection:
        await connection.execute(MARK, number)


async def insert_in_transaction(database: Database, number: int) -> None:
    async with database.transaction() as connection:
        await connection.execute(MARK, number)


async def cancelled_wait(pair: Pair) -> bool:
    return bool(
        await pair.first.value("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    )


async def sleep_a_moment(database: Database) -> None:
    async with database.connection() as connection:
        await connection.fetchval("SELECT pg_sleep(0.2)::text")


async def set_read_only(node: Node, value: str) -> None:
    connection = await asyncpg.connect(node.url(database="postgres"))
    await connection.execute("SET default_transaction_read_only = off")
    await connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()

    async def is_set() -> bool:
        return await node.value("SELECT current_setting('default_transaction_read_only')") == value

    await becomes_true(is_set)
