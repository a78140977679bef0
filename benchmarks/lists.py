"""What lists of a large Workspace cost, also with filters that match nothing, and what their indexes add to writes."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import uvloop

from aop.base import assets
from aop.base.clock import utc_now
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import InvocationOrder, InvocationStatus
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, Position, RecordFilter
from aop.ledger.write.journal import Journal
from aop.store.database import Connection, Database
from benchmarks._root_tasks import root_task
from benchmarks.ledger import load, open_journal, stored_ledger
from benchmarks.measure import Figure, Report

CALLS = 1_000_000
"""Of one Workspace in a week: five of each Trace, one in eight not succeeding."""
SPACE = "space"
LIMIT = 25
REPEATS = 9
ROUNDS = 3
LIMIT_MILLIS = 300.0
LIMIT_WRITES = 1.15
_MIGRATION = Path("ledger") / "0008_lists.sql"
_INDEXES = ("invocation_roots", "event_by_latency", "event_by_code", "event_by_reason")

_SEED = f"""
INSERT INTO ledger.invocation
SELECT lpad(to_hex(number), 32, '0')::uuid, {root_task("begun", "'task' || root")}, md5('trace' || root)::uuid,
       CASE WHEN number > root THEN lpad(to_hex(root), 32, '0')::uuid END,
       CASE WHEN number > root THEN 'started' END, CASE WHEN number > root THEN begun END,
       CASE WHEN number > root THEN 'agent' ELSE 'user' END, CASE WHEN number > root THEN 'acme:0' ELSE 'alice' END,
       $2, 'acme:' || number % 50, '1.0.0', md5('release')::uuid, sha256('card'), 'skill-' || number % 7, 'seed', 1,
       number + 1, 'started', gen_random_uuid(), begun, begun + interval '60 s'
  FROM (SELECT number, number - number % 5 AS root,
               now() - interval '7 days' + (number - number % 5) * interval '7 days' / $1 AS begun
          FROM generate_series(0, $1::bigint - 1) AS number) AS given
"""  # noqa: S608
_SEED_ENDS = """
INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, opening, trace_id,
       root_task_id, workspace_id, created_at, latency_ms, error_code, reason, router_id, epoch)
SELECT invocation_id, 3, gen_random_uuid(), created_at + latency * interval '1 ms', ending[1], 'running', opening,
       trace_id, root_task_id, workspace_id, created_at, latency, ending[2], ending[3], 'seed', 1
  FROM (SELECT *, floor(-120 * ln(1 - random()))::bigint AS latency,
               CASE WHEN position % 8 > 0 THEN ARRAY['succeeded', NULL, NULL]
                    WHEN position % 16 > 0 THEN ARRAY['failed', 'AGENT_UNAVAILABLE', 'connect_failed']
                    WHEN position % 32 > 0 THEN ARRAY['timed_out', 'TIMEOUT', NULL]
                    ELSE ARRAY['canceled', 'CANCELED', NULL] END AS ending
          FROM ledger.invocation WHERE router_id = 'seed') AS called
