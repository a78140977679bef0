"""What is measured at each size of a Ledger in months: writes, lists, Traces, figures and reads by an id alone."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from aop.contracts.errors import ErrorCode
from aop.contracts.figures import Window
from aop.contracts.lineage import InvocationOrder, InvocationStatus
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.months import Month
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, RecordFilter
from aop.ledger.sequence.feed import FeedReader
from aop.ledger.tree.reader import TreeReader
from aop.ledger.write.journal import Journal
from aop.store.database import Connection, Database
from benchmarks._growth_seed import SPACE
from benchmarks.ledger import _context, _invocation, load
from benchmarks.measure import store_cpu_nanos

LONE = 300
ROUNDS = 3
WARM, REPEATS = 7, 15
LIMIT = 50
SKIPPED = 50
"""Traces that are newer than the sample, as it is not one that lists have just read."""
Read = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Sample:
    """A call of a month, by its ids alone."""

    invocation: str
    trace: str


async def sample_of(connection: Connection, month: Month) -> Sample:
    row = await connection.fetchrow(
        f"SELECT invocation_id, trace_id FROM ledger.{month.partition('invocation')}"  # noqa: S608
        " WHERE workspace_id = $1 AND router_id = 'seed' AND parent_invocation_id IS NULL"
        f" ORDER BY created_at DESC, invocation_id DESC OFFSET {SKIPPED} LIMIT 1",
        SPACE,
    )
    return Sample(f"inv_{row[0].hex}", row[1].hex)


async def writes(journal: Journal, postmaster: int) -> dict[str, float]:
    """Of one Invocation, accepted and ended: alone, and with 64 callers."""
    lone, store = list[float](), store_cpu_nanos(postmaster)
    for _ in range(LONE):
        begun = time.perf_counter()
        await _invocation(journal, _context())
        lone.append((time.perf_counter() - begun) * 1000)
    store = store_cpu_nanos(postmaster) - store
    many = [await load(journal, postmaster) for _ in range(ROUNDS)]
    return {
        "lone write, ms": statistics.median(lone),
        "lone write, store µs": store / 1000 / LONE,
        "write among 64, store µs": statistics.median(cost.store for cost in many),
        "write among 64, all µs": statistics.median(cost.cpu for cost in many),
        "events/s": max(cost.events_per_second for cost in many),
    }


async def reads(database: Database, postmaster: int, samples: Mapping[str, Sample], now: datetime) -> dict[str, float]:
    """Of each, ms of CPU of the reader and the store together."""
    ledger, figures, tree = LedgerReader(database), FiguresReader(database), TreeReader(database)
    named: dict[str, Read] = {
        **_lists(ledger, now),
        "figures, an hour by minutes": lambda: figures.read(SPACE, _window(now, timedelta(hours=1), 60)),
        "figures, a day by hours": lambda: figures.read(SPACE, _window(now, timedelta(days=1), 3600)),
        "figures, 14 days by 6 hours": lambda: figures.read(SPACE, _window(now, timedelta(days=14), 21_600)),
        "the newest head, as the status has it": tree.head,
        "the feed from its beginning, 50 events": lambda: FeedReader(database).read(SPACE, None, LIMIT),
    }
    for name, sample in samples.items():
        named[f"an id of {name}"] = partial(ledger.detail, SPACE, sample.invocation)
        named[f"a Trace of {name}"] = partial(ledger.trace, SPACE, sample.trace)
    return {name: await _cpu_millis(read, postmaster) for name, read in named.items()}


def _lists(ledger: LedgerReader, now: datetime) -> dict[str, Read]:
    filters = {
        "newest": RecordFilter(),
        "failed": RecordFilter(status=InvocationStatus.FAILED),
        "a code": RecordFilter(error_code=ErrorCode.TIMEOUT),
        "an Agent never called": RecordFilter(agent_id="acme:never-called"),
        "before 7 days": RecordFilter(until=now - timedelta(days=7)),
    }
    found: dict[str, Read] = {}
    for name, kept in filters.items():
        found[f"list, {name}"] = partial(ledger.page, ListRead(SPACE, LIMIT, kept))
    found["list, slowest"] = lambda: ledger.page(ListRead(SPACE, LIMIT, RecordFilter(), InvocationOrder.SLOWEST))
    found["Traces, newest"] = lambda: ledger.traces(ListRead(SPACE, LIMIT, RecordFilter()))
    return found


def _window(now: datetime, length: timedelta, step: int) -> Window:
    until = now.replace(minute=0, second=0, microsecond=0)
    return Window(until - length, until, step)


async def _cpu_millis(read: Read, postmaster: int) -> float:
    for _ in range(WARM):  # plans are made, and the pages are in memory
        assert await read() is not None
    busy = time.process_time_ns() + store_cpu_nanos(postmaster)
    for _ in range(REPEATS):
        await read()
    return (time.process_time_ns() + store_cpu_nanos(postmaster) - busy) / 1e6 / REPEATS
