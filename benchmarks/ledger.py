"""What the Ledger costs: appends at 64 callers, their CPU time in the writer and in PostgreSQL, growth, and reads."""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg
import uvloop

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id, new_id, new_opening_id
from aop.base.loops import Loops
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.ledger.model import SUCCEEDED, Acceptance, Opening, Writer, terminal_fact
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead
from aop.ledger.write.epochs import open_epoch
from aop.ledger.write.journal import Journal
from aop.local.postgres import EmbeddedPostgres
from aop.store.database import Connection, Database, connect
from aop.store.migrations import migrate
from benchmarks._root_tasks import root_task
from benchmarks.measure import Figure, Plot, Report, Series, store_cpu_nanos

CALLERS = 64
EACH = 60
ROUNDS = 5
SIZES = (1_000_000, 2_500_000, 5_000_000, 10_000_000)
"""In events; the Ledger grows from one to the next and is measured at each."""
EVENTS_PER_INVOCATION = 4
"""created, routing, started and the terminal."""
TRACE = 1000
TARGET_EVENTS_PER_SECOND = 15_000
LIMIT_DETAIL_MILLIS = 2.0
LIMIT_TRACE_MILLIS = 50.0
LIMIT_GROWTH = 1.3

_DETAIL, _TRACE, _LIST = "detail", f"Trace of {TRACE}", "list of 50"

_SEED = f"""
INSERT INTO ledger.invocation SELECT id, {root_task("at")}, gen_random_uuid(), NULL, NULL, NULL, 'user', 'alice',
       'space-' || number % 50, 'acme:agent', '1.0.0', gen_random_uuid(), sha256('card'), 'work', 'seed', 1, number,
       'started', gen_random_uuid(), at, at + interval '60 s'
  FROM (SELECT number, gen_random_uuid() AS id, now() - interval '30 days' + number * interval '1 s' AS at
          FROM generate_series($1::bigint, $2::bigint) AS number) AS given
"""  # noqa: S608
_SEED_ENDS = """
INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, opening, trace_id,
       root_task_id, workspace_id, created_at, latency_ms, error_code, router_id, epoch)
SELECT invocation_id, 3, gen_random_uuid(), created_at, 'succeeded', 'running', opening, trace_id, root_task_id,
       workspace_id, created_at, 0, NULL, 'seed', 1 FROM ledger.invocation
 WHERE router_id = 'seed' AND position BETWEEN $1 AND $2
"""


@dataclass(frozen=True)
class Cost:
    """Of one Invocation, accepted and ended; CPU in microseconds, speed in events of the contract."""

    events_per_second: float
    writer: float
    store: float

    @property
    def cpu(self) -> float:
        return self.writer + self.store


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stored_ledger() as (server, url), open_journal(url) as journal:
        await load(journal, server.pid)
        costs, reads = [(0, await _median(journal, server.pid))], [(0, await _reads(journal, url))]
        for size in SIZES:
            await _seed(url, costs[-1][0], size)
            costs.append((size, await _median(journal, server.pid)))
            reads.append((size, await _reads(journal, url)))
    return Report(
        "ledger",
        f"per Invocation, {CALLERS} callers",
        [_row(size, cost, millis) for (size, cost), (_, millis) in zip(costs, reads, strict=True)],
        _targets(costs[0][1], costs[-1][1], reads[-1][1]),
        _plots(costs, reads),
    )


def _targets(empty: Cost, full: Cost, millis: Mapping[str, float]) -> dict[str, bool]:
    most = f"{SIZES[-1] // 1_000_000} M events"
    return {
        f"at least {TARGET_EVENTS_PER_SECOND} events/s at {most}": full.events_per_second >= TARGET_EVENTS_PER_SECOND,
        f"cost per append grows less than {LIMIT_GROWTH:.1f} times to {most}": full.cpu / empty.cpu < LIMIT_GROWTH,
        f"detail read at most {LIMIT_DETAIL_MILLIS:.0f} ms": millis[_DETAIL] <= LIMIT_DETAIL_MILLIS,
        f"Trace of {TRACE} at most {LIMIT_TRACE_MILLIS:.0f} ms": millis[_TRACE] <= LIMIT_TRACE_MILLIS,
    }


def _plots(costs: Sequence[tuple[int, Cost]], reads: Sequence[tuple[int, Mapping[str, float]]]) -> list[Plot]:
    sizes = [float(size) for size, _ in costs]
    cost = [
        Series("writer", [(size, cost.writer) for size, cost in costs]),
        Series("PostgreSQL", [(size, cost.store) for size, cost in costs]),
    ]
    read = [Series(name, [(size, millis[name]) for size, millis in reads]) for name in (_DETAIL, _TRACE, _LIST)]
    return [
        Plot("growth", "CPU of an Invocation's writes by size of the Ledger", "events", "µs", cost, marks_x=sizes),
        Plot("reads", "Reads by size of the Ledger", "events", "ms", read, marks_x=sizes),
    ]


