"""The store fails around a write of the Ledger: what was acknowledged is there, what was accepted ends exactly once."""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aop.base.clock import utc_now
from aop.ledger.model import LOST, SUCCEEDED, Acceptance, LastFact
from aop.ledger.write.epochs import close_earlier
from aop.ledger.write.group_commit import EpochFenced
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceUnknown, AcceptedButLost, Journal
from aop.local.postgres import EmbeddedPostgres
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from aop.store.migrations import migrate
from proof.fault_proxy import Direction, FaultProxy, store_proxy
from tests.ledger.writing import ROUTER, Writing, an_acceptance, an_end, breaches, digits, new_epoch, writing
from tests.support.waiting import becomes_true, generous, patience

WORKERS = 8
EVERY = 10
"""A usual run cuts behind one byte of so many; a thorough one behind each."""


def way_through(proxy: FaultProxy, url: str) -> Any:
    async def connected() -> Connection:
        return await connect(proxy.through(url), application="test journal")

    return connected


async def accepted(journal: Journal, acceptance: Acceptance) -> tuple[str, LastFact | None]:
    """What the Router is told, and what it then does about it."""
    try:
        return "accepted", await journal.accept(acceptance)
    except AcceptedButLost as found:
        await journal.end_unstarted(found.last_fact)
        return "lost", found.last_fact
    except AcceptanceFailed:
        return "failed", None
    except AcceptanceUnknown:
        return "unknown", None


async def on_a_new_connection(proxy: FaultProxy, journal: Journal) -> None:
    """Or a statement that is prepared already would make the next write shorter than the cut."""
    proxy.reset()
    async with patience():
        while (await accepted(journal, an_acceptance()))[0] != "accepted":
            pass


async def require_agreement(reader: Connection, acceptance: Acceptance, outcome: str) -> None:
    """The store holds what was told: an Invocation, an Invocation that failed at once, or nothing."""
    rows = await reader.fetch(
        "SELECT type, error_code FROM ledger.invocation LEFT JOIN ledger.event USING (invocation_id)"
        " WHERE invocation_id = $1",
        digits(acceptance.context.lineage.invocation),
    )
    expected = {"accepted": [(None, None)], "lost": [(LOST.type, LOST.error)], "failed": []}
    assert [tuple(row) for row in rows] == expected[outcome]


@pytest.mark.rows("OPS-15")
@pytest.mark.long
async def test_the_first_write_cut_at_any_byte_leaves_nothing_or_one_terminal(
    stores: DatabaseUrls, thorough: bool
) -> None:
    first, step = (0, 1) if thorough else (random.randrange(EVERY), EVERY)
    sys.stdout.write(f"every {step}th byte from {first} on\n")
    tellings: dict[str, set[str]] = {"up": set(), "down": set()}

    async def cut_at(
        proxy: FaultProxy, written: Writing, reader: Connection, direction: Direction, behind: int
    ) -> None:
        await on_a_new_connection(proxy, written.journal)
        acceptance = an_acceptance()
        proxy.cut(direction, behind)
        outcome, _ = await accepted(written.journal, acceptance)
        proxy.disarm()
        await proxy.cut_done()
        await require_agreement(reader, acceptance, outcome)
        tellings[direction].add(outcome)

    async def worker(number: int) -> None:
        async with (
            store_proxy(stores.router) as proxy,
            writing(
                stores.router, connect_by=way_through(proxy, stores.router), router_id=f"router-{number}"
            ) as written,
        ):
            reader = await connect(stores.router, application="test")
            await written.journal.accept(an_acceptance())
            up, down = proxy.up, proxy.down
            await written.journal.accept(an_acceptance())
            up, down = proxy.up - up, proxy.down - down
            # The names of prepared statements are counted for the whole process, so a request becomes longer on the
            # way. One worker cuts around its end, byte behind byte: then it meets the end wherever that has gone.
            ways: dict[Direction, int] = {"up": up + 7, "down": down + 7}
            whole = [(way, byte) for way, most in ways.items() for byte in range(1, most + 1)]
            ends = [[(way, byte) for byte in range(most - 17, most + 1)] for way, most in ways.items()]
            for direction, behind in [*whole[first::step][number::WORKERS], *(ends[number] if number < 2 else [])]:
                await cut_at(proxy, written, reader, direction, behind)
            await reader.close()

    await asyncio.gather(*(worker(number) for number in range(WORKERS)))
    # Each way it can go was met: nothing recorded, recorded but learned too late, recorded and answered.
    assert tellings["up"] >= {"failed", "lost"}
    assert tellings["down"] >= {"lost", "accepted"}


