"""`aop ledger check` of spans of one, two and many Invocations: every kind of change is found, and named."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aop.base.clock import to_text, utc_now
from aop.base.ids import new_hex_id
from aop.ledger.check import ledger_check
from aop.ledger.check.comparison import HistoryChanged, compared
from aop.ledger.check.span import Span
from aop.ledger.model import SUCCEEDED, terminal_fact
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.store import HeadRow, newest_head
from aop.ledger.write.store import settle
from aop.local.state import DatabaseUrls
from tests.ledger.test_check import aop
from tests.ledger.test_sequence import sequencer
from tests.ledger.test_tree import all_in_tree
from tests.ledger.writing import ROUTER, Writing, an_acceptance, checked, checked_on, writing
from tests.support.postgres import PostgresForTests
from tests.support.waiting import PATIENCE_SECONDS

CALLS = 6
EVENTS = 4
CHANGED = 2
"""The place of the Invocation that is changed: there are others before and behind it."""
TABLES = (
    *("invocation", "event", "number", "numbering", "numbered_position", "tree_head", "tree_tile"),
    *("checkpoint", "release_calls"),
)
OF_EVENT = "UPDATE ledger.event SET {} WHERE invocation_id = $1 AND type <> 'stream'"
OF_INVOCATION = "UPDATE ledger.invocation SET {} WHERE invocation_id = $1"

# Of one Invocation: what is changed, and what is said about this Invocation.
CHANGES = {
    "status before an event": (OF_EVENT.format("previous_status = 'routing'"), "names another status before it"),
    "Router of an event": (OF_EVENT.format("router_id = 'router-9'"), "by another Router or an older epoch"),
    "older epoch of an event": (OF_EVENT.format("epoch = 0"), "by another Router or an older epoch"),
    "later epoch of an event": (OF_EVENT.format("epoch = 9"), "in an epoch that was never opened"),
    "Workspace of an event": (OF_EVENT.format("workspace_id = 'other'"), "has another context"),
    "acceptance time of an event": (OF_EVENT.format("created_at = created_at - interval '1 ms'"), "another context"),
    "opening of an event": (OF_EVENT.format("opening = 'routing'"), "has another context"),
    "latency": (OF_EVENT.format("latency_ms = latency_ms + 1"), "has a wrong latency"),
    "result": (OF_EVENT.format("type = 'failed'"), "failed may not carry None"),
    "id of an event": (OF_EVENT.format("event_id = gen_random_uuid()"), "is not"),
    "no terminal": ("DELETE FROM ledger.event WHERE invocation_id = $1", "has no terminal before a checkpoint"),
    "epoch of the Invocation": (OF_INVOCATION.format("epoch = 9"), "its epoch was never opened"),
    "place of the Invocation": (OF_INVOCATION.format("position = position + 1000"), "got its number at position"),
    "caller": (OF_INVOCATION.format("caller_id = 'x'"), "is not"),
    "Agent": (OF_INVOCATION.format("target_agent_id = 'x'"), "is not"),
    "capability": (OF_INVOCATION.format("capability = 'x'"), "is not"),
    "deadline": (OF_INVOCATION.format("deadline_at = deadline_at + interval '1 s'"), "is not"),
    "what permitted it": (OF_INVOCATION.format("authorization_digest = sha256('')"), "is not"),
    "Invocation taken away": ("DELETE FROM ledger.invocation WHERE invocation_id = $1", "without its Invocation"),
    "number": ("UPDATE ledger.number SET workspace_id = 'other' WHERE invocation_id = $1", "of the row that it names"),
    "number taken away": (
        "DELETE FROM ledger.number WHERE invocation_id = $1 AND sequence = 0",
        "has no number although its position counts as numbered",
    ),
}
# Of rows that many Invocations share.
REMOVED = {
    "a head": ("DELETE FROM ledger.tree_head WHERE size = 8", "head 8: is missing: head 12 followed it"),
    "the oldest head": ("DELETE FROM ledger.tree_head WHERE size = 4", "head 4: is missing: head 8 followed it"),
    "the newest head": ("DELETE FROM ledger.tree_head WHERE size = 24", "4 events have had their numbers for 60 s"),
    "all heads": ("DELETE FROM ledger.tree_head", "24 events have had their numbers for 60 s"),
    "a batch of numbers": (
        "DELETE FROM ledger.numbering WHERE first = 8",
        "numbers 8 to 11: are of no batch of the sequencer",
    ),
    "the first batch": (
        "DELETE FROM ledger.numbering WHERE first = 0",
        "numbers 0 to 3: are of no batch of the sequencer",
    ),
    "the newest batch": (
        "DELETE FROM ledger.numbering WHERE first = 20",
        "numbers 20 to 23: are of no batch of the sequencer",
    ),
    "a checkpoint": (
        "DELETE FROM ledger.checkpoint WHERE position = 3",
        "checkpoint 3 of epoch 1 of Router router-1: is missing: the checkpoint at 5 names it",
    ),
    "the newest checkpoint": (
        "DELETE FROM ledger.checkpoint WHERE position = 7",
        "checkpoint 7 of epoch 1 of Router router-1: is missing: the calls that it counted names it",
    ),
    "all checkpoints and what they counted": (
        "DELETE FROM ledger.checkpoint; DELETE FROM ledger.release_calls",
        "calls of epoch 1 of Router router-1 ended 60 s before its last ones and are before no checkpoint",
    ),
    "what checkpoints counted": (
        "DELETE FROM ledger.release_calls",
        "epoch 1 of Router router-1: has 6 calls before its last checkpoint, and 0 were counted",
    ),
    "the newest numbers": (
        "DELETE FROM ledger.number WHERE number >= 20",
        "numbers 20 to 23: are gone: a batch of the sequencer has them",
    ),
    "the newest numbers with their batch": (
        "DELETE FROM ledger.number WHERE number >= 20; DELETE FROM ledger.numbering WHERE first >= 20",
        "numbers 20 to 23: are gone: a head of the tree has them",
    ),
    "the newest number of a call whose other numbers stay": (
        "DELETE FROM ledger.number WHERE number = 23; DELETE FROM ledger.tree_head WHERE size = 24;"
        "UPDATE ledger.numbering SET past = 23, settled = 20 WHERE first = 20",
        "1 events of inv_",
    ),
    "all numbers": ("DELETE FROM ledger.number", "numbers 0 to 23: are gone"),
    "all of the sequence": (
        "DELETE FROM ledger.number; DELETE FROM ledger.numbering; DELETE FROM ledger.numbered_position;"
        "DELETE FROM ledger.tree_head; DELETE FROM ledger.tree_tile",
        "24 events of inv_",
    ),
}


NEWEST = {"number": "number >= 20", "numbering": "first >= 20", "tree_head": "size > 20", "numbered_position": "true"}


@pytest_asyncio.fixture
async def owner(stores: DatabaseUrls, postgres: PostgresForTests) -> AsyncIterator[Any]:
    """A Ledger of some calls, each numbered and put into the tree alone, and its owner with all triggers off."""
    url = stores.router
    async with writing(url) as written:
        begun = utc_now() - timedelta(hours=1)
        for number in range(CALLS):
            await a_call_at(written, begun + timedelta(minutes=number))
            async with sequencer(url, ROUTER, written.epoch):
                await all_in_tree(url)
    connection = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        for position in (3, 5, CALLS + 1):
            await settle(connection, ROUTER, written.epoch, position)
        for row in await connection.fetch(
            "SELECT conrelid::regclass AS t, conname FROM pg_constraint"
            " WHERE connamespace = 'ledger'::regnamespace AND contype IN ('c', 'f') AND coninhcount = 0"
            " AND conparentid = 0 AND conrelid <> 0"
        ):
            await connection.execute(f"ALTER TABLE {row['t']} DROP CONSTRAINT {row['conname']} CASCADE")
        for table in TABLES:
            await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER USER")
        await connection.execute("UPDATE ledger.numbering SET numbered_at = numbered_at - interval '1 hour'")
        yield connection
    finally:
        await connection.close()


async def a_call_at(written: Writing, moment: datetime) -> None:
    """That takes a second."""
    place = await written.journal.accept(an_acceptance(at=moment))
    assert await written.journal.end(terminal_fact(place, new_hex_id(), moment + timedelta(seconds=1), SUCCEEDED))


@asynccontextmanager
async def undone(connection: Any) -> AsyncIterator[None]:
    change = connection.transaction(isolation="repeatable_read")
    await change.start()
    try:
        yield
    finally:
        await change.rollback()


async def places(connection: Any) -> list[tuple[Any, datetime]]:
    rows = await connection.fetch("SELECT invocation_id, created_at FROM ledger.invocation ORDER BY position")
    return [(row[0], row[1]) for row in rows]


def spans(at: datetime) -> dict[int, Span]:
    """Around the changed Invocation, by the number of those they have."""
    minute = timedelta(seconds=60)
    return {1: Span(at, at + minute), 2: Span(at, at + 2 * minute), CALLS: Span()}


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_whatever_is_done_to_an_invocation_is_found_and_named_in_every_span(owner: Any) -> None:
    changed, at = (await places(owner))[CHANGED]
    for size, span in spans(at).items():
        async with undone(owner):
            found, reading = await checked_on(owner, span)
        assert (found, reading.checked, reading.invocations, reading.left_out) == ([], size, size, [])
        assert (reading.numbers, reading.events) == (EVENTS * size, EVENTS * size)
    missed = []
    for name, (statement, said) in CHANGES.items():
        for size, span in spans(at).items():
            async with undone(owner):
                await owner.execute(statement, changed)
                found, _ = await checked_on(owner, span)
            if not any(changed.hex in text and said in text for text in found) and name != "number":
                missed.append((name, size, found))
            if name == "number" and not any(said in text for text in found):
                missed.append((name, size, found))
    assert missed == []


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_a_change_of_the_newest_call_is_found_when_its_part_of_the_sequence_is_taken_away(owner: Any) -> None:
    """Nothing is left that shows the change. The call itself is, and has had no number for an hour."""
    changed, at = (await places(owner))[-1]
    for span in (Span(), Span(at)):
        async with undone(owner):
            await owner.execute(OF_INVOCATION.format("capability = 'x'"), changed)
            for table, newest in NEWEST.items():
                await owner.execute(f"DELETE FROM ledger.{table} WHERE {newest}")
            found, reading = await checked_on(owner, span)
        assert (found, reading.unnumbered) == ([], EVENTS)
        assert reading.left_out == [
            f"4 events of inv_{changed.hex} are older than 60 s and have no number: numbers were removed, or no Router"
            " has given them yet"
        ]


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_an_invocation_that_was_taken_away_with_its_events_is_named_by_its_numbers(owner: Any) -> None:
    """Also in a span that has no other: ids begin with the time at which they were made."""
    gone = (await places(owner))[CHANGED][0]
    now = utc_now()
    for span in (Span(), Span(now - timedelta(hours=2)), Span(now - timedelta(minutes=30))):
        async with undone(owner):
            for table in ("event", "invocation"):
                await owner.execute(f"DELETE FROM ledger.{table} WHERE invocation_id = $1", gone)
            found, reading = await checked_on(owner, span)
        assert any(gone.hex in text for text in found), span
        assert reading.checked == (0 if span.since == now - timedelta(minutes=30) else CALLS - 1)


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_a_sequencer_that_comes_round_late_is_no_finding(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a store was away, or where the clock of a Router is wrong."""
    monkeypatch.setattr(ledger_check, "_NUMBERED_MEANWHILE_SECONDS", PATIENCE_SECONDS)
    url = stores.router
    async with writing(url) as written:
        await a_call_at(written, utc_now() - timedelta(hours=1))
        checking = asyncio.create_task(checked(url))
        await asyncio.sleep(0.2)
        async with sequencer(url, ROUTER, written.epoch):
            found, reading = await checking
    assert (found, reading.left_out, reading.unnumbered) == ([], [], EVENTS)


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_heads_numbering_and_checkpoints_that_were_taken_away_are_found(owner: Any) -> None:
    missed = []
    for name, (statement, said) in REMOVED.items():
        async with undone(owner):
            await owner.execute(statement)
            found, reading = await checked_on(owner, Span())
        if not any(said in text for text in (*found, *reading.left_out)):
            missed.append((name, found, reading.left_out))
        assert reading.checked == CALLS
    assert missed == []


