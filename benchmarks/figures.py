"""What the sequence costs for each event, and how long the figures of a Workspace with a million Invocations take."""

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import asyncpg
import msgspec
import uvloop

from aop.base.clock import utc_now
from aop.contracts.figures import Window
from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.figures.tiles import tile_counts
from aop.ledger.model import Writer
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.write.epochs import open_epoch
from aop.local.postgres import EmbeddedPostgres
from aop.serving.unit.unit import tune_gc
from aop.store.database import Connection, Database, connect
from aop.store.migrations import migrate
from benchmarks._root_tasks import root_task
from benchmarks.measure import Figure, Report, store_cpu_nanos

CALLS = 1_000_000
HOURS = 24
EVENTS_PER_CALL = 4
"""created, routing, started and the terminal."""
RUNNING = 20
"""The last ones have no terminal yet."""
WINDOWS = 200
LIMIT_MILLIS = 50.0
SPACE = "space"
_SERVER = {"shared_buffers": "1GB"}
"""A part of the memory as operators give it to a store of this size; the local platform's own takes 128 MB."""
_TABLES = ("numbering", "number", "numbered_position", "figure_key", "figure_tile", "figure")

_SEED = f"""
INSERT INTO ledger.invocation SELECT {root_task("at", "'call' || number")}, {root_task("at")}, gen_random_uuid(),
       NULL, NULL, NULL, 'user', 'alice', 'space', 'acme:agent-' || number % 10, '1.0.0', gen_random_uuid(),
       sha256('card'), 'skill-' || number / 10 % 2, 'seed', 1, number, 'started', gen_random_uuid(), at,
       at + interval '60 s'
  FROM (SELECT number, $3::timestamptz + number * $4::interval AS at
          FROM generate_series($1::bigint, $2::bigint) AS number) AS given
"""  # noqa: S608
_SEED_ENDS = """
INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, opening, trace_id,
       root_task_id, workspace_id, created_at, latency_ms, error_code, reason, router_id, epoch)
SELECT invocation_id, 3, gen_random_uuid(), created_at + latency * interval '1 ms',
       CASE position % 25 WHEN 0 THEN 'failed' WHEN 1 THEN 'failed' WHEN 2 THEN 'timed_out' ELSE 'succeeded' END,
       'running', opening, trace_id, root_task_id, workspace_id, created_at, latency,
       CASE position % 25 WHEN 0 THEN 'AGENT_UNAVAILABLE' WHEN 1 THEN 'AGENT_EXECUTION_FAILED'
                          WHEN 2 THEN 'TIMEOUT' END,
       CASE position % 25 WHEN 0 THEN 'connect_failed' WHEN 1 THEN 'task_failed' END, 'seed', 1
  FROM (SELECT *, floor(exp(5 + 1.2 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::bigint AS latency
          FROM ledger.invocation WHERE router_id = 'seed' AND position BETWEEN $1 AND $2 OFFSET 0) AS opened
"""


@dataclass(frozen=True)
class _Sequenced:
    """Of each event: CPU in microseconds, and bytes in the store."""

    sequencer: float
    store: float
    bytes: float


def run(calls: int = CALLS) -> Report:
    return uvloop.run(_run(calls))


async def _run(calls: int) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log", settings=_SERVER) as server:
            url = server.url(database="postgres")
            await migrate(url)
            begin = utc_now().replace(second=0, microsecond=0) - timedelta(hours=HOURS)
            await _seed(url, begin, calls)
            sequenced = await _sequence(url, server.pid, calls * EVENTS_PER_CALL - RUNNING)
            tune_gc()
            reads = await _reads(url, begin, server.pid)
    rows: list[Mapping[str, Figure]] = [
        {"read": name, "p50": statistics.median(taken.millis), "p95": _p95(taken.millis), "CPU": taken.cpu_millis}
        for name, taken in reads.items()
    ]
    slowest = max(_p95(taken.millis) for taken in reads.values())
    return Report(
        "figures",
        f"ms, CPU of reader and store together; {calls:,} Invocations of one Workspace in {HOURS} h;"
        f" the number of an event took {sequenced.sequencer:.1f} µs of the sequencer, {sequenced.store:.1f} µs of"
        f" PostgreSQL and {sequenced.bytes:.0f} bytes",
        rows,
        {f"every read takes at most {LIMIT_MILLIS:.0f} ms at p95": slowest <= LIMIT_MILLIS},
    )


