"""What the tree over the Ledger adds to calls: two platforms take turns, the Router of one adds nothing to its tree."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import uvloop

from aop.ledger.tree.growth import TreeGrowth
from aop.net.http import HttpClient
from aop.router.app import build as build_router
from aop.router.settings import RouterSettings
from aop.serving.unit.unit import Unit
from benchmarks._calls import CALLERS, UNITS, Call, Calls, costs_of, many
from benchmarks._stream_platform import StreamPlatform, stream_platform
from benchmarks.figures import EVENTS_PER_CALL
from benchmarks.measure import Figure, Report
from benchmarks.tree import LIMIT_MICROS

ROUNDS = 7
LONE_CALLS = 400
MAX_ADDED = 1.05
"""Times the median without a tree: two platforms without one differ by as much."""


def run() -> Report:
    return uvloop.run(_run())


@dataclass(frozen=True)
class _Measured:
    """One of the two platforms, and what was found of it."""

    platform: StreamPlatform
    call: Call
    cpu: list[float] = field(default_factory=list)
    per_second: list[float] = field(default_factory=list)
    lone: list[float] = field(default_factory=list)

    async def round(self) -> None:
        costs = await costs_of(self.platform, self.call, CALLERS)
        self.cpu.append(sum(costs[unit] for unit in UNITS))
        self.per_second.append(costs["per second"])

    async def lone_call(self) -> None:
        begun = time.perf_counter()
        await self.call()
        self.lone.append((time.perf_counter() - begun) * 1000)

    def row(self, name: str) -> Mapping[str, Figure]:
        return {
            "tree": name,
            "µs CPU per call": statistics.median(self.cpu),
            "calls per second": statistics.median(self.per_second),
            "one caller, median ms": round(statistics.median(self.lone), 2),
            "one caller, p99 ms": round(statistics.quantiles(self.lone, n=100)[-1], 2),
        }


async def _run() -> Report:
    async with stream_platform() as plain, stream_platform(_without_tree) as bare:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        grown, ungrown = (_Measured(each, Calls(each, client).managed) for each in (plain, bare))
        both = (grown, ungrown)
        for each in both:
            await many(each.call, CALLERS, CALLERS * 20)
        for count in range(ROUNDS):
            for each in _by_turns(both, count):
                await each.round()
        for count in range(LONE_CALLS):
            for each in _by_turns(both, count):
                await each.lone_call()
        await client.close()
    added = statistics.median(one - other for one, other in zip(grown.cpu, ungrown.cpu, strict=True)) / EVENTS_PER_CALL
    latency = statistics.median(grown.lone) / statistics.median(ungrown.lone)
    return Report(
        "tree_load",
        f"1 kB JSON, {CALLERS} callers, median of {ROUNDS} rounds in turns;"
        f" {EVENTS_PER_CALL} events a call, {added:.1f} µs of CPU added for each, {latency:.3f} times the lone median",
        [grown.row("grows"), ungrown.row("stands still")],
        {
            f"the tree adds at most {LIMIT_MICROS:.0f} µs of CPU for an event beside calls": added <= LIMIT_MICROS,
            f"the median at one caller is at most {MAX_ADDED} times the one without": latency <= MAX_ADDED,
        },
    )


def _by_turns(both: Sequence[_Measured], count: int) -> Sequence[_Measured]:
    """Neither of them is always the first of a round."""
    return both if count % 2 else both[::-1]


async def _without_tree(settings: RouterSettings) -> Unit:
    setattr(TreeGrowth, "grow", _nothing)  # noqa: B010  a method of this process alone
    return await build_router(settings)


async def _nothing(growth: TreeGrowth, past: int) -> bool:
    return True