@pytest.mark.rows("SOUND-13")
async def test_a_whole_rewrite_and_a_cut_of_the_newest_rows_are_found_with_a_kept_head(owner: Any) -> None:
    """By design, these alone are not found without one."""
    kept = await newest_head(owner)
    assert kept is not None
    changed = (await places(owner))[-1][0]
    for rewrite in (rewritten, cut):
        async with undone(owner):
            await rewrite(owner, changed, kept)
            found, reading = await checked_on(owner, Span())
            assert (found, reading.left_out) == ([], [])
            assert reading.checked == reading.invocations == CALLS - (rewrite is cut)
            with pytest.raises(HistoryChanged):
                await compared(owner, kept, None)


async def rewritten(owner: Any, changed: Any, kept: HeadRow) -> None:
    sizes = [row[0] for row in await owner.fetch("SELECT size FROM ledger.tree_head ORDER BY size")]
    await owner.execute(OF_INVOCATION.format("capability = 'x'"), changed)
    await owner.execute("DELETE FROM ledger.tree_head")
    tree = await TreeGrowth.resumed(owner)
    for before, size in zip((0, *sizes), sizes, strict=False):
        await tree.grow(size)
        await owner.execute("UPDATE ledger.tree_head SET before = $1 WHERE size = $2", before, size)