async def _seed(url: str, begin: datetime, calls: int) -> None:
    """Past the foreign keys and the fence, which would only make it slower."""
    connection = await asyncpg.connect(url)
    await open_epoch(connection, "seed")
    await connection.execute("SET session_replication_role = replica")
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    await connection.execute(_SEED, 1, calls, begin, timedelta(hours=HOURS) / (calls + 1))
    await connection.execute(_SEED_ENDS, 1, calls - RUNNING)
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()


async def _sequence(url: str, postmaster: int, events: int) -> _Sequenced:
    """An old Ledger without numbers, until all of it has them and is counted."""

    async def connected() -> Connection:
        return await connect(url, application="benchmark")

    connection = await connected()
    sequencer = Sequencer(connected, Writer("benchmark", await open_epoch(connection, "benchmark")), pause_seconds=0)
    own, store = time.process_time_ns(), store_cpu_nanos(postmaster)
    while (await connection.fetchval("SELECT max(past) FROM ledger.numbering") or 0) < events:
        await sequencer.turn()
    while (await tile_counts(connection)).tiles < events // NUMBERS_IN_TILE:
        await sequencer.turn()
    await sequencer.turn()  # the last tile may have filled one of level 1
    own, store = time.process_time_ns() - own, store_cpu_nanos(postmaster) - store
    sizes = [await connection.fetchval(f"SELECT pg_total_relation_size('ledger.{table}')") for table in _TABLES]
    await connection.close()
    return _Sequenced(own / 1000 / events, store / 1000 / events, sum(sizes) / events)


async def _reads(url: str, begin: datetime, postmaster: int) -> "dict[str, _Taken]":
    random, hour, day = Random(1), timedelta(hours=1), timedelta(hours=HOURS)
    named = {
        "an hour by minutes": [_window(random, begin, hour, 60) for _ in range(WINDOWS)],
        "a day by 5 minutes": [Window(begin, begin + day, 300)] * (WINDOWS // 4),
        "a day by hours": [Window(begin, begin + day, 3600)] * (WINDOWS // 4),
        "random windows": [_any_window(random, begin) for _ in range(WINDOWS)],
    }
    database = await Database.open(url, size=2, application="benchmark")
    try:
        reader = FiguresReader(database)
        return {name: await _timed(reader, windows, postmaster) for name, windows in named.items()}
    finally:
        await database.close()


def _window(random: Random, begin: datetime, length: timedelta, step: int) -> Window:
    room = HOURS * 60 - length // timedelta(minutes=1)
    since = begin + timedelta(minutes=random.randrange(room + 1))
    return Window(since, since + length, step)


def _any_window(random: Random, begin: datetime) -> Window:
    minutes = random.randrange(1, HOURS * 60)
    least = -(-minutes // 400)
    return _window(random, begin, timedelta(minutes=minutes), 60 * random.randrange(least, least + 60))


@dataclass(frozen=True)
class _Taken:
    millis: list[float]
    cpu_millis: float
    """Of one, on average."""


async def _timed(reader: FiguresReader, windows: Sequence[Window], postmaster: int) -> _Taken:
    """With the bytes of the answer."""
    for window in windows[:5]:
        await reader.read(SPACE, window)
    millis, busy = list[float](), time.process_time_ns() + store_cpu_nanos(postmaster)
    for window in windows:
        begun = time.perf_counter()
        msgspec.json.encode(await reader.read(SPACE, window))
        millis.append((time.perf_counter() - begun) * 1000)
    busy = time.process_time_ns() + store_cpu_nanos(postmaster) - busy
    return _Taken(millis, busy / 1e6 / len(windows))


def _p95(seen: list[float]) -> float:
    return statistics.quantiles(seen, n=20)[-1]
