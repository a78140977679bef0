"""The Journal with a synchronous standby: what no standby has is not recorded, even if the leader shows it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aop.ledger.model import SUCCEEDED
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceUnknown, AcceptedButLost, Journal
from tests.ledger.writing import an_acceptance, an_end, breaches, digits, new_epoch, writing
from tests.support.stalls import signal_all
from tests.support.standby import Pair, pair_of_nodes
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring

WRITE_SECONDS = 1.0
TERMINALS = "SELECT count(*) FROM ledger.event WHERE invocation_id = '{}' AND type <> 'stream'"
OPENED = "SELECT count(*) FROM ledger.invocation WHERE invocation_id = '{}'"
END_WAITING = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest_asyncio.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    async with pair_of_nodes(tmp_path) as made:
        await new_epoch(made.stores.router)
        await made.require_standby()
        yield made


async def settles(journal: Journal) -> None:
    async def settled() -> bool:
        return journal.unsettled().count == 0

    await becomes_true(settled)


def kill_leader(pair: Pair) -> None:
    """As its machine would die: what it told nobody else is gone."""
    signal_all(signal.SIGKILL, *pair.first.processes())


@pytest.mark.rows("HA-01")
async def test_an_acceptance_that_no_standby_has_is_unknown_and_ends_once_the_standby_is_back(pair: Pair) -> None:
    acceptance = an_acceptance()
    invocation = digits(acceptance.context.lineage.invocation)
    async with writing(pair.stores.router, seconds=WRITE_SECONDS) as written:
        with pair.second.frozen():
            with pytest.raises(AcceptanceUnknown):
                await written.journal.accept(acceptance)
            assert await pair.first.value(OPENED.format(invocation), pair.database) == 1
        await settles(written.journal)
        assert await pair.first.value(TERMINALS.format(invocation), pair.database) == 1
    assert await breaches(pair.stores.router) == []


@pytest.mark.rows("HA-01")
@pytest.mark.parametrize("is_ended", [False, True])
async def test_an_acceptance_that_is_lost_with_its_leader_is_never_told_as_recorded(pair: Pair, is_ended: bool) -> None:
    """Whether the wait ran into its limit, or its backend was ended: the row is visible on the leader either way."""
    acceptance = an_acceptance()
    async with writing(pair.stores.router, seconds=WRITE_SECONDS) as written:
        await pair.cut()
        accepting = asyncio.create_task(written.journal.accept(acceptance))
        if is_ended:
            await becomes_true(lambda: _ended(pair))
        with pytest.raises(AcceptanceUnknown):
            await accepting
        kill_leader(pair)
        await pair.second.promote()
        await settles(written.journal)
        opened = await pair.second.value(OPENED.format(digits(acceptance.context.lineage.invocation)), pair.database)
        assert opened == 0
        await call(written.journal)
    assert await breaches(pair.stores.router) == []


@pytest.mark.rows("HA-01")
async def test_every_terminal_that_was_told_is_on_the_promoted_node(pair: Pair) -> None:
    told: list[str] = []
    async with writing(pair.stores.router, seconds=WRITE_SECONDS) as written:

        async def caller() -> None:
            while len(told) < 200:
                acceptance = an_acceptance()
                try:
                    place = await written.journal.accept(acceptance)
                except AcceptedButLost as lost:
                    await written.journal.end_unstarted(lost.last_fact)
                except (AcceptanceFailed, AcceptanceUnknown):
                    await asyncio.sleep(0.05)
                else:
                    if await written.journal.end(an_end(place, SUCCEEDED)):
                        told.append(digits(acceptance.context.lineage.invocation))

        async with asyncio.TaskGroup() as callers:
            for _ in range(8):
                callers.create_task(caller())
            await becomes_true(lambda: _reached(told, 100))
            kill_leader(pair)
            await pair.second.promote()
        await settles(written.journal)
        for invocation in told:
            assert await pair.second.value(TERMINALS.format(invocation), pair.database) == 1
    assert await breaches(pair.stores.router) == []


async def call(journal: Journal) -> None:
    assert await journal.end(an_end(await journal.accept(an_acceptance()), SUCCEEDED))


async def _reached(recorded: list[str], count: int) -> bool:
    return len(recorded) >= count


async def _ended(pair: Pair) -> bool:
    return bool(await pair.first.value(END_WAITING))
