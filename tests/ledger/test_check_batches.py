"""`aop ledger check` in batches: what is sound is not read twice, and nothing is lost between two of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.ledger.check import invocations as check_invocations
from aop.ledger.check import sequence as sequence_check
from aop.ledger.check.span import FIRST_ID, LAST_ID, Span
from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.local.state import DatabaseUrls
from tests.ledger.test_sequence import all_numbered, sequencer, some_calls
from tests.ledger.test_tree import all_in_tree
from tests.ledger.writing import ROUTER, breaches, writing
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.second_ring

COUNTS = """
SELECT (SELECT count(*) FROM ledger.invocation),
       (SELECT sum(events) FROM ledger.number),
       (SELECT count(*) FROM ledger.invocation WHERE NOT EXISTS (
               SELECT FROM ledger.event WHERE event.invocation_id = invocation.invocation_id AND type <> 'stream'))
"""
SWAPPED = """
WITH pair AS (SELECT one.number AS first, other.number AS second FROM ledger.number AS one {0} LIMIT 1)
UPDATE ledger.number SET number = -(SELECT first + second FROM pair) + number
 WHERE number IN (SELECT unnest(ARRAY[first, second]) FROM pair);
UPDATE ledger.number SET number = -number WHERE number < 0
"""
EARLY = {
    "an event before the one it follows": "JOIN ledger.number AS other ON other.invocation_id = one.invocation_id"
    " AND one.sequence = 3 AND other.sequence = 4",
    "a child before its parent": "JOIN ledger.invocation AS child ON child.parent_invocation_id = one.invocation_id"
    " JOIN ledger.number AS other ON other.invocation_id = child.invocation_id AND other.sequence = 0"
    " AND one.sequence = 0",
}


@asynccontextmanager
async def as_owner(postgres: PostgresForTests, url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        yield connection
    finally:
        await connection.close()


async def numbered(url: str, count: int) -> None:
    async with writing(url) as written, sequencer(url, ROUTER, written.epoch):
        await some_calls(written, count)
        await all_numbered(url)
        await all_in_tree(url)


@pytest.mark.rows("HA-04")
@pytest.mark.parametrize("batch", [1, 7, 10_000])
async def test_every_sound_invocation_is_confirmed(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Streams, children, calls that ended at their acceptance, failed ones, and calls that run."""
    monkeypatch.setattr(check_invocations, "_BATCH", batch)
    await numbered(stores.router, 12)
    connection = await asyncpg.connect(stores.router)
    found = [each async for each in check_invocations.judge_invocations(connection, Span(), (FIRST_ID, LAST_ID))]
    counts = tuple(await connection.fetchrow(COUNTS))
    await connection.close()
    assert [pair for each in found for pair in each.broken] == []
    assert tuple(map(sum, zip(*((each.checked, each.events, each.open) for each in found), strict=True))) == counts


@pytest.mark.rows("HA-04")
async def test_whatever_is_wrong_is_found_on_both_sides_of_a_batch(
    stores: DatabaseUrls, postgres: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_invocations, "_BATCH", 10)
    monkeypatch.setattr(sequence_check, "AT_ONCE", NUMBERS_IN_TILE)
    await numbered(stores.router, 2 * NUMBERS_IN_TILE // 7)
    assert await breaches(stores.router) == []
    async with as_owner(postgres, stores.router) as owner:
        await owner.execute("ALTER TABLE ledger.number DISABLE TRIGGER USER")
        at = await owner.fetch(
            "SELECT number FROM ledger.number WHERE number BETWEEN $1 - 3 AND $1 + 3 ORDER BY number", NUMBERS_IN_TILE
        )
        for number in [row[0] for row in at]:
            saved = await owner.fetchrow("SELECT * FROM ledger.number WHERE number = $1", number)
            await owner.execute("UPDATE ledger.number SET workspace_id = 'other' WHERE number = $1", number)
            said = f"number {number}: is not of the row that it names, of inv_{saved['invocation_id'].hex}"
            assert said in await breaches(stores.router)
            await owner.execute("DELETE FROM ledger.number WHERE number = $1", number)
            gap = f"number {number + saved['events']}: does not follow the one before it"
            assert gap in await breaches(stores.router)
            await owner.copy_records_to_table("number", schema_name="ledger", records=[tuple(saved)])
            assert await breaches(stores.router) == []


@pytest.mark.parametrize("pair", EARLY.values(), ids=EARLY)
async def test_a_number_that_stands_too_early_is_found(
    stores: DatabaseUrls, postgres: PostgresForTests, pair: str
) -> None:
    await numbered(stores.router, 3)
    async with as_owner(postgres, stores.router) as owner:
        await owner.execute("ALTER TABLE ledger.number DISABLE TRIGGER USER")
        await owner.execute(SWAPPED.format(pair))
    found = await breaches(stores.router)
    assert any(text.endswith("stands before its parent's or its own earlier event") for text in found), found


async def test_a_gap_as_wide_as_numbers_are_is_found_at_once(stores: DatabaseUrls, postgres: PostgresForTests) -> None:
    await numbered(stores.router, 3)
    async with as_owner(postgres, stores.router) as owner:
        await owner.execute("ALTER TABLE ledger.number DISABLE TRIGGER USER")
        moved = await owner.fetchval(
            "UPDATE ledger.number SET number = 1::bigint << 62 WHERE number = (SELECT max(number) FROM ledger.number)"
            " RETURNING number"
        )
    assert f"number {moved}: does not follow the one before it" in await breaches(stores.router)


@pytest.mark.rows("HA-04")
async def test_events_without_an_invocation_are_found_in_the_months_of_the_span(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    """Whatever id they have; a span of an hour looks at no month that it does not touch."""
    await numbered(stores.router, 3)
    async with as_owner(postgres, stores.router) as owner:
        await owner.execute("ALTER TABLE ledger.event DISABLE TRIGGER USER")
        await owner.execute(
            "UPDATE ledger.event SET invocation_id = gen_random_uuid()"
            " WHERE event_id = (SELECT event_id FROM ledger.event WHERE type <> 'stream' LIMIT 1)"
        )
    now, stray = utc_now(), "an event without its Invocation"
    for span in (Span(), Span(now), Span(now - timedelta(hours=1), now)):
        assert [text for text in await breaches(stores.router, span) if text.endswith(stray)], span
    assert await breaches(stores.router, Span(until=now - timedelta(days=70))) == []