"""


def run(calls: int = CALLS) -> Report:
    return uvloop.run(_run(calls))


async def _run(calls: int) -> Report:
    async with stored_ledger() as (server, url), open_journal(url) as journal:
        connection = await asyncpg.connect(url)
        await _seed(connection, calls)
        kept, dropped, seconds = await _writes(connection, journal, server.pid)
        await connection.execute("VACUUM ANALYZE")
        await connection.close()
        database = await Database.open(url, size=2, application="benchmark")
        for part in (4, 2, 1):  # a checkpoint counts what it settles, within the time of a statement
            await journal.checkpoint(database, journal.settled_before // part)
        rows = [await _row(LedgerReader(database), name, read) for name, read in _reads().items()]
        await database.close()
    return Report(
        "lists",
        f"a Workspace of {calls:,} Invocations; CPU of an Invocation's writes {kept:.0f} µs with the indexes of the"
        f" lists and {dropped:.0f} µs without; the indexes were built in {seconds:.0f} s",
        rows,
        {
            f"every first page at most {LIMIT_MILLIS:.0f} ms": max(float(row["ms"]) for row in rows) <= LIMIT_MILLIS,
            f"writes at most {LIMIT_WRITES} times as dear": kept / dropped <= LIMIT_WRITES,
        },
    )


def _reads() -> dict[str, tuple[bool, ListRead]]:
    """Whether it is of Traces, and the read."""
    hour, day = (utc_now() - timedelta(hours=length) for length in (1, 24))
    nothing = "acme:never-called"
    filters = {
        "all": RecordFilter(),
        "roots": RecordFilter(root=True),
        "children of one Agent": RecordFilter(root=False, agent_id="acme:7"),
        "an Agent that was never called": RecordFilter(agent_id=nothing),
        "a caller that never called": RecordFilter(caller_id="nobody"),
        "failed": RecordFilter(status=InvocationStatus.FAILED),
        "failed, of an Agent that was never called": RecordFilter(status=InvocationStatus.FAILED, agent_id=nothing),
        "running": RecordFilter(status=InvocationStatus.RUNNING),
        "a code": RecordFilter(error_code=ErrorCode.AGENT_UNAVAILABLE),
        "a code that never occurred": RecordFilter(error_code=ErrorCode.INTERNAL_ERROR),
        "a reason": RecordFilter(reason=Reason.CONNECT_FAILED),
        "last hour": RecordFilter(since=hour),
        "last day": RecordFilter(since=day),
    }
    by_order = {
        name + ("" if order is InvocationOrder.NEWEST else ", slowest"): (False, ListRead(SPACE, LIMIT, kept, order))
        for order in InvocationOrder
        for name, kept in filters.items()
    }
    traces = {name: replace(by_order[name][1]) for name in ("all", "failed", "all, slowest", "last hour, slowest")}
    return {**by_order, **{f"Traces: {name}": (True, read) for name, read in traces.items()}}


async def _row(ledger: LedgerReader, name: str, read: tuple[bool, ListRead]) -> Mapping[str, Figure]:
    of_traces, first = read
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        items, last = await _page(ledger, of_traces, first)
        times.append((time.perf_counter() - begun) * 1000)
    pages, begun = 1, time.perf_counter()
    while not items and last is not None:
        items, last = await _page(ledger, of_traces, replace(first, after=last))
        pages += 1
    whole = (time.perf_counter() - begun) * 1000
    return {
        "list": name,
        "ms": f"{statistics.median(times):.1f}",
        "pages until an item or the end": pages,
        "ms for them": f"{whole:.0f}" if pages > 1 else "",
    }


async def _page(ledger: LedgerReader, of_traces: bool, read: ListRead) -> tuple[int, Position | None]:
    if of_traces:
        traces = await ledger.traces(read)
        return len(traces.items), traces.last
    page = await ledger.page(read)
    return len(page.items), page.last


async def _seed(connection: Connection, calls: int) -> None:
    """Past the foreign keys and the fence, which would only make it slower."""
    await connection.execute("SET session_replication_role = replica")
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    await connection.execute(_SEED, calls, SPACE)
    await connection.execute(_SEED_ENDS)
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_fenced")
    await connection.execute("RESET session_replication_role")


async def _writes(connection: Connection, journal: Journal, postmaster: int) -> tuple[float, float, float]:
    """CPU microseconds of an Invocation's writes with the indexes and without, and the seconds of building them."""
    build = (assets.folder("migrations") / _MIGRATION).read_text("utf-8")
    kept, dropped, seconds = list[float](), list[float](), list[float]()
    await connection.execute("VACUUM ANALYZE")
    await load(journal, postmaster)
    for _ in range(ROUNDS):
        kept += [(await load(journal, postmaster)).cpu for _ in range(ROUNDS)]
        for index in _INDEXES:
            await connection.execute(f"DROP INDEX ledger.{index}")
        dropped += [(await load(journal, postmaster)).cpu for _ in range(ROUNDS)]
        begun = time.perf_counter()
        await connection.execute(build)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(kept), statistics.median(dropped), statistics.median(seconds)
