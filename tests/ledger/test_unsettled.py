"""What the store has not taken yet: kept, counted, reported, limited, and never forgotten."""

import asyncio
from functools import partial

import pytest
from msgspec.structs import replace

from aop.base.clock import utc_now
from aop.base.loops import Loops
from aop.ledger.model import LOST, SUCCEEDED, TIMED_OUT, Opening, Writer
from aop.ledger.write.epochs import close_earlier, open_epoch
from aop.ledger.write.group_commit import MAX_IN_BATCH
from aop.ledger.write.journal import MAX_UNSETTLED_SECONDS, AcceptanceFailed, AcceptanceUnknown, Journal, LedgerBehind
from aop.ledger.write.open_invocations import MAX_UNCONFIRMED
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger.simulated.connection import connect as connect_simulated
from tests.ledger.simulated.loop import History, SimulatedLoop
from tests.ledger.simulated.store import Store, StorePlan
from tests.ledger.writing import ROUTER, an_acceptance, an_end, breaches, new_epoch, writing
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring

AWAY_SECONDS = 60.0


class Preparing:
    """A connection whose preparation ends as somebody says."""

    def __init__(self, failure: Exception | None) -> None:
        self.closed = False
        self._failure = failure

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    async def execute(self, *_: object) -> None:
        await asyncio.sleep(0 if self._failure else 3600)
        if self._failure:
            raise self._failure


@pytest.mark.rows("SAFE-08")
@pytest.mark.parametrize("failure", [None, OSError("reset"), ValueError("anything else")], ids=str)
def test_a_connection_that_could_not_be_prepared_is_closed(loop: SimulatedLoop, failure: Exception | None) -> None:
    opened: list[Preparing] = []

    async def connects() -> Connection:
        await asyncio.sleep(0)
        opened.append(Preparing(failure))
        return opened[-1]

    async def left() -> list[Preparing]:
        journal = Journal(Writer(ROUTER, 1), connects, utc_now, write_seconds=0.05, fenced=lambda: None)
        journal.start(Loops(lambda _: lambda _: None))
        for _ in range(10):
            await journal.request_cancel("0" * 32)
        unused = [one for one in opened if not one.closed]
        last = asyncio.create_task(journal.request_cancel("0" * 32))
        await asyncio.sleep(0.01)
        await journal.close()
        last.cancel()
        return unused

    assert loop.run_until_complete(left()) == []
    assert len(opened) > 10
    assert all(one.closed for one in opened)


def simulated_journal(store: Store, reported: list[int]) -> Journal:
    return Journal(
        Writer(ROUTER, 1),
        partial(connect_simulated, store),
        utc_now,
        write_seconds=store.plan.write_seconds,
        fenced=lambda: None,
        unsettled=reported.append,
    )


@pytest.mark.rows("SAFE-08")
def test_what_waits_for_the_store_too_long_makes_the_router_unready_until_it_is_settled(loop: SimulatedLoop) -> None:
    reported: list[int] = []

    async def lives() -> None:
        plan = StorePlan(stalled_from=0.1, stalled_until=AWAY_SECONDS)
        store = Store(plan, 1, History(loop))
        await open_epoch(await connect_simulated(store), ROUTER)
        journal = simulated_journal(store, reported)
        journal.start(Loops(lambda _: lambda _: None))
        place = await journal.accept(an_acceptance())
        await asyncio.sleep(0.1)
        assert await journal.end(an_end(place, SUCCEEDED)) is False
        with pytest.raises(AcceptanceUnknown):
            await journal.accept(an_acceptance())
        begun = loop.time()
        unsettled = journal.unsettled()
        assert (unsettled.deferred, unsettled.unconfirmed) == (1, 1)
        await asyncio.sleep(MAX_UNSETTLED_SECONDS - 5)
        await journal.require_settled()
        assert reported == [1]
        await asyncio.sleep(10)
        with pytest.raises(LedgerBehind, match=r"2 Invocations, for 3[0-9] s"):
            await journal.require_settled()
        await asyncio.sleep(begun + AWAY_SECONDS - loop.time())
        await journal.require_settled()
        assert journal.unsettled().seconds == 0
        assert (reported, journal.settled_before) == ([1, 0], 3)
        assert [store.tables.terminal(key) is not None for key in store.tables.invocations] == [True, True]
        await journal.close()

    loop.run_until_complete(lives())


