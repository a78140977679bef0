"""What the tree over the Ledger costs for each event, and how long the proof of one Invocation takes."""

import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from random import Random

import asyncpg
import uvloop

from aop.base.clock import utc_now
from aop.ledger.sequence.store import prepare
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.reader import TreeReader
from aop.ledger.write.epochs import open_epoch
from aop.local.postgres import EmbeddedPostgres
from aop.serving.unit.unit import tune_gc
from aop.store.database import Database, connect
from aop.store.migrations import migrate
from benchmarks.figures import _SEED, _SEED_ENDS, _SERVER, EVENTS_PER_CALL
from benchmarks.measure import Report, store_cpu_nanos

CALLS = 250_000
"""A million events; `./dev bench tree --calls N` takes another number of calls."""
BATCH = 2_000
PROOFS = 300
LIMIT_MICROS, LIMIT_BYTES, LIMIT_MILLIS = 15.0, 90.0, 20.0
DIGEST_BYTES = 36
"""Of what permitted a call, in its row: 32 and a head."""
_TABLES = ("tree_tile", "tree_head")
_FENCED = ("invocation", "event", "numbering", "number")
_NUMBER = """
INSERT INTO ledger.number (number, invocation_id, sequence, events, is_terminal, workspace_id, root_task_id)
SELECT (position - 1) * 4, invocation_id, 0, 3, false, workspace_id, root_task_id FROM ledger.invocation
UNION ALL
SELECT (position - 1) * 4 + 3, invocation_id, 3, 1, true, workspace_id, root_task_id FROM ledger.invocation
"""
_NUMBERING = """
INSERT INTO ledger.numbering (first, past, settled, router_id, epoch)
SELECT first, least(first + $2, $1), first, 'seed', 1
  FROM generate_series(0::bigint, $1::bigint - 1, $2::bigint) AS first
"""


def run(calls: int = CALLS) -> Report:
    return uvloop.run(_run(calls))


async def _run(calls: int) -> Report:
    events = calls * EVENTS_PER_CALL
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log", settings=_SERVER) as server:
            url = server.url(database="postgres")
            await migrate(url)
            await _seed(url, calls)
            tune_gc()
            own, store, size = await _grow(url, server.pid, events)
            millis = await _prove(url, calls)
    p95 = statistics.quantiles(millis, n=20)[-1]
    return Report(
        "tree",
        f"{events:,} events; µs of CPU and bytes for each event, ms for the proof of one Invocation",
        [
            {
                "sequencer µs": own,
                "PostgreSQL µs": store,
                "bytes": size,
                "proof p50 ms": statistics.median(millis),
                "proof p95 ms": p95,
            }
        ],
        {
            f"an event takes at most {LIMIT_MICROS:.0f} µs of CPU": own + store <= LIMIT_MICROS,
            f"an event takes at most {LIMIT_BYTES:.0f} bytes": size <= LIMIT_BYTES,
            f"a proof takes at most {LIMIT_MILLIS:.0f} ms at p95": p95 <= LIMIT_MILLIS,
        },
    )


async def _seed(url: str, calls: int) -> None:
    """Calls with their numbers, in SQL alone: past the fences, which would only make it slower."""
    connection = await asyncpg.connect(url)
    await open_epoch(connection, "seed")
    await connection.execute("SET session_replication_role = replica")
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    permitted = _SEED.replace("at + interval '60 s'", "at + interval '60 s', sha256('permitted')")
    await connection.execute(permitted, 1, calls, utc_now() - timedelta(days=1), timedelta(days=1) / (calls + 1))
    await connection.execute(_SEED_ENDS, 1, calls)
    await connection.execute(_NUMBER)
    await connection.execute(_NUMBERING, calls * EVENTS_PER_CALL, BATCH)
    for table in _FENCED:
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()


async def _grow(url: str, postmaster: int, events: int) -> tuple[float, float, float]:
    """Of each event: CPU of the sequencer and of the store, and bytes. One batch at a time, as the sequencer does."""
    connection = await connect(url, application="benchmark")
    await prepare(connection)
    growth = await TreeGrowth.resumed(connection)
    own, store = time.process_time_ns(), store_cpu_nanos(postmaster)
    while growth.size < events:
        await growth.grow(min(events, growth.size + BATCH))
    own, store = time.process_time_ns() - own, store_cpu_nanos(postmaster) - store
    sizes = [await connection.fetchval(f"SELECT pg_total_relation_size('ledger.{table}')") for table in _TABLES]
    await connection.close()
    return own / 1000 / events, store / 1000 / events, sum(sizes) / events + DIGEST_BYTES / EVENTS_PER_CALL


async def _prove(url: str, calls: int) -> list[float]:
    """Of Invocations at random, each by the statements that the Router uses."""
    random, millis = Random(24), list[float]()
    database = await Database.open(url, size=1, application="benchmark")
    reader = TreeReader(database)
    try:
        async with database.connection() as connection:
            names = await connection.fetch(
                "SELECT invocation_id FROM ledger.invocation"
                " WHERE router_id = 'seed' AND epoch = 1 AND position = ANY($1)",
                random.sample(range(1, calls + 1), PROOFS),
            )
        for row in names:
            began = time.perf_counter()
            assert await reader.of_invocation("space", f"inv_{row[0].hex}") is not None
            millis.append((time.perf_counter() - began) * 1000)
    finally:
        await database.close()
    return millis
