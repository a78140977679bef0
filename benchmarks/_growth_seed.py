"""Months of a Ledger in SQL alone: calls, ends, cancel requests and numbers; then the tree and the figures."""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import asyncpg
import uvloop

from aop.ledger.archive.month import Month
from aop.ledger.entries import Writer
from aop.ledger.epochs import open_epoch
from aop.ledger.figures.counting import NUMBERS_IN_TILE
from aop.ledger.figures.tiles import count_next_tile, counted
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.sequence.store import prepare, sequence_end
from aop.ledger.tree.growth import TreeGrowth
from aop.store.database import Connection, connect
from aop.store.migrations import OWNER_ROLE
from aop.store.store_check import require_store
from benchmarks._root_tasks import root_task

SPACE = "space"
"""Has every second Trace; the others belong to fifty Workspaces."""
EVENTS_PER_CALL = 4
"""created, routing, started and the terminal."""
CALLS_PER_TRACE = 5
"""A root and its four children."""
CANCELS = 100
"""Of so many calls one was asked to cancel."""
_BATCH = 2_000
_FENCED = ("invocation", "event", "cancel_request", "numbering", "number", "numbered_position")

_CALLS = f"""
INSERT INTO ledger.invocation
SELECT {root_task("at", "'call' || number")}, {root_task("at", "'task' || root")}, md5('trace' || root)::uuid,
       CASE WHEN number > root THEN {root_task("at", "'call' || root")} END,
       CASE WHEN number > root THEN 'started' END, CASE WHEN number > root THEN at END,
       CASE WHEN number > root THEN 'agent' ELSE 'user' END,
       CASE WHEN number > root THEN 'acme:agent-' || root % 10 ELSE 'alice' END,
       CASE WHEN root / 5 % 2 = 0 THEN '{SPACE}' ELSE 'space-' || root / 5 % 50 END,
       'acme:agent-' || number % 10, '1.0.0', md5('release')::uuid, sha256('card'), 'skill-' || number / 10 % 2,
       'seed', 1, number + 1, 'started', gen_random_uuid(), at, at + interval '60 s', sha256('permitted')
  FROM (SELECT number, number - number % {CALLS_PER_TRACE} AS root,
               $3::timestamptz + ((number - $1) / {CALLS_PER_TRACE}) * $4::interval AS at
          FROM generate_series($1::bigint, $2::bigint - 1) AS number) AS given
"""  # noqa: S608  parts of our own, here and below
_ENDS = """
INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, opening, trace_id,
       root_task_id, workspace_id, created_at, latency_ms, error_code, reason, router_id, epoch)
SELECT invocation_id, 3, gen_random_uuid(), created_at + latency * interval '1 ms',
       CASE position % 25 WHEN 0 THEN 'failed' WHEN 1 THEN 'failed' WHEN 2 THEN 'timed_out' ELSE 'succeeded' END,
       'running', opening, trace_id, root_task_id, workspace_id, created_at, latency,
       CASE position % 25 WHEN 0 THEN 'AGENT_UNAVAILABLE' WHEN 1 THEN 'AGENT_EXECUTION_FAILED'
                          WHEN 2 THEN 'TIMEOUT' END,
       CASE position % 25 WHEN 0 THEN 'connect_failed' WHEN 1 THEN 'task_failed' END, 'seed', 1
  FROM (SELECT *, floor(-120 * ln(1 - random()))::bigint AS latency FROM ledger.{partition} OFFSET 0) AS opened
"""
_CANCELS = f"""
INSERT INTO ledger.cancel_request (invocation_id, root_task_id, router_id, epoch)
SELECT invocation_id, root_task_id, 'seed', 1 FROM ledger.{{partition}} WHERE position % {CANCELS} = 0
"""  # noqa: S608
_NUMBERS = """
INSERT INTO ledger.number (number, invocation_id, sequence, events, is_terminal, workspace_id, root_task_id)
SELECT $1 + (position - $2 - 1) * 4 + part.sequence, invocation_id, part.sequence, part.events, part.sequence > 0,
       workspace_id, root_task_id
  FROM ledger.{partition} CROSS JOIN (VALUES (0, 3), (3, 1)) AS part (sequence, events)
"""
_NUMBERING = """
INSERT INTO ledger.numbering (first, past, settled, router_id, epoch)
SELECT first, least(first + $3, $2), first, 'seed', 1
  FROM generate_series($1::bigint, $2::bigint - 1, $3::bigint) AS first
"""
_SEEDED = "SELECT coalesce(max(position), 1) - 1 FROM ledger.numbered_position WHERE router_id = 'seed'"
_POSITION = "INSERT INTO ledger.numbered_position (router_id, epoch, position) VALUES ('seed', 1, $1)"


