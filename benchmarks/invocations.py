"""What a managed, durable JSON invocation costs beside the direct call, a bare proxy and the reference platform, all in
one interleaved run."""

import asyncio
import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import uvloop

from aop.net.http import HttpClient
from benchmarks._calls import CALLERS, CALLS, UNITS, Call, Calls, Processes, costs_of, many
from benchmarks._proxy import Proxy, bare_proxy
from benchmarks._reference import Reference, reference_platform
from benchmarks._stream_platform import StreamPlatform, resident_kib, stream_platform
from benchmarks.measure import (
    Figure,
    Plot,
    Report,
    Series,
    ahead_of_others,
    cpu_nanos,
    machine_pace_micros,
    store_cpu_nanos,
)

ROUNDS = 5
LONE_CALLS = 1200
"""So many, because of fewer a moment of the machine would be the 99th percentile: of 400 it is the fourth slowest."""
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 64, 128)
MAX_CPU_RATIO = 1.87
MIN_SPEED_RATIO = 0.53
MAX_ADDED_RATIO = 1.6
MAX_P99_TO_MEDIAN = 2.0

_CENTILES = (1, *range(5, 100, 5), 99)
_REFERENCE = "reference: "
_MAX_REST_SECONDS = 60
_AT_REST_NANOS = 50_000_000
"""Of CPU in a second, all processes of both platforms together: 5 % of a core."""

Lone = Mapping[str, Sequence[float]]
"""Milliseconds of one caller's calls by way, sorted."""


def run() -> Report:
    with ahead_of_others() as is_ahead:
        return uvloop.run(_run("ahead of other work" if is_ahead else "beside other work"))


async def _run(place: str) -> Report:
    async with stream_platform() as platform, reference_platform(platform.agent) as reference:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = Calls(platform, client)
        with bare_proxy(platform.agent) as proxy:
            ways = _Ways(platform, reference, calls, proxy)
            for call in (calls.managed, calls.to_reference(reference)):
                await many(call, CALLERS, CALLS)
            found = await _interleaved(ways)
            lone = await _lone(ways)
        curve = [(callers, await costs_of(platform, calls.managed, callers)) for callers in CONCURRENCIES]
        units = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
        memory: list[Mapping[str, Figure]] = [
            {"what": f"{unit} under load, MiB", "value": resident_kib(pid) / 1024} for unit, pid in units.items()
        ]
        await client.close()
    return Report(
        "invocations",
        f"1 kB JSON, {CALLERS} callers, durable Ledger, {place}, median of {ROUNDS} rounds",
        [*_rows(found, lone), *memory],
        _targets(found, lone),
        _plots(found, lone, curve),
        _ratios(found, lone),
    )


@dataclass(frozen=True)
class _Ways:
    """What takes turns in one run."""

    platform: StreamPlatform
    reference: Reference
    calls: Calls
    proxy: Proxy | None

    def by_name(self) -> dict[str, Call]:
        ways = {
            "direct": self.calls.direct,
            "managed": self.calls.managed,
            "reference": self.calls.to_reference(self.reference),
        }
        return ways if self.proxy is None else {**ways, "nginx": self.calls.through(self.proxy)}


@dataclass(frozen=True)
class _Found:
    """Medians of the interleaved rounds. CPU in microseconds per call; `pace` says how even the machine was."""

    cpu: Mapping[str, float]
    per_second: Mapping[str, float]
    pace: Sequence[float]

    def total(self, prefix: str = "") -> float:
        return sum(self.cpu[prefix + unit] for unit in UNITS)


async def _interleaved(ways: _Ways) -> _Found:
    cpu: dict[str, list[float]] = {}
    speed: dict[str, list[float]] = {}
    pace = []
    calls, proxy = ways.calls, ways.proxy
    for _ in range(ROUNDS):
        pace.append(machine_pace_micros())
        for name, prefix, processes in (("managed", "", ways.platform), ("reference", _REFERENCE, ways.reference)):
            costs = await costs_of(processes, ways.by_name()[name], CALLERS)
            speed.setdefault(name, []).append(costs.pop("per second"))
            for unit, micros in costs.items():
                cpu.setdefault(prefix + unit, []).append(micros)
        begun = time.perf_counter()
        await many(calls.direct, CALLERS, CALLS)
        speed.setdefault("direct", []).append(CALLS / (time.perf_counter() - begun))
        if proxy is not None:
            spent, begun = cpu_nanos(proxy.pid), time.perf_counter()
            await many(calls.through(proxy), CALLERS, CALLS)
            speed.setdefault("nginx", []).append(CALLS / (time.perf_counter() - begun))
            cpu.setdefault("nginx", []).append((cpu_nanos(proxy.pid) - spent) / 1000 / CALLS)
    return _Found(_medians(cpu), _medians(speed), pace)


def _medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in found.items()}


async def _rested(processes: Sequence[Processes]) -> None:
    """Until what the calls of before left to do is done: numbers and figures of the Ledger, and vacuums."""
    units = {pid for one in processes for pid in (one.gateway_pid, one.router_pid)}
    for _ in range(_MAX_REST_SECONDS):
        before = _spent(units, processes)
        await asyncio.sleep(1)
        if _spent(units, processes) - before < _AT_REST_NANOS:
            return


