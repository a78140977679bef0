"""`aop ledger check` and `aop router close`: what the first finds in a tampered Ledger, and what the second ends."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
import pytest

from aop.base.clock import to_text, utc_now
from aop.base.ids import new_hex_id
from aop.ledger.check.span import Span
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, Progress, progress_fact
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.store import TILE
from aop.local.state import DatabaseUrls
from tests.ledger.test_sequence import all_numbered, sequencer, some_calls
from tests.ledger.test_tree import all_in_tree
from tests.ledger.writing import (
    ROUTER,
    Writing,
    a_context,
    an_acceptance,
    an_end,
    breaches,
    checked,
    new_epoch,
    writing,
)
from tests.support.postgres import PostgresForTests
from tests.support.waiting import patience

pytestmark = pytest.mark.second_ring


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


async def aop(url: str | None, *arguments: str) -> Ended:
    settings = {} if url is None else {"PLATFORM_ROUTER_DATABASE_URL": url}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "aop", *arguments),
        env={**settings, "PATH": os.defpath, "COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with patience():
        out, err = await process.communicate()
    return Ended(process.returncode or 0, out.decode(), err.decode())


TAMPERING = {
    "event 5 stands where 4 should": "UPDATE ledger.event SET sequence = 5 WHERE sequence = 4",
    "goes back in time": "UPDATE ledger.event SET occurred_at = created_at - interval '1 s' WHERE type = 'succeeded'",
    "has a wrong latency": "UPDATE ledger.event SET latency_ms = 77777 WHERE type = 'succeeded'",
    "counts its chunks wrongly": "UPDATE ledger.event SET chunk_index = 9 WHERE type = 'stream'",
    "may not carry": "UPDATE ledger.event SET error_code = 'TIMEOUT' WHERE type = 'succeeded'",
    "may not carry TIMEOUT schema_work": "UPDATE ledger.event SET type = 'timed_out', error_code = 'TIMEOUT',"
    " reason = 'schema_work' WHERE type = 'succeeded'",
    "has a wrong latency ": "UPDATE ledger.event SET latency_ms = latency_ms + 1 WHERE type = 'succeeded'",
    "may not carry None task_failed": "UPDATE ledger.event SET reason = 'task_failed' WHERE type = 'succeeded'",
    "has another context ": "UPDATE ledger.event SET workspace_id = NULL WHERE type = 'succeeded'",
    "the digest is not of 32 bytes": "UPDATE ledger.invocation SET agent_card_digest = '' WHERE caller_type = 'agent'",
    "was over at its acceptance": "UPDATE ledger.invocation SET opening = 'created' WHERE caller_type = 'agent'",
    "has another context": "UPDATE ledger.event SET workspace_id = 'other' WHERE type = 'succeeded'",
    "another Router or an older epoch": "UPDATE ledger.event SET router_id = 'router-9' WHERE type = 'succeeded'",
    "names another status": "UPDATE ledger.event SET previous_status = 'routing' WHERE type = 'succeeded'",
    "stream follows succeeded": "UPDATE ledger.event SET type = 'succeeded' WHERE type = 'stream';"
    "UPDATE ledger.event SET type = 'stream' WHERE sequence = 4",
    "more than one terminal": "UPDATE ledger.event SET type = 'failed' WHERE type = 'stream'",
    "its trace is not": "UPDATE ledger.invocation SET trace_id = gen_random_uuid() WHERE caller_type = 'agent'",
    "its root task is not": "UPDATE ledger.invocation SET root_task_id ="
    " (left(root_task_id::text, 24) || right(gen_random_uuid()::text, 12))::uuid WHERE caller_type = 'agent'",
    "its Workspace is not": "UPDATE ledger.invocation SET workspace_id = 'other' WHERE caller_type = 'agent'",
    "its caller is not": "UPDATE ledger.invocation SET caller_id = 'x' WHERE caller_type = 'agent'",
    "its parent is missing": "UPDATE ledger.invocation SET parent_invocation_id = gen_random_uuid()"
    " WHERE caller_type = 'agent'",
    "before its parent started": "UPDATE ledger.invocation SET created_at = created_at - interval '1 day'"
    " WHERE caller_type = 'agent'",
    "its parent never started": "UPDATE ledger.invocation SET opening = 'routing' WHERE caller_type = 'user'",
    "a root is not called by a user": "UPDATE ledger.invocation SET caller_type = 'service' WHERE caller_type = 'user'",
    "was never opened": "UPDATE ledger.invocation SET epoch = 99",
    "in a closed epoch": "INSERT INTO ledger.epoch_closed (router_id, epoch) SELECT router_id, epoch FROM ledger.epoch",
    "although no newer one exists": "INSERT INTO ledger.epoch_closed (router_id, epoch)"
    " SELECT router_id, epoch FROM ledger.epoch",
    "before a checkpoint": "INSERT INTO ledger.checkpoint (router_id, epoch, position)"
    " SELECT router_id, epoch, 1000 FROM ledger.epoch",
    "follows epoch": "UPDATE ledger.epoch SET epoch = epoch + 5",
    "an event without its Invocation": "UPDATE ledger.event SET invocation_id = gen_random_uuid() WHERE sequence = 4",
    "a cancel request without": "INSERT INTO ledger.cancel_request (invocation_id, root_task_id, router_id, epoch)"
    " SELECT gen_random_uuid(), root_task_id, 'router-1', 1 FROM ledger.invocation LIMIT 1",
}


READ = (
    "2 Invocations with 8 events, 1 of them open; 0 numbers, 0 of them in the tree, and 8 events have no number yet;"
    " 0 heads and 0 checkpoints"
)


async def some_history(written: Writing) -> None:
    """A root with progress and success, and its child that still runs."""
    root = a_context()
    place = await written.journal.accept(an_acceptance(root))
    await written.journal.accept(an_acceptance(a_context(root)))
    fact = progress_fact(place, new_hex_id(), utc_now(), Progress(3, 30))
    assert await written.journal.end(fact, an_end(fact.as_last(), SUCCEEDED))


async def test_the_check_finds_whatever_is_done_to_the_ledger_behind_its_guards(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    async with writing(stores.router) as written:
        await some_history(written)
    assert await breaches(stores.router) == []
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    tables = [
        f"ledger.{name}" for name in ("epoch", "epoch_closed", "checkpoint", "invocation", "cancel_request", "event")
    ]
    dropped = await connection.fetch(
        "SELECT conrelid::regclass AS t, conname FROM pg_constraint"
        " WHERE connamespace = 'ledger'::regnamespace AND contype IN ('c', 'f') AND coninhcount = 0 AND conparentid = 0"
    )
    for row in dropped:
        await connection.execute(f"ALTER TABLE {row['t']} DROP CONSTRAINT {row['conname']} CASCADE")
    await connection.execute("DROP INDEX ledger.event_one_terminal")
    for table in tables:
        await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    copies = {table: await connection.fetch(f"TABLE {table}") for table in tables}
    for problem, statement in TAMPERING.items():
        await connection.execute(statement)
        found = await breaches(stores.router)
        assert any(problem.rstrip() in text for text in found), (problem, found)
        for table, rows in copies.items():
            await connection.execute(f"DELETE FROM {table}")
            await connection.copy_records_to_table(table.partition(".")[2], schema_name="ledger", records=rows)
        assert await breaches(stores.router) == []
    await connection.close()


async def test_the_check_command_tells_counts_and_problems_and_ends_with_a_code(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    async with writing(stores.router) as written:
        await some_history(written)
    good = await aop(stores.router, "ledger", "check")
    assert (good.code, good.out) == (0, f"{READ}: every invariant holds\n")
    later = to_text(utc_now() + timedelta(hours=1))
    none, *wrong = await asyncio.gather(
        aop(stores.router, "ledger", "check", "--since", later, "--json"),
        aop(stores.router, "ledger", "check", "--since", "yesterday"),
        aop(None, "ledger", "check"),
    )
    assert none.code == 0
    assert set(json.loads(none.out).values()) == {0}
    assert [ended.code for ended in wrong] == [2, 78]
    database = stores.migration.rpartition("/")[2]
    await postgres.execute(
        "ALTER TABLE ledger.invocation DISABLE TRIGGER USER;"
        "UPDATE ledger.invocation SET caller_id = 'x' WHERE caller_type = 'agent'",
        database,
    )
    bad = await aop(stores.router, "ledger", "check", "--json")
    found, counts = map(json.loads, bad.out.splitlines())
    assert (bad.code, found["problem"], counts["broken"]) == (1, "its caller is not its parent's Agent", 1)
    assert await breaches(stores.router, Span(until=utc_now() - timedelta(days=1))) == []


@pytest.mark.rows("LED-14")
@pytest.mark.rows("HA-04")
async def test_a_span_that_the_tree_has_not_reached_is_no_problem(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree of an old Ledger grows for hours after an upgrade; what is not in it yet is not missing."""

    async def stands_still(growth: TreeGrowth, past: int) -> bool:
        return True

    url = stores.router
    async with writing(url) as written, sequencer(url, "router-2"):
        await some_calls(written, 3)
        await all_in_tree(url)
        monkeypatch.setattr(TreeGrowth, "grow", stands_still)
        await some_calls(written, 2 * TILE // 7)  # a child with its parent has seven events at least
        since = utc_now()
        place = await written.journal.accept(an_acceptance(at=since))
        assert await written.journal.end(an_end(place, SUCCEEDED))
        await all_numbered(url)
    found, reading = await checked(url, Span(since))
    assert (found, reading.checked, reading.numbers, reading.in_tree) == ([], 1, 4, 0)
    found, reading = await checked(url)
    assert (found, reading.checked, reading.left_out) == ([], reading.invocations, [])
    assert 0 < reading.in_tree < reading.numbers


async def test_closing_a_router_ends_what_it_left_open_and_fences_it(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written:
        left, lost = [await written.journal.accept(an_acceptance()) for _ in range(2)]
        await written.journal.request_cancel(left.context.lineage.invocation)
        ended = await aop(stores.router, "router", "close", "--router-id", ROUTER)
        assert (ended.code, ended.out) == (0, f"closed 1 epochs of {ROUTER}; ended 2 open Invocations\n")
        for place, terminal in ((left, CANCELED), (lost, LOST)):
            assert await written.terminals(place.context.lineage.invocation) == [(terminal.type, terminal.error)]
    assert await breaches(stores.router) == []
    assert await new_epoch(stores.router) == written.epoch + 2
    unknown, wrong = await asyncio.gather(
        *(aop(stores.router, "router", "close", "--router-id", name) for name in ("router-77", "no id"))
    )
    assert (unknown.code, "no Router router-77" in unknown.err, wrong.code) == (1, True, 2)
