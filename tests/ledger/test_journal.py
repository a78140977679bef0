"""Writing to the Ledger: group commit, refusals told one by one, races, the fence, and closing an epoch."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id, new_id
from aop.contracts.identity import Caller, CallerType
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, Opening, Progress, progress_fact
from aop.ledger.write import store
from aop.ledger.write.epochs import MAX_CLOSED_AT_ONCE, close_earlier
from aop.ledger.write.group_commit import FENCED, EpochFenced
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceRefused
from aop.ledger.write.store import settle
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.ledger.writing import (
    ROUTER,
    Writing,
    a_context,
    an_acceptance,
    an_end,
    breaches,
    new_epoch,
    reading,
    writing,
)
from tests.support.waiting import generous, patience

MANY_BATCHES = 5 * MAX_CLOSED_AT_ONCE // 2


async def transactions(written: Writing, table: str = "invocation") -> int:
    return int((await written.rows(f"SELECT count(DISTINCT xmin::text) AS n FROM ledger.{table}"))[0]["n"])


async def test_a_lone_call_is_written_at_once(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        await written.journal.accept(an_acceptance())
        begun = asyncio.get_running_loop().time()
        for _ in range(5):
            await written.journal.accept(an_acceptance())
        assert asyncio.get_running_loop().time() - begun < generous(0.5)
        assert await transactions(written) == 6


async def test_what_waits_while_a_write_runs_becomes_one_write(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        places = await asyncio.gather(*(written.journal.accept(an_acceptance()) for _ in range(300)))
        assert len({place.context.lineage.invocation for place in places}) == 300
        assert await transactions(written) <= 5
        ended = await asyncio.gather(*(written.journal.end(an_end(place, SUCCEEDED)) for place in places))
        assert all(ended)
        assert await transactions(written, "event") <= 5
        assert written.journal.settled_before == 301
    assert await breaches(stores.router) == []


async def test_of_a_write_that_fails_only_the_guilty_entry_fails(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        parent = a_context()
        await written.journal.accept(an_acceptance(parent))
        guilty = [
            an_acceptance(a_context(parent, trace=new_hex_id())),
            an_acceptance(a_context(capability="\ud800")),
            an_acceptance(a_context(capability="x" * 129)),
            an_acceptance(a_context(card_digest=b"short".hex())),
        ]
        innocent = [an_acceptance() for _ in range(20)]
        mixed = [*innocent[:10], *guilty, *innocent[10:]]
        ends = await asyncio.gather(*(written.journal.accept(item) for item in mixed), return_exceptions=True)
        told = dict(zip((item.context.lineage.invocation for item in mixed), ends, strict=True))
        assert {type(told[item.context.lineage.invocation]) for item in guilty} == {AcceptanceFailed}
        assert all(not isinstance(told[item.context.lineage.invocation], Exception) for item in innocent)
        assert (await written.rows("SELECT count(*) AS n FROM ledger.invocation"))[0]["n"] == 21
        await written.journal.accept(an_acceptance())


async def test_refusals_within_one_write_are_told_one_by_one(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        ended, taken = a_context(), a_context()
        await written.journal.end(an_end(await written.journal.accept(an_acceptance(ended)), SUCCEEDED))
        await written.journal.accept(an_acceptance(taken))
        items = [
            an_acceptance(),
            an_acceptance(taken),
            an_acceptance(a_context(ended)),
            an_acceptance(a_context(taken)),
            an_acceptance(a_context(taken, parent=new_id("inv"))),
            an_acceptance(a_context(taken, caller=Caller(type=CallerType.AGENT, id="another:agent"))),
        ]
        twice = an_acceptance()
        waits = [written.journal.accept(item) for item in [*items, twice, an_acceptance(twice.context)]]
        ends = await asyncio.gather(*waits, return_exceptions=True)
        refused = [isinstance(end, AcceptanceRefused) for end in ends]
        assert refused[:6] == [False, True, True, False, True, True]
        assert sorted(refused[6:]) == [False, True]


@pytest.mark.rows("LED-04")
async def test_of_racing_terminals_exactly_one_commits_and_the_other_is_not_told_as_recorded(
    stores: DatabaseUrls,
) -> None:
    async with writing(stores.router) as one, writing(stores.router, router_id="router-2") as other:
        for terminal in (CANCELED, TIMED_OUT, LOST):
            place = await one.journal.accept(an_acceptance())
            ends = await asyncio.gather(
                one.journal.end(an_end(place, SUCCEEDED)), other.journal.end(an_end(place, terminal))
            )
            assert sorted(ends) == [False, True]
            expected = SUCCEEDED if ends[0] else terminal
            assert await one.terminals(place.context.lineage.invocation) == [(expected.type, expected.error)]
            assert await one.journal.end(an_end(place, CANCELED)) is False
            assert len(await one.terminals(place.context.lineage.invocation)) == 1


@pytest.mark.rows("LED-07")
async def test_what_is_over_at_its_acceptance_has_both_facts_or_none(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        past, refused = an_acceptance(opening=Opening.CREATED), an_acceptance(opening=Opening.ROUTING)
        await asyncio.gather(written.journal.accept_ended(past, TIMED_OUT), written.journal.accept_ended(refused, LOST))
        for acceptance, expected in ((past, ["created", "timed_out"]), (refused, ["created", "routing", "failed"])):
            found = await lineage.detail("space", acceptance.context.lineage.invocation)
            assert found is not None
            assert [event.type for event in found.events] == expected
        with pytest.raises(AcceptanceRefused):
            await written.journal.accept_ended(past, TIMED_OUT)
        impossible = an_acceptance(opening=Opening.CREATED)
        with pytest.raises(AcceptanceFailed):
            await written.journal.accept_ended(impossible, LOST)
        assert await lineage.detail("space", impossible.context.lineage.invocation) is None


@pytest.mark.rows("LED-14")
async def test_a_writer_of_an_older_epoch_adds_nothing_and_learns_why(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as old:
        place = await old.journal.accept(an_acceptance())
        await new_epoch(stores.router)
        attempts = [
            old.journal.accept(an_acceptance()),
            old.journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT),
            old.journal.end(an_end(place, SUCCEEDED)),
            old.journal.progress(progress_fact(place, new_hex_id(), utc_now(), Progress(1, 1))),
        ]
        ends = await asyncio.gather(*attempts, return_exceptions=True)
        assert [type(end) for end in ends] == [EpochFenced] * 4
        await old.journal.request_cancel(place.context.lineage.invocation)
        assert old.fenced
        counts = [await old.rows(f"TABLE ledger.{table}") for table in ("invocation", "event", "cancel_request")]
        assert [len(rows) for rows in counts] == [1, 0, 0]


async def test_a_fenced_writer_learns_so_also_where_its_lone_fact_is_there_already(stores: DatabaseUrls) -> None:
    """Without a row to judge the fence of the table is silent, and "refused" would hide why."""
    async with writing(stores.router) as older:
        acceptance = an_acceptance()
        place = await older.journal.accept(acceptance)
        end = an_end(place, SUCCEEDED)
        connection = await connect(stores.router, application="test")
        assert await store.append(connection, ROUTER, older.epoch, [end]) == {end.key}
        await new_epoch(stores.router)
        with pytest.raises(asyncpg.PostgresError) as fenced:
            await store.append(connection, ROUTER, older.epoch, [end])
        assert fenced.value.sqlstate == FENCED
        with pytest.raises(asyncpg.PostgresError) as fenced:
            await store.accept(connection, ROUTER, older.epoch, [(1, acceptance, None)])
        assert fenced.value.sqlstate == FENCED
        await connection.close()


@pytest.mark.rows("LED-14")
async def test_closing_ends_each_open_invocation_once_and_only_behind_the_last_checkpoint(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        journal = written.journal
        done = await journal.accept(an_acceptance())
        await journal.end(an_end(done, SUCCEEDED))
        left, kept, streaming = [await journal.accept(an_acceptance()) for _ in range(3)]
        await journal.request_cancel(left.context.lineage.invocation)
        assert await journal.progress(progress_fact(streaming, new_hex_id(), utc_now(), Progress(2, 20)))
        assert journal.settled_before == 2
        connection = await connect(stores.router, application="test")
        await settle(connection, ROUTER, written.epoch, journal.settled_before)
        epoch = await new_epoch(stores.router)
        closing = await close_earlier(connection, ROUTER, epoch, utc_now)
        assert (closing.epochs, closing.ended) == ([written.epoch], 3)
        again = await close_earlier(connection, ROUTER, await new_epoch(stores.router), utc_now)
        assert (again.epochs, again.ended) == ([epoch], 0)
        await connection.close()
        for place, expected in ((left, CANCELED), (kept, LOST), (streaming, LOST), (done, SUCCEEDED)):
            found = await lineage.detail("space", place.context.lineage.invocation)
            assert found is not None
            assert found.invocation.status.value == expected.type.value
            assert len(await written.terminals(place.context.lineage.invocation)) == 1
    assert await breaches(stores.router) == []


@pytest.mark.rows("LED-14")
@pytest.mark.parametrize("size", [MAX_CLOSED_AT_ONCE - 1, MAX_CLOSED_AT_ONCE, MAX_CLOSED_AT_ONCE + 1, MANY_BATCHES])
async def test_closing_ends_however_many_are_open(stores: DatabaseUrls, size: int) -> None:
    async with writing(stores.router) as written:
        await asyncio.gather(*(written.journal.accept(an_acceptance()) for _ in range(size)))
    epoch = await new_epoch(stores.router)
    connection = await connect(stores.router, application="test")
    assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended == size
    await connection.close()
    ends = await written.rows("SELECT count(*) AS n, count(DISTINCT invocation_id) AS ended FROM ledger.event")
    assert tuple(ends[0]) == (size, size)


async def test_a_frozen_writer_holds_up_its_successor_only_for_as_long_as_a_write_may_take(
    stores: DatabaseUrls,
) -> None:
    epoch = await new_epoch(stores.router)
    frozen = await connect(stores.router, application="test")
    await store.prepare_writer(frozen, 0.3)
    transaction = frozen.transaction()
    await transaction.start()
    await store.require_epoch(frozen, ROUTER, epoch)
    async with patience():
        assert await new_epoch(stores.router) == epoch + 1
    frozen.terminate()


async def test_a_childs_time_is_never_before_its_parents_start_whatever_its_clock_says(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        parent = a_context()
        started = await written.journal.accept(an_acceptance(parent))
        late = an_acceptance(a_context(parent), at=utc_now() - timedelta(hours=1))
        place = await written.journal.accept(late)
        assert place.created_at == started.created_at
        assert await written.journal.end(an_end(place, SUCCEEDED))
    assert await breaches(stores.router) == []