def _spent(units: Collection[int], processes: Sequence[Processes]) -> int:
    return sum(map(cpu_nanos, units)) + sum(store_cpu_nanos(one.store_pid) for one in processes)


async def _lone(ways: _Ways) -> dict[str, list[float]]:
    """One caller, the ways by turns, and nobody else."""
    await _rested([ways.platform, ways.reference])
    taken: dict[str, list[float]] = {name: [] for name in ways.by_name()}
    for _ in range(LONE_CALLS):
        for name, call in ways.by_name().items():
            begun = time.perf_counter()
            await call()
            taken[name].append((time.perf_counter() - begun) * 1000)
    return {name: sorted(times) for name, times in taken.items()}


def _centile(times: Sequence[float], centile: float) -> float:
    return times[min(len(times) - 1, int(len(times) * centile / 100))]


def _added(lone: Lone, centile: float, way: str = "managed") -> float:
    return _centile(lone[way], centile) - _centile(lone["direct"], centile)


def _ratios(found: _Found, lone: Lone) -> dict[str, float]:
    """What the platform takes, and what it does in a second, as a multiple of the reference."""
    return {
        "cpu": found.total() / found.total(_REFERENCE),
        "per_second": found.per_second["managed"] / found.per_second["reference"],
        "added_median": _added(lone, 50) / _added(lone, 50, "reference"),
    }


def _rows(found: _Found, lone: Lone) -> list[Mapping[str, Figure]]:
    rows: list[Mapping[str, Figure]] = [
        {"what": f"{unit}, µs CPU per call", "value": micros} for unit, micros in found.cpu.items()
    ]
    rows += [
        {"what": "Gateway, Router and PostgreSQL together, µs CPU per invocation", "value": found.total()},
        {"what": f"{_REFERENCE}all three together, µs CPU per call", "value": found.total(_REFERENCE)},
    ]
    rows += [
        {"what": f"ratio to the reference, {name}", "value": f"{r:.2f}"} for name, r in _ratios(found, lone).items()
    ]
    rows += [
        {"what": f"{way}, calls per second, everything on this machine", "value": value}
        for way, value in found.per_second.items()
    ]
    rows += [
        {"what": f"{way} at one caller, {name}, ms", "value": f"{_centile(times, centile):.2f}"}
        for way, times in lone.items()
        for name, centile in (("median", 50), ("99th percentile", 99))
    ]
    rows += [
        {"what": f"added at one caller, {way}, {name}, ms", "value": f"{_added(lone, centile, way):.2f}"}
        for way in ("managed", "reference")
        for name, centile in (("median", 50), ("99th percentile", 99))
    ]
    pace = f"{min(found.pace):.0f} to {max(found.pace):.0f}"
    rows.append({"what": "a fixed piece of work, least to most over the rounds, µs", "value": pace})
    return rows


def _targets(found: _Found, lone: Lone) -> dict[str, bool]:
    ratio, slow = _ratios(found, lone), _added(lone, 99) / _added(lone, 50)
    return {
        f"an invocation costs at most {MAX_CPU_RATIO} times the CPU of the reference": ratio["cpu"] <= MAX_CPU_RATIO,
        f"at least {MIN_SPEED_RATIO} times its calls per second": ratio["per_second"] >= MIN_SPEED_RATIO,
        f"adds at most {MAX_ADDED_RATIO} times its median at one caller": ratio["added_median"] <= MAX_ADDED_RATIO,
        f"adds at most {MAX_P99_TO_MEDIAN:.0f} times its own median, 99th percentile": slow <= MAX_P99_TO_MEDIAN,
    }


def _plots(found: _Found, lone: Lone, curve: Sequence[tuple[int, Mapping[str, float]]]) -> list[Plot]:
    callers = [float(count) for count, _ in curve]
    at_once = partial(Plot, x="callers at once", logarithmic_x=True, marks_x=callers)
    cost = [Series(unit, [(count, costs[unit]) for count, costs in curve]) for unit in UNITS]
    speed = [Series("invocations", [(count, costs["per second"]) for count, costs in curve])]
    latency = [
        Series(way, [(float(centile), _centile(times, centile)) for centile in _CENTILES])
        for way, times in lone.items()
    ]
    split = [Series(unit, [(0.0, found.cpu[unit]), (1.0, found.cpu[_REFERENCE + unit])]) for unit in UNITS]
    ways = ("managed", "reference")
    return [
        Plot("cpu-split", f"CPU per invocation at {CALLERS} callers", "", "µs", split, "bars", ways),
        at_once("cpu-by-concurrency", "CPU per invocation by concurrency", y="µs", series=cost),
        at_once("throughput", "Invocations per second, all on two cores", y="1/s", series=speed),
        Plot("latency", "Latency of one caller", "percentile", "ms", latency, marks_x=(1, 25, 50, 75, 90, 99)),
    ]
