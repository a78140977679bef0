"""The calls of a Release are counted the same, whether a checkpoint covers them or not."""

import re
from datetime import timedelta

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_id
from aop.ledger.model import SUCCEEDED
from aop.ledger.read.reader import _QUERIES
from aop.ledger.write.epochs import close_earlier
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.ledger.writing import ROUTER, Writing, a_context, an_acceptance, an_end, reading, writing
from tests.support.postgres import opened_database

pytestmark = pytest.mark.second_ring

AGES = (timedelta(), timedelta(minutes=30), timedelta(minutes=90), timedelta(hours=23), timedelta(hours=26))
"""Two in the last hour, four in the last day, and one that is older."""


async def counts(url: str, release: str) -> tuple[int, int, int]:
    async with reading(url) as reader:
        found = await reader.calls_of(release)
    assert found is not None
    assert found.release_id == release
    return found.calls_last_hour, found.calls_last_day, found.running


async def some_calls(written: Writing, release: str, running: int = 0) -> None:
    for age in AGES:
        place = await written.journal.accept(an_acceptance(a_context(release=release), at=utc_now() - age))
        await written.journal.end(an_end(place, SUCCEEDED))
    for _ in range(running):
        await written.journal.accept(an_acceptance(a_context(release=release)))


async def checkpoint(written: Writing) -> None:
    async with opened_database(written.url) as database:
        await written.journal.checkpoint(database, written.journal.settled_before)


async def test_each_call_is_counted_once_before_and_after_checkpoints_and_restarts(stores: DatabaseUrls) -> None:
    release, other = new_id("rel"), new_id("rel")
    assert await counts(stores.router, release) == (0, 0, 0)
    async with writing(stores.router) as written:
        await some_calls(written, release)
        await some_calls(written, other)
        assert await counts(stores.router, release) == (2, 4, 0)
        await checkpoint(written)
        await checkpoint(written)  # nothing new: it counts nothing twice
        assert await counts(stores.router, release) == (2, 4, 0)
        await some_calls(written, release, running=3)
        assert await counts(stores.router, release) == (7, 11, 3)
        await checkpoint(written)  # covers what was settled before the first that runs
        assert await counts(stores.router, release) == (7, 11, 3)
        rows = await written.rows("SELECT sum(calls) AS n FROM ledger.release_calls")
        assert rows[0]["n"] == 15
    async with writing(stores.router) as written, writing(stores.router, router_id="router-2") as beside:
        await some_calls(beside, release, running=1)
        connection = await connect(stores.router, application="test")
        try:
            await close_earlier(connection, ROUTER, written.epoch, utc_now)
        finally:
            await connection.close()
        assert await counts(stores.router, release) == (
            10,
            16,
            1,
        )  # an epoch that ended keeps what no checkpoint counted
        assert await counts(stores.router, other) == (2, 4, 0)


async def test_counts_are_only_added_and_only_by_the_newest_epoch(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        await some_calls(written, new_id("rel"))
        await checkpoint(written)
    connection = await asyncpg.connect(stores.router)
    try:
        for statement in ("DELETE FROM", "TRUNCATE"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"{statement} ledger.release_calls")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("UPDATE ledger.release_calls SET calls = 1")
        async with writing(stores.router):
            with pytest.raises(asyncpg.PostgresError, match="newer epoch"):
                await connection.execute(
                    "INSERT INTO ledger.release_calls SELECT gen_random_uuid(), minute, router_id, epoch, position, 1"
                    " FROM ledger.release_calls"
                )
    finally:
        await connection.close()


async def test_a_text_that_is_no_id_of_a_release_has_no_counts(stores: DatabaseUrls) -> None:
    async with reading(stores.router) as reader:
        assert [await reader.calls_of(text) for text in ("rel_1", new_id("inv"))] == [None, None]


async def test_counting_reads_indexes_from_the_last_checkpoint_on(stores: DatabaseUrls) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        await connection.execute("SET enable_seqscan = off")
        statement = _QUERIES["calls_of"].replace("$1", "gen_random_uuid()")
        plan = "\n".join(line[0] for line in await connection.fetch(f"EXPLAIN {statement}"))
    finally:
        await connection.close()
    assert "_router_id_epoch_position_idx" in plan
    assert "Seq Scan" not in plan
    assert re.search(r"Index Cond: .*router_id = life.router_id.*position\"? >= ", plan), plan