def months_until(now: datetime, count: int) -> Sequence[Month]:
    """The oldest first; the last is that of now."""
    months = [Month.of(now)]
    while len(months) < count:
        before = datetime.combine(months[0].first_day, datetime.min.time(), UTC) - timedelta(days=1)
        months.insert(0, Month.of(before))
    return months


async def seed_months(url: str, months: Sequence[tuple[Month, int]], now: datetime) -> int:
    """So many calls in each of these months that follow each other, several at a time. Past the fences and foreign
    keys, which would only make it slower; they stand again afterwards. Returns where the numbers end."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET session_replication_role = replica")
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    position = await connection.fetchval(_SEEDED)
    number = (await sequence_end(connection)).past
    filled = list[Awaitable[None]]()
    for month, calls in months:
        if await connection.fetchval("SELECT to_regclass($1) IS NULL", f"ledger.{month.partition('event')}"):
            await connection.execute(f"SET ROLE {OWNER_ROLE}")
            await connection.execute("SELECT ledger.make_month($1)", month.first_day)
            await connection.execute("RESET ROLE")
        end_number = number + calls * EVENTS_PER_CALL
        await connection.execute(_NUMBERING, number, end_number, _BATCH)
        filled.append(_fill(url, month, (position, position + calls), number, now))
        position, number = position + calls, end_number
    await asyncio.gather(*filled)
    await connection.execute(_POSITION, position + 1)
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("RESET session_replication_role")
    await require_store(connection, "ledger")
    await connection.execute("VACUUM (ANALYZE)")
    await connection.execute("CHECKPOINT")
    await connection.close()
    return number


async def _fill(url: str, month: Month, positions: tuple[int, int], number: int, now: datetime) -> None:
    """Evenly over the month as far as it is over."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET session_replication_role = replica")
    first, past = positions
    begin, end = (datetime.combine(one.first_day, datetime.min.time(), UTC) for one in (month, month.next))
    step = (min(end, now) - begin) / ((past - first) // CALLS_PER_TRACE + 1)
    await connection.execute(_CALLS, first, past, begin, step)
    seeded = (
        f"(SELECT * FROM ledger.{month.partition('invocation')}"  # noqa: S608
        f" WHERE router_id = 'seed' AND position > {first}) AS seeded"
    )
    for statement, values in ((_ENDS, ()), (_CANCELS, ()), (_NUMBERS, (number, first))):
        await connection.execute(statement.replace("ledger.{partition}", seeded), *values)
    await connection.close()


def grow(url: str, past: int) -> None:
    """The tree and the figures over all numbers, by the sequencer's own code, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=work, args=(url, past)) for work in (_grow_tree, _count_figures)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    if any(process.exitcode for process in both):
        raise RuntimeError("the tree or the figures did not grow")


def _grow_tree(url: str, past: int) -> None:
    async def work() -> None:
        connection = await _prepared(url)
        growth = await TreeGrowth.resumed(connection)
        while growth.size < past:
            await growth.grow(min(past, growth.size + _BATCH))
        await connection.close()

    uvloop.run(work())


def _count_figures(url: str, past: int) -> None:
    async def work() -> None:
        connection = await _prepared(url)
        while await count_next_tile(connection, past):
            pass
        await connection.close()

    uvloop.run(work())


async def _prepared(url: str) -> Connection:
    connection = await connect(url, application="benchmark")
    await prepare(connection)
    return connection


@contextmanager
def sequencing(url: str) -> Iterator[None]:
    """The sequencer of a platform, in a process of its own."""
    process = multiprocessing.get_context("spawn").Process(target=_sequence, args=(url,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _sequence(url: str) -> None:
    async def connected() -> Connection:
        return await connect(url, application="benchmark")

    async def work() -> None:
        connection = await connected()
        sequencer = Sequencer(connected, Writer("sequencer", await open_epoch(connection, "sequencer")))
        await connection.close()
        while True:
            await sequencer.turn()

    uvloop.run(work())


async def all_counted(connection: Connection) -> None:
    """Waits until every call has its number and is in a tile, as far as tiles are full."""
    calls = await connection.fetchval("SELECT count(*) FROM ledger.invocation WHERE router_id = 'benchmark'")
    seeded = await connection.fetchval(_SEEDED)
    events = (calls + seeded) * EVENTS_PER_CALL
    while True:
        end, tiles = await sequence_end(connection), (await counted(connection)).tiles
        if end.past >= events and tiles >= events // NUMBERS_IN_TILE:
            return
        await asyncio.sleep(0.2)
