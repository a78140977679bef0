"""What workers cost and bring: CPU per invocation with 1, 2 and 4 of them, and calls per second when each has less.

Twice: with as many callers for each worker, which is why one adds workers, and with as many in all. Writes that come
together share a commit, so fewer callers for each worker make a call dearer with one worker too. The targets are of the
first; the second is shown beside it. The three run side by side and are measured in turns, because the speed of a
machine changes from minute to minute.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import uvloop

from aop.net.http import HttpClient
from benchmarks._calls import Calls, many
from benchmarks._quota import NoQuota, limited
from benchmarks._stream_platform import StreamPlatform
from benchmarks._units import surroundings, units, workers_of
from benchmarks.measure import Figure, Report, cpu_nanos, store_cpu_nanos

WORKERS = (1, 2, 4)
ROUNDS = 8
QUOTA_ROUNDS = 3
CALLERS = 64
CALLS = 1280
QUOTA = 0.2
LIMIT_CPU = 1.18
LIMIT_THROUGHPUT = 0.85
# In it the Ledger numbers what is written. That is part of what a call costs.
_SETTLING_SECONDS = 0.5


@dataclass(frozen=True)
class _Turn:
    """One load of units with so many workers."""

    cpu: float
    """Microseconds for each call."""
    per_second: float
    """Calls, everything on this machine."""
    least_busy: float
    """CPU of the Router's least busy worker as a part of that of its busiest."""


@dataclass
class _Found:
    turns: list[_Turn] = field(default_factory=list)
    under_quota: list[float] = field(default_factory=list)
    """Calls per second."""

    @property
    def cpu(self) -> float:
        return statistics.median(turn.cpu for turn in self.turns)

    @property
    def per_second(self) -> float:
        return statistics.median(turn.per_second for turn in self.turns)

    @property
    def speed(self) -> float:
        return statistics.median(self.under_quota)

    @property
    def least_busy(self) -> float:
        return statistics.median(turn.least_busy for turn in self.turns)


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with AsyncExitStack() as running:
        platforms = {}
        for count in WORKERS:
            around = await running.enter_async_context(surroundings())
            platforms[count] = await running.enter_async_context(units(around, count))
        each = await _found(platforms, lambda count: count)
        in_all = await _found(platforms, lambda _: 1)
    return _report(each, in_all)


async def _found(platforms: Mapping[int, StreamPlatform], share: Callable[[int], int]) -> Mapping[int, _Found]:
    """With the callers of `share` workers. They connect anew: with more connections than they use at once, they would
    use those of last time first, and those could be all of one worker."""
    found = {count: _Found() for count in platforms}
    async with AsyncExitStack() as connected:
        loads = {}
        for count, platform in platforms.items():
            loads[count] = await connected.enter_async_context(_load(platform))
            await _turn(loads[count], share(count))  # opens what is kept
        for place in range(ROUNDS):
            for count in WORKERS if place % 2 else reversed(WORKERS):
                found[count].turns.append(await _turn(loads[count], share(count)))
        for _ in range(QUOTA_ROUNDS):
            for count in WORKERS:
                found[count].under_quota.append(await _under_quota(loads[count], share(count)))
    return found


@dataclass(frozen=True)
class _Load:
    platform: StreamPlatform
    calls: Calls
    workers: list[int]
    """Of the Router."""


@asynccontextmanager
async def _load(platform: StreamPlatform) -> AsyncIterator[_Load]:
    client = HttpClient(idle_seconds=600, connect_seconds=5)
    try:
        yield _Load(platform, Calls(platform, client), workers_of(platform.router_pid))
    finally:
        await client.close()


async def _turn(load: _Load, share: int) -> _Turn:
    """With the callers of so many workers."""
    before, busy = _spent(load.platform), [cpu_nanos(pid) for pid in load.workers]
    count, begun = CALLS * share, time.perf_counter()
    await many(load.calls.managed, CALLERS * share, count)
    per_second = count / (time.perf_counter() - begun)
    busy = [cpu_nanos(pid) - nanos for pid, nanos in zip(load.workers, busy, strict=True)]
    await asyncio.sleep(_SETTLING_SECONDS)
    return _Turn((_spent(load.platform) - before) / 1000 / count, per_second, min(busy) / max(busy))


async def _under_quota(load: _Load, share: int) -> float:
    """Of the Router's workers; everything else has what the machine leaves."""
    callers, count = CALLERS * share, CALLS * share
    try:
        with limited(load.workers, QUOTA):
            await many(load.calls.managed, callers, callers * 4)
            begun = time.perf_counter()
            await many(load.calls.managed, callers, count)
            return count / (time.perf_counter() - begun)
    except NoQuota:
        return float("nan")


def _spent(platform: StreamPlatform) -> int:
    """Of both units with their parents and workers, and of PostgreSQL."""
    return sum(map(store_cpu_nanos, (platform.gateway_pid, platform.router_pid, platform.store_pid)))


def _report(each: Mapping[int, _Found], in_all: Mapping[int, _Found]) -> Report:
    one = each[1]
    several = [count for count in each if count > 1]
    targets = {
        f"a call costs at most {LIMIT_CPU} of its CPU with one worker": all(
            each[count].cpu <= LIMIT_CPU * one.cpu for count in several
        ),
        f"N workers with {QUOTA:.0%} of a core each bring {LIMIT_THROUGHPUT} N": all(
            each[count].speed >= LIMIT_THROUGHPUT * count * one.speed for count in several
        ),
    }
    return Report(
        "workers",
        f"Gateway and Router with workers, 1 kB JSON, median of {ROUNDS} turns; "
        f"targets with {CALLERS} callers for each worker",
        [*_rows(f"{CALLERS} a worker", each), *_rows(f"{CALLERS} in all", in_all)],
        targets,
    )


def _rows(callers: str, found: Mapping[int, _Found]) -> list[Mapping[str, Figure]]:
    one = found[1]
    return [
        {
            "callers": callers,
            "workers": count,
            "µs CPU per call": each.cpu,
            "to one worker": f"{each.cpu / one.cpu:.2f}",
            "per second": each.per_second,
            "per second under the quota": each.speed,
            "to N times one": f"{each.speed / (count * one.speed):.2f}",
            "least busy to busiest": f"{each.least_busy:.2f}",
        }
        for count, each in found.items()
    ]
