"""Months of a Ledger in SQL alone: calls, ends and cancel requests; the product's own sequencer does the rest."""

import asyncio
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import asyncpg
import uvloop

from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.ledger.figures.tiles import tile_counts
from aop.ledger.model import Writer
from aop.ledger.months import Month
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.sequence.store import sequence_end
from aop.ledger.tree.store import newest_head
from aop.ledger.write.epochs import open_epoch
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
LENGTH = timedelta(days=14)
"""Over which the calls of a month are spread."""
CANCELS = 100
"""Of so many calls one was asked to cancel."""
_TOLD_SECONDS = 60
_FENCED = ("invocation", "event", "cancel_request")

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
_SEEDED = "SELECT coalesce(max(position), 0) FROM ledger.invocation WHERE router_id = 'seed' AND epoch = 1"


def months_until(now: datetime, count: int) -> Sequence[Month]:
    """The oldest first; the last is that of now."""
    months = [Month.of(now)]
    while len(months) < count:
        before = datetime.combine(months[0].first_day, datetime.min.time(), UTC) - timedelta(days=1)
        months.insert(0, Month.of(before))
    return months


def month_begin(month: Month) -> datetime:
    return datetime.combine(month.first_day, datetime.min.time(), UTC)


async def seed_months(url: str, months: Sequence[tuple[Month, int]], now: datetime) -> None:
    """So many calls in each of these months that follow each other, several at a time. Past the fences and foreign
    keys, which would only make it slower; they stand again afterwards."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET session_replication_role = replica")
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    position = await connection.fetchval(_SEEDED)
    filled = list[Awaitable[None]]()
    for month, calls in months:
        if await connection.fetchval("SELECT to_regclass($1) IS NULL", f"ledger.{month.partition('event')}"):
            await connection.execute(f"SET ROLE {OWNER_ROLE}")
            await connection.execute("SELECT ledger.make_month($1)", month.first_day)
            await connection.execute("RESET ROLE")
        filled.append(_fill(url, month, (position, position + calls), now))
        position += calls
    await asyncio.gather(*filled)
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("RESET session_replication_role")
    await require_store(connection, "ledger")
    await connection.execute("VACUUM (ANALYZE)")
    await connection.execute("CHECKPOINT")
    await connection.close()


async def _fill(url: str, month: Month, positions: tuple[int, int], now: datetime) -> None:
    """Evenly over the last days of the month as far as it is over, so that each month has as many calls an hour."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET session_replication_role = replica")
    first, past = positions
    end = min(month_begin(month.next), now)
    begin = max(end - LENGTH, month_begin(month))
    step = (end - begin) / ((past - first) // CALLS_PER_TRACE + 1)
    await connection.execute(_CALLS, first, past, begin, step)
    seeded = (
        f"(SELECT * FROM ledger.{month.partition('invocation')}"  # noqa: S608
        f" WHERE router_id = 'seed' AND position > {first}) AS seeded"
    )
    for statement in (_ENDS, _CANCELS):
        await connection.execute(statement.replace("ledger.{partition}", seeded))
    await connection.close()


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
        writer = Writer("sequencer", await open_epoch(connection, "sequencer"))
        sequencer = Sequencer(connected, writer, pause_seconds=0)
        await connection.close()
        while True:
            await sequencer.turn()

    uvloop.run(work())


async def all_counted(connection: Connection, tell: Callable[[str], None]) -> None:
    """Waits until every call has its number, is in the tree, and is in a tile of figures as far as those are full."""
    calls = await connection.fetchval("SELECT count(*) FROM ledger.invocation WHERE router_id = 'benchmark'")
    events = (calls + await connection.fetchval(_SEEDED)) * EVENTS_PER_CALL
    told = time.monotonic()
    while True:
        end, tiles = await sequence_end(connection), (await tile_counts(connection)).tiles
        head = await newest_head(connection)
        in_tree = 0 if head is None else head.size
        if min(end.past, in_tree) >= events and tiles >= events // NUMBERS_IN_TILE:
            return
        if time.monotonic() - told > _TOLD_SECONDS:
            told = time.monotonic()
            tell(f"{end.past / 1e6:.2f} of {events / 1e6:g} M events have numbers, {in_tree / 1e6:.2f} are in the tree")
        await asyncio.sleep(0.2)
