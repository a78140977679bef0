"""The Ledger in partitions by month: a whole Trace in one, every guard on each, made ahead of need."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id
from aop.contracts.identity import InvocationContext
from aop.ledger.model import SUCCEEDED, TIMED_OUT, Opening, Progress, progress_fact
from aop.ledger.months import Months
from aop.ledger.write import store
from aop.ledger.write.journal import AcceptanceFailed
from aop.local.state import DatabaseUrls
from aop.store import migrations
from aop.store.migrations import migrate, migrations_of
from aop.store.problems import StoreNotAsExpected
from aop.store.store_check import require_store
from tests.ledger.writing import (
    ROUTER,
    SPACE,
    Writing,
    a_context,
    an_acceptance,
    an_end,
    breaches,
    checked,
    digits,
    reading,
    writing,
)
from tests.support.postgres import PostgresForTests, opened_database

pytestmark = pytest.mark.second_ring

PARTITIONED = ("invocation", "event", "cancel_request")
OF_BEFORE = 14
"""Migrations of the Ledger before it had partitions."""


def month_before(moment: datetime) -> datetime:
    return (moment.replace(day=1) - timedelta(days=1)).replace(day=1)


def month_after(moment: datetime) -> datetime:
    return (moment.replace(day=1) + timedelta(days=32)).replace(day=1)


def named(table: str, moment: datetime) -> str:
    return f"{table}_{moment:%Y_%m}"


def root_at(moment: datetime) -> str:
    return f"task_{int(moment.timestamp() * 1000):012x}{new_hex_id()[12:]}"


async def a_call(written: Writing, root_task: str) -> InvocationContext:
    """A root that has streamed and ended, and its child, of which the caller left."""
    context = a_context(root_task=root_task)
    place = await written.journal.accept(an_acceptance(context))
    child = a_context(context)
    below = await written.journal.accept(an_acceptance(child))
    await written.journal.request_cancel(child.lineage.invocation)
    assert await written.journal.end(an_end(below, SUCCEEDED))
    first = progress_fact(place, new_hex_id(), utc_now(), Progress(3, 30))
    assert await written.journal.end(first, an_end(first.as_last(), SUCCEEDED))
    return context


async def places(connection: asyncpg.Connection, table: str) -> dict[str, set[str]]:
    """The partitions of a table that have rows, and the root tasks in each."""
    rows = await connection.fetch(f"SELECT tableoid::regclass::text AS part, root_task_id FROM ledger.{table}")
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["part"].removeprefix("ledger."), set()).add(f"task_{row['root_task_id'].hex}")
    return found


def superuser(postgres: PostgresForTests, stores: DatabaseUrls) -> str:
    return postgres.url(stores.migration.rpartition("/")[2])


@pytest.mark.rows("HA-04")
async def test_a_whole_trace_lies_in_the_month_in_which_it_began(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    now = utc_now()
    roots = {moment: root_at(moment) for moment in (month_before(now), now)}
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        contexts = {moment: await a_call(written, root) for moment, root in roots.items()}
        for context in contexts.values():
            assert await lineage.detail(SPACE, context.lineage.invocation) is not None
            page = await lineage.trace(SPACE, context.lineage.trace)
            assert page is not None
            assert len(page.trace.invocations) == 2
    connection = await asyncpg.connect(superuser(postgres, stores))
    try:
        for table in PARTITIONED:
            expected = {named(table, moment): {root} for moment, root in roots.items()}
            assert await places(connection, table) == expected
    finally:
        await connection.close()
    assert await breaches(stores.router) == []


async def test_what_no_month_takes_is_refused(stores: DatabaseUrls) -> None:
    """There is no partition for the rest: it would hide a wrong clock."""
    async with writing(stores.router) as written:
        far = a_context(root_task=root_at(datetime(2020, 1, 1, tzinfo=UTC)))
        with pytest.raises(AcceptanceFailed):
            await written.journal.accept(an_acceptance(far))
        await written.journal.accept(an_acceptance())


@pytest.mark.rows("SOUND-07")
async def test_a_month_that_is_missing_is_made_when_a_call_first_needs_it(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    """By the guarded function, for whichever Router comes first: nothing is refused and nothing is lost."""
    now = utc_now()
    await without_months(stores, postgres)
    later = month_after(month_after(month_after(month_after(now))))
    async with writing(stores.router) as one, writing(stores.router, router_id="router-2") as other:
        roots = [a_context(root_task=root_at(moment)) for moment in [now] * 20 + [later, month_before(now)]]
        at = [(one, other)[number % 2].journal for number in range(len(roots))]
        places = await asyncio.gather(
            *(journal.accept(an_acceptance(root)) for journal, root in zip(at, roots, strict=True))
        )
        for journal, place in zip(at, places, strict=True):
            assert await journal.end(an_end(place, SUCCEEDED))
        await one.journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT)
    found, reading = await checked(stores.router)
    assert (found, reading.checked, reading.open) == ([], len(roots) + 1, 0)


@pytest.mark.rows("SOUND-07")
async def test_a_clock_that_is_wrong_by_years_makes_no_month_and_holds_up_nobody(
    stores: DatabaseUrls,
) -> None:
    async with writing(stores.router) as written:
        ends = await asyncio.gather(
            *(
                written.journal.accept(an_acceptance(a_context(root_task=root_at(moment))))
                for moment in (utc_now(), datetime(2020, 1, 1, tzinfo=UTC), utc_now(), utc_now())
            ),
            return_exceptions=True,
        )
    assert [isinstance(end, AcceptanceFailed) for end in ends] == [False, True, False, False]


@pytest.mark.rows("SOUND-07")
async def test_a_router_is_ready_as_soon_as_it_has_made_the_month_that_was_missing(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await without_months(stores, postgres)
    async with opened_database(stores.router) as database:
        await Months(database).check()
    async with writing(stores.router) as written:
        await written.journal.accept(an_acceptance())


async def without_months(stores: DatabaseUrls, postgres: PostgresForTests) -> None:
    """As if no Router had run for months."""
    for month in (month_before(utc_now()), utc_now(), month_after(utc_now()), month_after(month_after(utc_now()))):
        for table in ("cancel_request", "event", "invocation"):
            part = f"ledger.{named(table, month)}"
            gone = f"ALTER TABLE ledger.{table} DETACH PARTITION {part}; DROP TABLE {part}"
            await postgres.execute(gone, stores.migration.rpartition("/")[2])


async def test_months_are_made_ahead_by_a_login_that_can_make_no_table(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    now, ahead = utc_now(), month_after(month_after(utc_now()))
    for table in ("cancel_request", "event", "invocation"):
        part = f"ledger.{named(table, ahead)}"
        gone = f"ALTER TABLE ledger.{table} DETACH PARTITION {part}; DROP TABLE {part}"
        await postgres.execute(gone, stores.migration.rpartition("/")[2])
    async with opened_database(stores.router, size=4) as database:
        made = await asyncio.gather(*(Months(database).make() for _ in range(4)))
        assert sorted(made) == [0, 0, 0, 1]
        assert await Months(database).make() == 0
        await Months(database).check()
        async with database.connection() as connection:
            await require_store(connection, "ledger")
            there = [row[0] for row in await connection.fetch(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ledger.event'::regclass ORDER BY 1"
            )]  # fmt: skip
        expected = [month_before(now), now, month_after(now), ahead]
        assert there == [f"ledger.{named('event', month)}" for month in expected]
    connection = await asyncpg.connect(stores.router)
    try:
        for statement in (
            "SELECT ledger.make_month('2020-01-01')",
            f"INSERT INTO ledger.{named('event', now)} SELECT * FROM ledger.event",
            f"SELECT FROM ledger.{named('event', now)}",
            f"ALTER TABLE ledger.event DETACH PARTITION ledger.{named('event', now)}",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()


async def test_every_partition_keeps_its_rows_and_readiness_misses_each_guard(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    now = utc_now()
    async with writing(stores.router) as written:
        await a_call(written, root_at(now))
    connection = await asyncpg.connect(superuser(postgres, stores))
    try:
        for table in PARTITIONED:
            part = f"ledger.{named(table, now)}"
            for attempt in (f"UPDATE {part} SET epoch = 9", f"DELETE FROM {part}", f"TRUNCATE {part} CASCADE"):
                with pytest.raises(asyncpg.RaiseError, match="only grows"):
                    await connection.execute(attempt)
            for trigger in (f"{table}_kept", f"{table}_fenced"):
                await connection.execute(f"ALTER TABLE {part} DISABLE TRIGGER {trigger}")
                with pytest.raises(StoreNotAsExpected, match=f"lacks the trigger {named(table, now)}.{trigger}"):
                    await require_store(connection, "ledger")
                await connection.execute(f"ALTER TABLE {part} ENABLE ALWAYS TRIGGER {trigger}")
        await require_store(connection, "ledger")
        await connection.execute(f"DROP TABLE ledger.{named('cancel_request', now)}, ledger.{named('event', now)}")
    finally:
        await connection.close()
    async with opened_database(stores.router) as database:
        with pytest.raises(StoreNotAsExpected, match="no partition for this month"):
            await Months(database).check()


@pytest.mark.rows("HA-04")
async def test_a_ledger_of_before_is_moved_into_its_months(
    postgres: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, now = await postgres.new_database(), utc_now()
    stores = postgres.platform_urls(name)
    with monkeypatch.context() as former:
        former.setattr(
            migrations, "migrations_of", lambda owner: migrations_of(owner)[: OF_BEFORE if owner == "ledger" else None]
        )
        await migrate(stores.migration)
    long_ago = datetime(2024, 2, 29, 12, tzinfo=UTC)
    async with writing(stores.router) as written:
        contexts = [await a_call(written, root_at(moment)) for moment in (long_ago, now)]
        streaming = await _progress_of_before(written)
    assert [str(one) for one in (await migrate(stores.migration))] == [
        "ledger 0015 months",
        "ledger 0016 new_rows_at_once",
        "ledger 0017 rules_as_functions",
        "ledger 0018 rules_as_functions_validated",
        "ledger 0019 fence_of_one_row",
        "ledger 0020 one_rule_of_a_row",
        "ledger 0021 one_rule_of_a_row_validated",
        "ledger 0022 witnesses",
        "ledger 0023 month_when_needed",
    ]
    connection = await asyncpg.connect(superuser(postgres, stores))
    try:
        await require_store(connection, "ledger")
        assert set(await places(connection, "event")) == {named("event", moment) for moment in (long_ago, now)}
        assert await connection.fetchval("SELECT count(*) FROM ledger.event") == 2 * 3 + 2
        assert await connection.fetchval("SELECT count(*) FROM ledger.cancel_request") == 2
        assert await connection.fetchval("SELECT to_regnamespace('ledger_before')") is None
    finally:
        await connection.close()
    assert await breaches(stores.router) == []
    async with reading(stores.router) as lineage:
        for context in (*contexts, streaming):
            assert await lineage.detail(SPACE, context.lineage.invocation) is not None


async def _progress_of_before(written: Writing) -> InvocationContext:
    """Two reports of progress, of which the second had no root task of its own then."""
    context = a_context(root_task=root_at(utc_now()))
    place = await written.journal.accept(an_acceptance(context))
    first = progress_fact(place, new_hex_id(), utc_now(), Progress(1, 1))
    second = progress_fact(first.as_last(), new_hex_id(), utc_now(), Progress(1, 1))
    connection = await asyncpg.connect(written.url)
    try:
        for fact in (first, second):
            row = list(store._fact_row(fact))
            row[11] = digits(context.lineage.root_task) if fact is first else None
            await connection.execute(store.APPEND_ONE, *row, ROUTER, written.epoch)
    finally:
        await connection.close()
    return context