def _row(size: int, cost: Cost, millis: Mapping[str, float]) -> Mapping[str, Figure]:
    return {
        "events in the Ledger": f"{size / 1_000_000:g} M",
        "events/s": round(cost.events_per_second),
        "writer CPU µs": cost.writer,
        "store CPU µs": cost.store,
        **{f"{name}, ms": f"{value:.2f}" for name, value in millis.items()},
    }


@asynccontextmanager
async def stored_ledger() -> AsyncIterator[tuple[EmbeddedPostgres, str]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log") as server:
            url = server.url(database="postgres")
            await migrate(url)
            yield server, url


@asynccontextmanager
async def open_journal(url: str) -> AsyncIterator[Journal]:
    async def connected() -> Connection:
        return await connect(url, application="benchmark")

    connection = await connected()
    epoch = await open_epoch(connection, "benchmark")
    await connection.close()
    journal = Journal(
        Writer("benchmark", epoch), connected, utc_now, write_seconds=30, fenced=lambda: None
    )  # nobody else is here
    journal.start(Loops(lambda _: lambda _: None))
    try:
        yield journal
    finally:
        await journal.close()


def _context(parent: InvocationContext | None = None) -> InvocationContext:
    invocation = new_id("inv")
    if parent is None:
        lineage = Lineage(invocation, new_id("task"), os.urandom(16).hex())
        caller = Caller(type=CallerType.USER, id="alice")
    else:
        above = parent.lineage
        lineage = Lineage(invocation, above.root_task, above.trace, above.invocation, above.depth + 1)
        caller = Caller(type=CallerType.AGENT, id=parent.pin.agent)
    pin = Pin("space", "acme:agent", "1.0.0", f"rel_{1:032x}", "0" * 64)
    return InvocationContext(lineage, pin, caller, "work")


def _acceptance(context: InvocationContext) -> Acceptance:
    now = utc_now()
    return Acceptance(context, Opening.STARTED, new_opening_id(), now, now + timedelta(seconds=60))


async def _invocation(journal: Journal, context: InvocationContext) -> None:
    place = await journal.accept(_acceptance(context))
    assert await journal.end(terminal_fact(place, new_hex_id(), utc_now(), SUCCEEDED))


async def load(journal: Journal, postmaster: int) -> Cost:
    async def caller() -> None:
        for _ in range(EACH):
            await _invocation(journal, _context())

    before, store, begun = time.process_time_ns(), store_cpu_nanos(postmaster), time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    seconds = time.perf_counter() - begun
    calls = CALLERS * EACH
    return Cost(
        calls * EVENTS_PER_INVOCATION / seconds,
        (time.process_time_ns() - before) / 1000 / calls,
        (store_cpu_nanos(postmaster) - store) / 1000 / calls,
    )


async def _median(journal: Journal, postmaster: int) -> Cost:
    costs = [await load(journal, postmaster) for _ in range(ROUNDS)]
    return Cost(
        max(cost.events_per_second for cost in costs),
        statistics.median(cost.writer for cost in costs),
        statistics.median(cost.store for cost in costs),
    )


async def _seed(url: str, before: int, after: int) -> None:
    """Past the foreign keys and the fence, which would only make it slower."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET session_replication_role = replica")
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    first, last = before // EVENTS_PER_INVOCATION + 1, after // EVENTS_PER_INVOCATION
    await connection.execute(_SEED, first, last)
    await connection.execute(_SEED_ENDS, first, last)
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()


async def _reads(journal: Journal, url: str) -> dict[str, float]:
    root = _context()
    place = await journal.accept(_acceptance(root))
    await asyncio.gather(*(_invocation(journal, _context(root)) for _ in range(TRACE - 1)))
    assert await journal.end(terminal_fact(place, new_hex_id(), utc_now(), SUCCEEDED))
    database = await Database.open(url, size=2, application="benchmark")
    ledger = LedgerReader(database)
    named: dict[str, Callable[[], Awaitable[object]]] = {
        _DETAIL: lambda: ledger.detail("space", root.lineage.invocation),
        _TRACE: lambda: ledger.trace("space", root.lineage.trace),
        _LIST: lambda: ledger.page(ListRead("space", 50)),
    }
    found = {name: await _millis(read) for name, read in named.items()}
    await database.close()
    return found


async def _millis(read: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(25):
        begun = time.perf_counter()
        assert await read() is not None
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)