async def cut(owner: Any, changed: Any, kept: HeadRow) -> None:
    for table in ("invocation", "event", "number"):
        await owner.execute(f"DELETE FROM ledger.{table} WHERE invocation_id = $1", changed)
    await owner.execute("DELETE FROM ledger.numbering WHERE past = $1", kept.size)
    await owner.execute("DELETE FROM ledger.tree_head WHERE size = $1", kept.size)


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-13")
async def test_the_command_says_how_much_it_looked_at_and_refuses_less(owner: Any, stores: DatabaseUrls) -> None:
    at = (await places(owner))[CHANGED][1]
    bounds = "--since", to_text(at), "--until", to_text(at + timedelta(minutes=1))
    heads = await owner.fetchval("SELECT count(*) FROM ledger.tree_head")
    one = await aop(stores.router, "ledger", "check", *bounds)
    assert one.out == (
        f"1 Invocations with 4 events, 0 of them open; 4 numbers, 4 of them in the tree; {heads} heads and"
        " 3 checkpoints: every invariant holds\n"
    )
    await owner.execute("DELETE FROM ledger.tree_head WHERE size = 24")
    less = await aop(stores.router, "ledger", "check")
    assert less.code == 1
    assert "no broken invariant in what was read, which is not all" in less.out
    assert (await checked(stores.router))[1].unproven == EVENTS
