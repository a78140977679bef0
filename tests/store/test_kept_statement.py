"""A statement for one connection is prepared once for it, and never stands in the way of a change of its tables."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from aop.store.kept_statement import KeptStatement

QUERY = "SELECT state, $1::text FROM pg_temp.thing"


@pytest_asyncio.fixture
async def connection(stores: DatabaseUrls) -> AsyncIterator[Connection]:
    connection = await connect(stores.migration, application="test")
    await connection.execute("CREATE TEMPORARY TABLE thing (state text); INSERT INTO pg_temp.thing VALUES ('open')")
    yield connection
    await connection.close()


async def prepared(connection: Connection) -> int:
    count: int = await connection.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE statement = $1", QUERY)
    return count


async def test_it_is_prepared_for_a_connection_that_comes_again(connection: Connection) -> None:
    kept = KeptStatement(QUERY)
    for _ in range(5):
        assert tuple(await kept.fetchrow(connection, "a")) == ("open", "a")
    assert await prepared(connection) == 2, "one by its text, for the first time, and one to keep"


async def test_it_reads_on_when_its_table_has_changed(connection: Connection) -> None:
    kept = KeptStatement(QUERY)
    for _ in range(3):
        await kept.fetchrow(connection, "a")
    await connection.execute("ALTER TABLE pg_temp.thing ALTER COLUMN state TYPE integer USING 7")
    for _ in range(3):
        assert tuple(await kept.fetchrow(connection, "b")) == (7, "b")


async def test_after_a_failure_it_begins_anew(connection: Connection) -> None:
    kept = KeptStatement(QUERY)
    for _ in range(3):
        await kept.fetchrow(connection, "a")
    await connection.execute("ALTER TABLE pg_temp.thing RENAME TO other")
    for _ in range(2):
        with pytest.raises(Exception, match="does not exist"):
            await kept.fetchrow(connection, "a")
    await connection.execute("ALTER TABLE pg_temp.other RENAME TO thing")
    for _ in range(3):
        assert tuple(await kept.fetchrow(connection, "a")) == ("open", "a")


async def test_each_connection_has_its_own(connection: Connection, stores: DatabaseUrls) -> None:
    kept = KeptStatement("SELECT pg_backend_pid()")
    other = await connect(stores.migration, application="test")
    try:
        for one in (connection, connection, other, other, connection):
            assert (await kept.fetchrow(one))[0] == one.get_server_pid()
    finally:
        await other.close()


async def test_what_it_writes_is_written_once_also_behind_a_refusal_and_a_change(connection: Connection) -> None:
    await connection.execute("CREATE TEMPORARY TABLE line (number integer PRIMARY KEY)")
    kept = KeptStatement("INSERT INTO pg_temp.line VALUES ($1)")
    for number in range(4):
        await kept.execute(connection, number)
    with pytest.raises(asyncpg.UniqueViolationError):
        await kept.execute(connection, 3)
    await kept.execute(connection, 4)
    await kept.execute(connection, 5)
    await connection.execute("ALTER TABLE pg_temp.line ADD COLUMN colour text")
    await kept.execute(connection, 6)
    assert [row[0] for row in await connection.fetch("SELECT number FROM pg_temp.line ORDER BY 1")] == [*range(7)]