@pytest.mark.rows("SAFE-08")
def test_a_call_that_ended_at_its_acceptance_counts_while_nobody_knows_whether_it_was_written(
    loop: SimulatedLoop,
) -> None:
    reported: list[int] = []

    async def play() -> None:
        store = Store(StorePlan(stalled_from=0.1, stalled_until=AWAY_SECONDS), 1, History(loop))
        await open_epoch(await connect_simulated(store), ROUTER)
        journal = simulated_journal(store, reported)
        journal.start(Loops(lambda _: lambda _: None))
        await asyncio.sleep(0.1)
        with pytest.raises(AcceptanceUnknown):
            await journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT)
        assert journal.unsettled().unconfirmed == 1
        await asyncio.sleep(MAX_UNSETTLED_SECONDS + 1)
        assert reported == [1]
        with pytest.raises(LedgerBehind, match=r"1 Invocations, for 3[0-9] s"):
            await journal.require_settled()
        await asyncio.sleep(AWAY_SECONDS)
        await journal.require_settled()
        assert (journal.unsettled().count, reported) == (0, [1, 0])
        await journal.close()

    loop.run_until_complete(play())


@pytest.mark.rows("SAFE-08")
def test_with_too_many_unconfirmed_nothing_more_is_sent_and_none_is_forgotten(loop: SimulatedLoop) -> None:
    async def lives() -> None:
        store = Store(StorePlan(stalled_until=AWAY_SECONDS), 1, History(loop))
        await open_epoch(await connect_simulated(store), ROUTER)
        journal = simulated_journal(store, [])
        journal.start(Loops(lambda _: lambda _: None))
        while journal.unsettled().unconfirmed < MAX_UNCONFIRMED:
            # Each batch stalls a backend of its own, and the next one is not late.
            calls = [journal.accept(an_acceptance()) for _ in range(MAX_IN_BATCH)]
            ends = {type(end) for end in await asyncio.gather(*calls, return_exceptions=True)}
            assert ends <= {AcceptanceUnknown, AcceptanceFailed}
        full, backends, at = journal.unsettled().unconfirmed, len(store.backends), loop.time()
        with pytest.raises(AcceptanceFailed):
            await journal.accept(an_acceptance())
        assert (len(store.backends), loop.time()) == (backends, at), "nothing was sent, and nobody waited"
        assert full < MAX_UNCONFIRMED + MAX_IN_BATCH
        assert journal.settled_before == 1
        await asyncio.sleep(2 * AWAY_SECONDS - loop.time())
        assert journal.unsettled().count == 0
        assert len(store.tables.invocations) == full
        assert all(store.tables.terminal(key) is not None for key in store.tables.invocations)
        assert await journal.accept(an_acceptance())
        await journal.close()

    loop.max_steps = 10_000_000
    loop.run_until_complete(lives())


async def test_a_terminal_the_store_denies_leaves_its_position_open_for_the_next_epoch(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        journal = written.journal
        place = await journal.accept(an_acceptance())
        innocent = await journal.accept(an_acceptance())
        assert await journal.end(an_end(replace(place, sequence=place.sequence + 3), SUCCEEDED)) is False

        async def denied() -> bool:
            return journal.unsettled().left == 1

        await becomes_true(denied)
        assert journal.unsettled().count == 0
        assert await journal.end(an_end(innocent, SUCCEEDED))
        assert journal.settled_before == 1
    epoch = await new_epoch(stores.router)
    connection = await connect(stores.router, application="test")
    assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended == 1
    await connection.close()
    assert await written.terminals(place.context.lineage.invocation) == [(LOST.type, LOST.error)]
    assert await breaches(stores.router) == []


def test_no_checkpoint_passes_a_call_that_ends_at_its_acceptance_while_its_write_may_still_come(
    loop: SimulatedLoop,
) -> None:
    """With a store that answers nobody: what it committed meanwhile is found there later."""

    async def play() -> None:
        store = Store(StorePlan(stalled_from=0.1, stalled_until=AWAY_SECONDS), 1, History(loop))
        await open_epoch(await connect_simulated(store), ROUTER)
        journal = simulated_journal(store, [])
        journal.start(Loops(lambda _: lambda _: None))
        await journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT)
        assert journal.settled_before == 2
        await asyncio.sleep(0.1)
        ending = asyncio.create_task(journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT))
        await asyncio.sleep(1)
        assert journal.settled_before == 2  # it is being written
        with pytest.raises(AcceptanceUnknown):
            await ending
        assert journal.settled_before == 2  # nobody knows
        await asyncio.sleep(AWAY_SECONDS)
        assert journal.settled_before == 3
        await journal.close()

    loop.run_until_complete(play())