@pytest.mark.rows("OPS-15")
async def test_an_acceptance_nobody_can_decide_is_answered_without_ids_and_ends_when_the_store_is_back(
    stores: DatabaseUrls,
) -> None:
    async with (
        store_proxy(stores.router) as proxy,
        writing(stores.router, connect_by=way_through(proxy, stores.router), seconds=generous(0.4)) as written,
    ):
        await written.journal.accept(an_acceptance())
        place = await written.journal.accept(an_acceptance())
        up = proxy.up
        await written.journal.accept(an_acceptance())
        whole = proxy.up - up
        acceptance = an_acceptance()
        proxy.cut("up", whole)
        proxy.is_open = False
        outcome, _ = await accepted(written.journal, acceptance)
        assert (outcome, written.journal.unsettled().count) == ("unknown", 1)
        proxy.open()

        async def paid() -> bool:
            return written.journal.unsettled().count == 0

        await becomes_true(paid)
        invocation = acceptance.context.lineage.invocation
        found = await written.rows("SELECT FROM ledger.invocation WHERE invocation_id = $1", digits(invocation))
        assert await written.terminals(invocation) == [(LOST.type, LOST.error)] * len(found)
        assert await written.journal.end(an_end(place, SUCCEEDED))


async def _load(journal: Journal, acknowledged: dict[str, bool], until: asyncio.Event) -> None:
    """Accepts and ends until told to stop, and keeps what was acknowledged: accepted, and whether ended too."""
    while not until.is_set():
        acceptance = an_acceptance()
        outcome, place = await accepted(journal, acceptance)
        if outcome == "failed" or place is None:
            await asyncio.sleep(0.01)
            continue
        acknowledged[acceptance.context.lineage.invocation] = outcome == "accepted" and await journal.end(
            an_end(place, SUCCEEDED)
        )


async def _more_than(count: int, acknowledged: dict[str, bool]) -> None:
    async def there_are() -> bool:
        return len(acknowledged) > count

    await becomes_true(there_are)


@pytest.mark.second_ring
async def test_killing_the_store_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    home, log = tmp_path / "postgres", tmp_path / "postgres.log"
    acknowledged: dict[str, bool] = {}
    servers: list[EmbeddedPostgres] = []

    def url() -> str:
        return servers[-1].url(database="postgres")

    async def connected() -> Connection:
        return await connect(url(), application="test journal")

    async with EmbeddedPostgres(home, log) as first:
        servers.append(first)
        await migrate(url())
        async with writing(url(), connect_by=connected, seconds=2) as written:
            over = asyncio.Event()
            load = [asyncio.create_task(_load(written.journal, acknowledged, over)) for _ in range(32)]
            await _more_than(20, acknowledged)
            before = len(acknowledged)
            os.kill(first.pid, signal.SIGKILL)
            async with EmbeddedPostgres(home, log) as second:
                servers.append(second)
                await _more_than(before + 100, acknowledged)
                over.set()
                await asyncio.gather(*load)

                async def paid() -> bool:
                    return written.journal.unsettled().count == 0

                await becomes_true(paid)
                written.url = url()
                rows = await written.rows(
                    "SELECT invocation_id, count(type) AS terminals FROM ledger.invocation"
                    " LEFT JOIN ledger.event USING (invocation_id) GROUP BY 1"
                )
                found = {f"inv_{row['invocation_id'].hex}": row["terminals"] for row in rows}
                assert set(acknowledged) <= set(found)
                assert set(found.values()) == {1}
                assert await breaches(url()) == []


@pytest.mark.second_ring
async def test_what_a_cut_off_writer_left_open_is_ended_by_the_next_epoch(stores: DatabaseUrls) -> None:
    async with (
        store_proxy(stores.router) as proxy,
        writing(stores.router, connect_by=way_through(proxy, stores.router), seconds=generous(0.3)) as written,
    ):
        place = await written.journal.accept(an_acceptance())
        proxy.close()
        assert await written.journal.end(an_end(place, SUCCEEDED)) is False
        epoch = await new_epoch(stores.router)
        connection = await connect(stores.router, application="test")
        assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended == 1
        await connection.close()
        proxy.open()
        with pytest.raises(EpochFenced):
            await _answered(written)
        assert await written.terminals(place.context.lineage.invocation) == [(LOST.type, LOST.error)]


async def _answered(written: Writing) -> LastFact:
    """An acceptance that the store judges: on a busy machine a question may pass its time limit."""
    while True:
        with suppress(AcceptanceUnknown, AcceptanceFailed):
            return await written.journal.accept(an_acceptance())
