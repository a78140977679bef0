"""One sequence: numbers without a gap, in an order every reader can rely on, whoever gives them and whoever dies."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id
from aop.base.loops import Loops
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, Opening, Progress, Writer, progress_fact
from aop.ledger.sequence import sequencer as sequencing
from aop.ledger.sequence import store
from aop.ledger.sequence.sequencer import Sequencer
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger.writing import ROUTER, Writing, a_context, an_acceptance, an_end, breaches, digits, new_epoch, writing
from tests.support.waiting import becomes_true

ORDER = """
SELECT number.number, number.events, number.invocation_id, number.sequence, parent.number AS parent,
       before.number AS before
  FROM ledger.number JOIN ledger.invocation USING (invocation_id)
  LEFT JOIN ledger.number AS parent
    ON number.sequence = 0 AND parent.invocation_id = invocation.parent_invocation_id AND parent.sequence = 0
  LEFT JOIN ledger.number AS before
    ON before.invocation_id = number.invocation_id AND before.sequence + before.events = number.sequence
 ORDER BY number.number
"""
UNNUMBERED = """
SELECT (SELECT count(*) FROM ledger.invocation) + (SELECT count(*) FROM ledger.event)
     - (SELECT count(*) FROM ledger.number) AS rows
"""


@asynccontextmanager
async def sequencer(url: str, router_id: str = ROUTER, epoch: int | None = None) -> AsyncIterator[Sequencer]:
    """One that runs, in an epoch of its own or a given one."""

    async def connected() -> Connection:
        return await connect(url, application="test sequencer")

    writer = Writer(router_id, await new_epoch(url, router_id) if epoch is None else epoch)
    made, loops, faults = Sequencer(connected, writer, pause_seconds=0.02), Loops(lambda _: faults.append), list[Any]()
    loops.start("sequencer", made.turn)
    try:
        yield made
    finally:
        await loops.close()
    assert faults == []


async def rows(url: str, query: str) -> Sequence[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(query))
    finally:
        await connection.close()


async def all_numbered(url: str) -> None:
    async def none_is_left() -> bool:
        return bool((await rows(url, UNNUMBERED))[0]["rows"] == 0)

    await becomes_true(none_is_left)


async def require_order(url: str) -> int:
    """How many numbers there are."""
    past = 0
    for row in await rows(url, ORDER):
        assert row["number"] == past
        assert row["sequence"] == 0 or row["before"] < row["number"]
        assert row["parent"] is None or row["parent"] < row["number"]
        past += row["events"]
    assert await breaches(url) == []
    return past


async def some_calls(written: Writing, count: int = 20) -> None:
    """Roots, children of the same microsecond, streams, calls that ended at acceptance, and calls that run."""
    journal, at = written.journal, utc_now()
    for number in range(count):
        parent = await journal.accept(an_acceptance(at=at - timedelta(seconds=number)))
        child = an_acceptance(a_context(parent.context), at=parent.created_at)
        place = await journal.accept(child)
        fact = progress_fact(place, new_hex_id(), utc_now(), Progress(1, 10))
        assert await journal.progress(fact)
        if number % 4:
            await journal.end(an_end(fact.as_last(), (SUCCEEDED, LOST, CANCELED)[number % 3]))
            await journal.end(an_end(parent, SUCCEEDED))
    await journal.accept_ended(an_acceptance(opening=Opening.CREATED), TIMED_OUT)


@pytest.mark.rows("FIND-03")
async def test_numbers_have_no_gap_and_follow_sequences_and_parents(stores: DatabaseUrls) -> None:
    """Of an old Ledger without numbers, of several Routers, and of what is written meanwhile."""
    url = stores.router
    async with writing(url) as earlier:
        await some_calls(earlier)
    async with writing(url, router_id="router-2") as beside, writing(url) as written:
        await some_calls(beside)
        async with sequencer(url, ROUTER, written.epoch):
            await some_calls(written)
            await some_calls(beside)
            await all_numbered(url)
    assert await require_order(url) == sum(20 * (3 + 3 + 1) + 15 * 2 + 2 for _ in range(4))
    settled = await rows(url, "SELECT past, settled FROM ledger.numbering ORDER BY first DESC LIMIT 1")
    assert settled[0]["settled"] < settled[0]["past"]  # calls run


async def test_one_router_numbers_at_a_time_and_another_takes_over_after_its_death(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencing, "TAKE_OVER_SECONDS", 0.05)
    url = stores.router
    async with writing(url) as written, sequencer(url, "first") as first, sequencer(url, "second") as second:
        await some_calls(written, 3)
        await all_numbered(url)
        assert first.is_holder is not second.is_holder
        holder, other = (first, second) if first.is_holder else (second, first)
        await asyncio.sleep(0.2)
        assert not other.is_holder
        assert holder.lag_seconds < 60
        killed = set[int]()
        for _ in range(3):
            await some_calls(written, 3)
            await kill_holder(url, killed)
            await all_numbered(url)
    assert len(killed) == 3
    await require_order(url)


async def kill_holder(url: str, killed: set[int]) -> None:
    """Of the lock, once it is another than those killed before: a backend goes on for a moment, and nobody has it."""
    found = (
        "SELECT pid, pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database"
        f" WHERE locktype = 'advisory' AND objid = {store._LOCK % 2**32} AND datname = current_database()"
    )

    async def has_killed_another() -> bool:
        holders = {row["pid"] for row in await rows(url, found)} - killed
        killed.update(holders)
        return bool(holders)

    await becomes_true(has_killed_another)


async def test_a_write_that_commits_late_gets_a_later_number(stores: DatabaseUrls) -> None:
    url = stores.router
    async with writing(url) as written:
        await some_calls(written, 2)
        last = await written.journal.accept(an_acceptance())
        blocker = await asyncpg.connect(url)
        try:
            async with sequencer(url, "router-2"):
                await all_numbered(url)
                late = blocker.transaction()
                await late.start()
                ahead = 3
                await blocker.execute(
                    "INSERT INTO ledger.invocation SELECT ($1)::uuid, root_task_id, trace_id, NULL, NULL, NULL, 'user',"
                    " 'alice', workspace_id, target_agent_id, agent_card_version, agent_release_id, agent_card_digest,"
                    " capability, router_id, epoch, position + $2, opening, opening_event_id, created_at, deadline_at"
                    " FROM ledger.invocation WHERE invocation_id = $3",
                    new_hex_id(),
                    1,
                    digits(last.context.lineage.invocation),
                )
                for _ in range(ahead):
                    written.journal._open._next_position += 1  # the positions of calls that were refused
                await written.journal.accept(an_acceptance())
                await all_numbered(url)  # that can be seen
                marks = await rows(
                    url, f"SELECT max(position) AS p FROM ledger.numbered_position WHERE router_id = '{ROUTER}'"
                )
                assert marks[0]["p"] == last_position(written) - ahead
                await late.commit()
                await all_numbered(url)
        finally:
            await blocker.close()
    await require_order(url)


def last_position(written: Writing) -> int:
    return written.journal._open._next_position - 1


async def test_numbers_are_only_added_and_only_in_whole_batches(stores: DatabaseUrls) -> None:
    url = stores.router
    async with writing(url) as written, sequencer(url, "router-2"):
        await some_calls(written, 2)
        await all_numbered(url)
    connection = await asyncpg.connect(url)
    past = await connection.fetchval("SELECT max(past) FROM ledger.numbering")
    tables = ("numbering", "number", "numbered_position", "figure_key", "figure_tile", "figure")
    number = "INSERT INTO ledger.number SELECT {0}, gen_random_uuid(), 0, {1}, false, 'space'"
    batch = "INSERT INTO ledger.numbering (first, past, settled, router_id, epoch) VALUES ({0}, {1}, 0, '{2}', {3})"
    tile = "INSERT INTO ledger.figure_tile (edition, level, tile) VALUES (1, {0}, {1})"
    try:
        for table in tables:
            for statement in ("DELETE FROM", "TRUNCATE"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.execute(f"{statement} ledger.{table}")
        for statement in (
            number.format(past, 3),  # without a batch
            number.format(0, 3),
            batch.format(past + 1, past + 2, "router-2", 1),  # a gap
            batch.format(0, 3, "router-2", 1),
            batch.format(past, past + 3, "router-2", 7),  # another epoch
            f"{batch.format(past, past + 3, 'router-2', 1)}; {number.format(past, 2)}",
            f"{batch.format(past, past + 3, 'router-2', 1)}; {number.format(past, 1)} UNION ALL"
            f" SELECT {past + 2}, gen_random_uuid(), 0, 1, false, 'space'",
            tile.format(0, 1),  # behind none
            tile.format(1, 0),  # of tiles that are not there
        ):
            with pytest.raises(asyncpg.PostgresError):
                await connection.execute(statement)
        await written_position_is_refused(connection, stores)
    finally:
        await connection.close()


async def written_position_is_refused(connection: Any, stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        await written.journal.accept(an_acceptance())
        with pytest.raises(asyncpg.RaiseError, match="has no number"):
            await connection.execute("INSERT INTO ledger.numbered_position VALUES ($1, $2, 2)", ROUTER, written.epoch)
