"""Old months leave the Ledger as files that can be checked: exported, compared with the tree, then detached."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.contracts.documents import document
from aop.contracts.identity import InvocationContext
from aop.ledger.archive.detach import InUse, NotCounted, become_owner, detached
from aop.ledger.archive.export import NotOver, exported, file_of
from aop.ledger.archive.file import FileWrong
from aop.ledger.archive.verification import verified, verified_alone
from aop.ledger.check.comparison import compared
from aop.ledger.figures.tiles import begin_edition
from aop.ledger.model import SUCCEEDED
from aop.ledger.months import Archived, Month, Months, attached_months
from aop.ledger.sequence.feed import FeedReader
from aop.ledger.tree.reader import TreeReader
from aop.ledger.tree.store import HeadRow, newest_head
from aop.local.state import DatabaseUrls
from aop.store.store_check import require_store
from tests.ledger.test_months import a_call, month_before, root_at
from tests.ledger.test_sequence import rows, sequencer
from tests.ledger.test_tree import all_in_tree, connected
from tests.ledger.writing import SPACE, Writing, a_context, an_acceptance, an_end, breaches, reading, writing
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience

OLD_CALLS, NEW_CALLS = 160, 320
"""Of the two months: with seven events each, and four; tiles of figures have 1,024."""
COUNTED = "SELECT count(*) * 1024 AS counted FROM ledger.figure_tile WHERE level = 0"
NEWEST_HEAD = "SELECT max(size) AS size FROM ledger.tree_head"
EVERYTHING = "SELECT max(past) AS past FROM ledger.numbering"
ASKS_TO_BE_ALONE = (
    "SELECT waitstart FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted AND waitstart IS NOT NULL"
)


async def two_months(url: str, written: Writing) -> tuple[InvocationContext, InvocationContext]:
    """A call of the last month and one of this, each among many, all of them numbered, counted and in the tree."""
    old = [await a_call(written, root_at(month_before(utc_now()))) for _ in range(OLD_CALLS)]
    new = [a_context() for _ in range(NEW_CALLS)]
    for context in new:
        place = await written.journal.accept(an_acceptance(context))
        assert await written.journal.end(an_end(place, SUCCEEDED))
    async with sequencer(url, "router-2"):
        await all_in_tree(url)

        async def all_counted() -> bool:
            return bool((await rows(url, COUNTED))[0]["counted"] + 1024 > (await rows(url, EVERYTHING))[0]["past"])

        await becomes_true(all_counted)
    return old[7], new[7]


def last_month() -> Month:
    return Month.of(month_before(utc_now()))


@pytest.mark.second_ring
@pytest.mark.rows("HA-04")
async def test_a_month_is_exported_checked_and_detached_and_reads_say_archived(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    url, month = stores.router, last_month()
    path = file_of(tmp_path, month)
    async with writing(url) as written:
        old, new = await two_months(url, written)
    async with connected(url) as connection:
        judged = await exported(connection, month, path)
        kept = await newest_head(connection)
    assert (judged.last.invocations, judged.last.events) == (2 * OLD_CALLS, 9 * OLD_CALLS)
    assert judged.in_tree == judged.last.events
    assert verified_alone(path).last == judged.last
    require_contract(path)
    async with connected(stores.migration) as connection:
        await become_owner(connection)
        await detached(connection, month, path)
        await require_store(connection, "ledger")
    await require_archived(url, old)
    await require_here(url, new)
    assert await breaches(url) == []
    async with connected(url) as connection:
        assert (await verified(connection, path)).in_tree == judged.in_tree
        assert month not in await attached_months(connection)
        assert kept is not None
        await compared(connection, HeadRow(kept.size, kept.root), None)
    async with opened_database(url) as database:
        assert await Months(database).make() == 0  # a detached month is over for good
    async with writing(url, router_id="router-3") as later, sequencer(url, "router-2"):
        before = (await rows(url, EVERYTHING))[0]["past"]
        await a_call(later, root_at(utc_now()))

        async def in_tree() -> bool:
            return bool((await rows(url, NEWEST_HEAD))[0]["size"] == before + 9)

        await becomes_true(in_tree)
    assert await breaches(url) == []


@pytest.mark.rows("SOUND-07")
async def test_what_is_there_is_counted_again_after_a_month_was_detached(
    stores: DatabaseUrls, postgres: PostgresForTests, tmp_path: Path
) -> None:
    """Calls of the detached month stay counted at every moment."""
    url, month = stores.router, last_month()
    async with writing(url) as written:
        await two_months(url, written)
        async with connected(url) as connection:
            await exported(connection, month, file_of(tmp_path, month))
        async with connected(stores.migration) as connection:
            await become_owner(connection)
            await detached(connection, month, file_of(tmp_path, month))
        more = [a_context() for _ in range(2 * NEW_CALLS)]
        for place in await asyncio.gather(*(written.journal.accept(an_acceptance(one)) for one in more)):
            assert await written.journal.end(an_end(place, SUCCEEDED))
        past = (await rows(url, EVERYTHING))[0]["past"] + 4 * len(more)
        async with sequencer(url, "router-2"):

            async def counted() -> bool:
                is_in_tree = (await rows(url, NEWEST_HEAD))[0]["size"] == past
                return is_in_tree and bool((await rows(url, COUNTED))[0]["counted"] + 1024 > past)

            await becomes_true(counted)
    figures = "SELECT tile, width, start, cell, parts FROM ledger.figure WHERE edition = $1 ORDER BY tile, width, start"
    async with connected(postgres.url(url.rpartition("/")[2])) as owner:
        right = await owner.fetch(figures, 1)
        await owner.execute("ALTER TABLE ledger.figure DISABLE TRIGGER USER")
        damaged = await owner.fetchval("UPDATE ledger.figure SET cell = '' WHERE tile = 3 RETURNING tile")
        assert damaged == 3
        await owner.execute("ALTER TABLE ledger.figure ENABLE ALWAYS TRIGGER figure_kept")
    assert [text for text in await breaches(url) if text.startswith("tile 3: does not count")]
    async with connected(url) as connection:
        assert await begin_edition(connection) == 2
        kept = [row for row in right if row["tile"] < 2]
        assert kept
        assert await connection.fetch(figures, 2) == kept
        async with sequencer(url, "router-2"):

            async def all_counted() -> bool:
                return bool(await connection.fetch(figures, 2) == right)

            await becomes_true(all_counted)
    assert await breaches(url) == []


def require_contract(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    is_line = document("ledger-export/1")
    for line in (lines[0], *lines[1:20], lines[-1]):
        assert is_line.violations(line) == ()
    assert sum("cancelRequestedAt" in line for line in lines) == OLD_CALLS


async def require_archived(url: str, context: InvocationContext) -> None:
    invocation, trace = context.lineage.invocation, context.lineage.trace
    async with opened_database(url, size=2) as database:
        tree, feed = TreeReader(database), FeedReader(database)
        async with reading(url) as ledger:
            for read in (
                ledger.detail(SPACE, invocation),
                ledger.trace(SPACE, trace),
                tree.of_invocation(SPACE, invocation),
                tree.of_invocation(None, invocation),
                tree.of_trace(SPACE, trace),
            ):
                with pytest.raises(Archived):
                    await read
            assert await ledger.detail("other", invocation) is None
            assert await ledger.trace("other", trace) is None
        event = (await rows(url, "SELECT number FROM ledger.number ORDER BY number LIMIT 1"))[0]["number"]
        with pytest.raises(Archived):
            await feed.read(SPACE, (event + 1, "0" * 32), 10)


async def require_here(url: str, context: InvocationContext) -> None:
    async with opened_database(url, size=2) as database:
        async with reading(url) as ledger:
            assert await ledger.detail(SPACE, context.lineage.invocation) is not None
            assert await ledger.trace(SPACE, context.lineage.trace) is not None
        assert await TreeReader(database).of_invocation(SPACE, context.lineage.invocation) is not None
        read = await FeedReader(database).read(SPACE, None, 2_000)
        assert len(read.events) == 4 * NEW_CALLS
        following = await FeedReader(database).read(SPACE, read.last, 10)
        assert following.events == ()


@pytest.mark.second_ring
async def test_what_is_not_over_is_neither_exported_nor_detached(stores: DatabaseUrls, tmp_path: Path) -> None:
    url, month = stores.router, last_month()
    path = file_of(tmp_path, month)
    async with writing(url) as written, connected(url) as connection, connected(stores.migration) as owner:
        await become_owner(owner)
        place = await written.journal.accept(an_acceptance(a_context(root_task=root_at(month_before(utc_now())))))
        with pytest.raises(NotOver, match="1 Invocations"):
            await exported(connection, month, path)
        assert await written.journal.end(an_end(place, SUCCEEDED))
        async with sequencer(url, "router-2"):
            await all_in_tree(url)
        await exported(connection, month, path)
        with pytest.raises(NotCounted):  # four events make no tile
            await detached(owner, month, path)
        this = Month.of(utc_now())
        with pytest.raises(FileWrong, match=f"it is of {month}"):
            await detached(owner, this, path)
        await exported(connection, this, file_of(tmp_path, this))
        with pytest.raises(NotOver, match="older month"):
            await detached(owner, this, file_of(tmp_path, this))
        assert len(await attached_months(connection)) == 4


@pytest.mark.second_ring
@pytest.mark.rows("HA-04")
async def test_every_change_of_the_file_is_found(stores: DatabaseUrls, tmp_path: Path) -> None:
    url, month = stores.router, last_month()
    path = file_of(tmp_path, month)
    async with writing(url) as written:
        await two_months(url, written)
    async with connected(url) as connection:
        await exported(connection, month, path)
        lines = path.read_bytes().splitlines(keepends=True)
        wrong = {
            "a line is missing": [*lines[:5], *lines[6:]],
            "a line is there twice": [*lines[:6], lines[5], *lines[6:]],
            "two lines have changed places": [*lines[:5], lines[6], lines[5], *lines[7:]],
            "a fact is another": [*lines[:5], lines[5].replace(b'"work"', b'"walk"'), *lines[6:]],
            "the end is missing": lines[:-1],
            "the month is another": [lines[0].replace(b'"2', b'"1'), *lines[1:]],
            "something was added": [*lines, b"{}\n"],
        }
        for problem, changed in wrong.items():
            assert changed != lines, problem
            path.write_bytes(b"".join(changed))
            with pytest.raises(FileWrong):
                verified_alone(path)
            with pytest.raises(FileWrong):
                await verified(connection, path)
        path.write_bytes(b"".join(_sealed_again(lines, lines[5].replace(b'"work"', b'"walk"'))))
        verified_alone(path)  # the digest is right again
        with pytest.raises(FileWrong, match="is not the one in the tree"):
            await verified(connection, path)


@pytest.mark.second_ring
@pytest.mark.rows("HA-04", "SOUND-13")
async def test_a_changed_file_does_not_pass_because_its_hashes_were_taken_away(
    stores: DatabaseUrls, postgres: PostgresForTests, tmp_path: Path
) -> None:
    """Before its month is detached, and, with all heads gone too, behind that."""
    url, month = stores.router, last_month()
    path = file_of(tmp_path, month)
    async with writing(url) as written:
        await two_months(url, written)
    async with connected(url) as connection, connected(postgres.url(url.rpartition("/")[2])) as owner:
        await exported(connection, month, path)
        whole = path.read_bytes()
        lines = whole.splitlines(keepends=True)
        forged = b"".join(_sealed_again(lines, lines[5].replace(b'"work"', b'"walk"')))
        for table in ("tree_tile", "tree_head"):
            await owner.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER USER")
        for taken_away in ("", "DELETE FROM ledger.tree_head"):
            change = owner.transaction()
            await change.start()
            if taken_away:
                path.write_bytes(whole)
                await detached(owner, month, path)
            await owner.execute(f"DELETE FROM ledger.tree_tile; {taken_away}")
            path.write_bytes(forged)
            with pytest.raises(FileWrong, match="tile 0 of the tree is missing"):
                await verified(owner, path)
            await change.rollback()
        with pytest.raises(FileWrong, match="is not the one in the tree"):
            await verified(owner, path)


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-08")
async def test_a_line_in_which_a_member_stands_twice_is_refused(stores: DatabaseUrls, tmp_path: Path) -> None:
    """The tree has the last of the two, and a person reads the first."""
    url, month = stores.router, last_month()
    path = file_of(tmp_path, month)
    async with writing(url) as written:
        await two_months(url, written)
    async with connected(url) as connection:
        await exported(connection, month, path)
        lines = path.read_bytes().splitlines(keepends=True)
        for name, first in ((b'"leaf":', b"{}"), (b'"sequence":', b"9")):
            changed = lines[5].replace(name, name + first + b"," + name, 1)
            path.write_bytes(b"".join(_sealed_again(lines, changed)))
            assert json.loads(changed)
            with pytest.raises(FileWrong, match="twice"):
                verified_alone(path)
            with pytest.raises(FileWrong, match="twice"):
                await verified(connection, path)


def _sealed_again(lines: list[bytes], line: bytes) -> list[bytes]:
    """By somebody who changes a line and the digest with it."""
    changed = [*lines[:5], line, *lines[6:-1]]
    last = {**json.loads(lines[-1]), "sha256": hashlib.sha256(b"".join(changed)).hexdigest()}
    return [*changed, json.dumps(last, separators=(",", ":")).encode() + b"\n"]


@pytest.mark.second_ring
async def test_a_month_in_use_stays_and_can_be_detached_afterwards(stores: DatabaseUrls, tmp_path: Path) -> None:
    month = last_month()
    path = file_of(tmp_path, month)
    async with connected(stores.router) as connection:
        await exported(connection, month, path)  # of a month without calls
    holder = await asyncpg.connect(stores.router)
    async with connected(stores.migration) as owner:
        await become_owner(owner)
        await holder.execute("BEGIN; SELECT count(*) FROM ledger.event")
        with pytest.raises(InUse):
            await detached(owner, month, path, patience_seconds=0)
        await holder.execute("COMMIT")
        await detached(owner, month, path)
    await holder.close()
    async with connected(stores.router) as connection:
        assert month not in await attached_months(connection)


@pytest.mark.second_ring
@pytest.mark.rows("HA-04")
async def test_calls_go_on_while_a_month_waits_to_be_detached(stores: DatabaseUrls, tmp_path: Path) -> None:
    """Somebody reads for long. Whoever waited for them without an end would hold up every call behind it."""
    month = last_month()
    path = file_of(tmp_path, month)
    async with connected(stores.router) as connection:
        await exported(connection, month, path)
    holder = await asyncpg.connect(stores.router)
    async with connected(stores.migration) as owner, writing(stores.router) as written, patience():
        await become_owner(owner)
        await holder.execute("BEGIN; SELECT count(*) FROM ledger.event")
        detaching = asyncio.create_task(detached(owner, month, path, patience_seconds=PATIENCE_SECONDS))
        tries = set[Any]()
        while len(tries) < 3:
            tries.update(row["waitstart"] for row in await holder.fetch(ASKS_TO_BE_ALONE))
            place = await written.journal.accept(an_acceptance(a_context()))
            assert await written.journal.end(an_end(place, SUCCEEDED))
        assert not detaching.done()
        await holder.execute("COMMIT")
        await detaching
        assert month not in await attached_months(owner)
        place = await written.journal.accept(an_acceptance(a_context()))
        assert await written.journal.end(an_end(place, SUCCEEDED))
    await holder.close()
    assert await breaches(stores.router) == []


@pytest.mark.second_ring
@pytest.mark.rows("HA-04")
async def test_a_vacuum_is_waited_for_before_anybody_is_asked_to_leave(stores: DatabaseUrls, tmp_path: Path) -> None:
    """It would hold up whoever waits to be alone, and all calls behind that one."""
    month = last_month()
    path = file_of(tmp_path, month)
    waits = "SELECT mode FROM pg_locks WHERE NOT granted AND relation = 'ledger.event'::regclass"
    async with connected(stores.router) as connection:
        await exported(connection, month, path)
    async with connected(stores.migration) as vacuum, connected(stores.migration) as owner, patience():
        await become_owner(vacuum)
        await become_owner(owner)
        await vacuum.execute("BEGIN; LOCK TABLE ledger.event IN SHARE UPDATE EXCLUSIVE MODE")
        detaching = asyncio.create_task(detached(owner, month, path, patience_seconds=PATIENCE_SECONDS))
        while not (found := await vacuum.fetch(waits)):
            pass  # it asks the store
        assert {row["mode"] for row in found} == {"ShareUpdateExclusiveLock"}
        await vacuum.execute("COMMIT")
        await detaching
        assert month not in await attached_months(owner)
