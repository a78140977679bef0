"""Reads that wait together are one statement; each answer was read after it was asked for."""

import asyncio
import gc
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress

import pytest
import pytest_asyncio
from asyncpg import InterfaceError

from aop.local.state import DatabaseUrls
from aop.store.database import Connection, Database
from aop.store.grouped_reads import GroupedReads
from aop.store.problems import StoreUnavailable
from tests.support.postgres import opened_database
from tests.support.waiting import PATIENCE_SECONDS, patience


class Squares:
    """Has the server square numbers and notes which were asked for together; those below zero have no answer."""

    def __init__(self) -> None:
        self.statements: list[Sequence[int]] = []
        self.begun = asyncio.Event()
        self.fault: BaseException | None = None
        self.query = "SELECT number, number * number AS square FROM unnest($1::integer[]) AS number WHERE number >= 0"

    async def read(self, connection: Connection, numbers: Sequence[int]) -> Mapping[int, int]:
        self.statements.append(numbers)
        self.begun.set()
        if self.fault is not None:
            raise self.fault
        return {row["number"]: row["square"] for row in await connection.fetch(self.query, numbers)}


@pytest_asyncio.fixture
async def database(stores: DatabaseUrls) -> AsyncIterator[Database]:
    async with opened_database(stores.control_plane) as database:
        yield database


async def test_reads_that_are_asked_for_together_are_one_statement(database: Database) -> None:
    squares = Squares()
    reads = GroupedReads(database, squares.read)
    assert await asyncio.gather(*(reads.get(number) for number in (1, 2, -3, 2))) == [1, 4, None, 4]
    assert squares.statements == [[1, 2, -3]]
    assert await reads.get(2) == 4, "nothing is remembered"
    assert squares.statements == [[1, 2, -3], [2]]


async def test_what_is_asked_while_a_statement_runs_is_read_by_the_next_one(database: Database) -> None:
    squares = Squares()
    squares.query = "SELECT number, number AS square, pg_sleep(0.05) FROM unnest($1::integer[]) AS number"
    reads = GroupedReads(database, squares.read)
    first = asyncio.create_task(reads.get(1))
    await squares.begun.wait()
    assert [*await asyncio.gather(first, reads.get(1), reads.get(2))] == [1, 1, 2]
    assert squares.statements == [[1], [1, 2]]


async def test_a_caller_who_leaves_takes_nobody_elses_answer_away(database: Database) -> None:
    squares = Squares()
    reads = GroupedReads(database, squares.read)
    leaving, staying = asyncio.create_task(reads.get(3)), asyncio.create_task(reads.get(4))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 16


async def test_a_store_that_fails_is_told_to_all_who_asked(database: Database) -> None:
    squares = Squares()
    squares.query = "SELECT missing FROM nowhere WHERE $1::integer[] IS NULL"
    reads = GroupedReads(database, squares.read)
    told = await asyncio.gather(reads.get(1), reads.get(2), return_exceptions=True)
    assert [type(failure) for failure in told] == [StoreUnavailable] * 2
    squares.query = Squares().query
    assert await reads.get(5) == 25, "the next one is served again"


async def test_an_unforeseen_fault_is_told_to_all_who_asked(database: Database) -> None:
    squares = Squares()
    squares.fault = LookupError("a row of another shape")
    reads = GroupedReads(database, squares.read)
    told = await asyncio.gather(reads.get(1), reads.get(2), return_exceptions=True)
    assert all(isinstance(failure, LookupError) for failure in told)
    assert told[0] is not told[1], "each raises it in its own place"
    assert [str(failure) for failure in told] == ["a row of another shape"] * 2


@pytest.mark.rows("SOUND-05")
async def test_a_read_that_is_cancelled_from_within_lets_nobody_wait_for_ever(database: Database) -> None:
    squares = Squares()
    squares.fault = asyncio.CancelledError()
    reads = GroupedReads(database, squares.read)
    async with patience():
        told = await asyncio.gather(reads.get(1), reads.get(2), return_exceptions=True)
    assert [type(failure) for failure in told] == [StoreUnavailable] * 2, "nobody who asked was cancelled"
    squares.fault = None
    async with patience():
        assert await reads.get(5) == 25, "the next one is served again"


async def test_closing_lets_nobody_wait_for_ever(database: Database) -> None:
    reads = GroupedReads(database, Squares().read)
    waiting = asyncio.create_task(reads.get(1))
    await asyncio.sleep(0)
    await reads.close()
    await asyncio.wait({waiting}, timeout=PATIENCE_SECONDS)
    assert waiting.cancelled()


async def test_a_kept_connection_that_was_lost_is_opened_again(stores: DatabaseUrls) -> None:
    squares = Squares()
    squares.query = "SELECT number, pg_backend_pid() AS square FROM unnest($1::integer[]) AS number"
    async with opened_database(stores.control_plane, size=4) as database:
        reads = GroupedReads(database, squares.read)
        first = await reads.get(1)
        assert await reads.get(1) == first, "it is kept"
        async with database.connection() as other:
            await other.execute("SELECT pg_terminate_backend($1)", first)
        told = await asyncio.gather(reads.get(1), return_exceptions=True)
        assert isinstance(told[0], StoreUnavailable) or told[0] != first
        assert await reads.get(1) != first
        await reads.close()


@pytest.mark.rows("SOUND-05")
@pytest.mark.parametrize("size", [1, 4], ids=["a connection for each statement", "a kept connection"])
async def test_a_session_that_ended_under_a_read_is_a_failure_of_the_store(stores: DatabaseUrls, size: int) -> None:
    """Also when the pool has taken the connection back before anybody hears of it."""
    async with opened_database(stores.control_plane, size=size) as database:

        async def read(connection: Connection, _: Sequence[int]) -> Mapping[int, int]:
            try:
                await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            finally:
                await taken_back(connection)
            raise AssertionError("the session has ended itself")

        reads = GroupedReads(database, read)
        with pytest.raises(StoreUnavailable):
            await reads.get(1)
        await reads.close()


@pytest.mark.rows("SOUND-05")
async def test_a_session_that_ended_after_its_last_statement_makes_nothing_fail(
    database: Database, stores: DatabaseUrls
) -> None:
    async with opened_database(stores.control_plane) as other, database.connection() as connection:
        backend = await connection.fetchval("SELECT pg_backend_pid()")
        async with other.connection() as ending:
            await ending.execute("SELECT pg_terminate_backend($1)", backend)
        await taken_back(connection)


async def taken_back(connection: Connection) -> None:
    """Waits until the pool has noticed that the session is over."""
    async with patience():
        with suppress(InterfaceError):
            while True:
                connection.is_closed()
                await asyncio.sleep(0)


async def test_the_failure_of_a_read_that_nobody_waits_for_is_told_to_nobody(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    squares = Squares()
    squares.fault = LookupError("a row of another shape")
    reads = GroupedReads(database, squares.read)
    before, behind = reads.begin(1), reads.begin(2)
    before.cancel()
    await asyncio.wait({behind}, timeout=PATIENCE_SECONDS)
    behind.cancel()
    squares.fault = None
    assert await reads.get(2) == 4, "the next one is served"
    del before, behind
    gc.collect()
    assert [record.message for record in caplog.records] == []
