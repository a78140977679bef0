"""What a managed, durable JSON invocation costs beside the direct call and a bare proxy, all in one interleaved run."""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import uvloop

from aop.net.http import HttpClient, Target
from benchmarks._proxy import Proxy, bare_proxy
from benchmarks._stream_platform import AGENT, CAPABILITY, StreamPlatform, resident_kib, stream_platform
from benchmarks.measure import Figure, Plot, Report, Series, cpu_nanos, machine_pace_micros, store_cpu_nanos

CALLERS = 64
CALLS = 1920
ROUNDS = 5
LONE_CALLS = 400
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 64, 128)
LIMIT_CPU_MICROS = 450.0
LIMIT_ADDED_MILLIS = {50: 1.3, 99: 4.0}
TARGET_PER_SECOND = 2000
UNITS = ("Gateway", "Router", "PostgreSQL")

_TEXT = "a request of about a kilobyte " * 32
_CENTILES = (1, *range(5, 100, 5), 99)

Call = Callable[[], Awaitable[None]]


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = Calls(platform, client)
        with bare_proxy(platform.agent) as proxy:
            await many(calls.managed, CALLERS, CALLS)
            found = await _interleaved(platform, calls, proxy)
            lone = await _lone(calls, proxy)
        curve = [(callers, await costs_of(platform, calls, callers)) for callers in CONCURRENCIES]
        units = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
        memory: list[Mapping[str, Figure]] = [
            {"what": f"{unit} under load, MiB", "value": resident_kib(pid) / 1024} for unit, pid in units.items()
        ]
        await client.close()
    return Report(
        "invocations",
        f"1 kB JSON, {CALLERS} callers, durable Ledger, median of {ROUNDS} rounds",
        [*_rows(found, lone), *memory],
        _targets(found, lone),
        _plots(found, lone, curve),
    )


@dataclass(frozen=True)
class _Found:
    """Medians of the interleaved rounds. CPU in microseconds per call; `pace` says how even the machine was."""

    cpu: Mapping[str, float]
    per_second: Mapping[str, float]
    pace: Sequence[float]

    @property
    def total(self) -> float:
        return sum(self.cpu[unit] for unit in UNITS)


class Calls:
    def __init__(self, platform: StreamPlatform, client: HttpClient) -> None:
        self._client = client
        self._platform = platform
        self._headers = (*platform.headers[:2], (b"accept", b"application/json"))
        content = {"text": _TEXT}
        wanted = {"agentId": AGENT, "capability": CAPABILITY, "input": content, "stream": False}
        self._managed = json.dumps(wanted).encode()
        part = {"kind": "data", "data": content}
        params = {"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [part]}}
        self._direct = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": params}).encode()

    async def managed(self) -> None:
        await self._ask(self._platform.gateway, self._platform.path, self._managed)

    async def direct(self) -> None:
        await self._ask(self._platform.agent, "/a2a", self._direct)

    def through(self, proxy: Proxy) -> Call:
        return lambda: self._ask(proxy.target, "/a2a", self._direct)

    async def _ask(self, target: Target, path: str, body: bytes) -> None:
        deadline = asyncio.get_running_loop().time() + 30
        answer = await self._client.request(
            target, "POST", path, headers=self._headers, body=body, deadline=deadline, max_body=1 << 20
        )
        assert answer.status == 200, answer.body


async def many(call: Call, callers: int, count: int) -> None:
    async def caller() -> None:
        for _ in range(count // callers):
            await call()

    await asyncio.gather(*(caller() for _ in range(callers)))


async def costs_of(platform: StreamPlatform, calls: Calls, callers: int) -> dict[str, float]:
    """CPU of all three at once, so that they share the same moments of the machine."""
    count = max(callers * 8, min(CALLS, callers * 120))
    await many(calls.managed, callers, callers * 4)

    def spent() -> dict[str, int]:
        pids = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
        return {
            **{unit: cpu_nanos(pid) for unit, pid in pids.items()},
            "PostgreSQL": store_cpu_nanos(platform.store_pid),
        }

    before, begun = spent(), time.perf_counter()
    await many(calls.managed, callers, count)
    seconds, after = time.perf_counter() - begun, spent()
    return {**{unit: (after[unit] - before[unit]) / 1000 / count for unit in UNITS}, "per second": count / seconds}


async def _interleaved(platform: StreamPlatform, calls: Calls, proxy: Proxy | None) -> _Found:
    cpu: dict[str, list[float]] = {}
    speed: dict[str, list[float]] = {}
    pace = []
    for _ in range(ROUNDS):
        pace.append(machine_pace_micros())
        costs = await costs_of(platform, calls, CALLERS)
        speed.setdefault("managed", []).append(costs.pop("per second"))
        for unit, micros in costs.items():
            cpu.setdefault(unit, []).append(micros)
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


async def _lone(calls: Calls, proxy: Proxy | None) -> dict[str, list[float]]:
    """Milliseconds of one caller's calls, the ways by turns; sorted."""
    ways: dict[str, Call] = {"direct": calls.direct, "managed": calls.managed}
    if proxy is not None:
        ways["nginx"] = calls.through(proxy)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(LONE_CALLS):
        for name, call in ways.items():
            begun = time.perf_counter()
            await call()
            taken[name].append((time.perf_counter() - begun) * 1000)
    return {name: sorted(times) for name, times in taken.items()}


def _centile(times: Sequence[float], centile: float) -> float:
    return times[min(len(times) - 1, int(len(times) * centile / 100))]


def _added(lone: Mapping[str, Sequence[float]], centile: float) -> float:
    return _centile(lone["managed"], centile) - _centile(lone["direct"], centile)


def _rows(found: _Found, lone: Mapping[str, Sequence[float]]) -> list[Mapping[str, Figure]]:
    rows: list[Mapping[str, Figure]] = [
        {"what": f"{unit}, µs CPU per call", "value": micros} for unit, micros in found.cpu.items()
    ]
    rows.append({"what": "Gateway, Router and PostgreSQL together, µs CPU per invocation", "value": found.total})
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
        {"what": "added at one caller, median, ms", "value": f"{_added(lone, 50):.2f}"},
        {"what": "added at one caller, 99th percentile, ms", "value": f"{_added(lone, 99):.2f}"},
        {
            "what": "a fixed piece of work, least to most over the rounds, µs",
            "value": f"{min(found.pace):.0f} to {max(found.pace):.0f}",
        },
    ]
    return rows


def _targets(found: _Found, lone: Mapping[str, Sequence[float]]) -> dict[str, bool]:
    return {
        f"an invocation costs at most {LIMIT_CPU_MICROS:.0f} µs of CPU": found.total <= LIMIT_CPU_MICROS,
        f"at least {TARGET_PER_SECOND} invocations per second": found.per_second["managed"] >= TARGET_PER_SECOND,
        **{
            f"one caller waits at most {most} ms longer, {centile}th percentile": _added(lone, centile) <= most
            for centile, most in LIMIT_ADDED_MILLIS.items()
        },
    }


def _plots(
    found: _Found, lone: Mapping[str, Sequence[float]], curve: Sequence[tuple[int, Mapping[str, float]]]
) -> list[Plot]:
    callers = [float(count) for count, _ in curve]
    at_once = partial(Plot, x="callers at once", logarithmic_x=True, marks_x=callers)
    cost = [Series(unit, [(count, costs[unit]) for count, costs in curve]) for unit in UNITS]
    speed = [Series("invocations", [(count, costs["per second"]) for count, costs in curve])]
    latency = [
        Series(way, [(float(centile), _centile(times, centile)) for centile in _CENTILES])
        for way, times in lone.items()
    ]
    split = [Series(unit, [(0.0, found.cpu[unit])]) for unit in UNITS]
    return [
        Plot("cpu-split", f"CPU per invocation at {CALLERS} callers", "", "µs", split, "bars", ("managed",)),
        at_once("cpu-by-concurrency", "CPU per invocation by concurrency", y="µs", series=cost),
        at_once("throughput", "Invocations per second, all on two cores", y="1/s", series=speed),
        Plot("latency", "Latency of one caller", "percentile", "ms", latency, marks_x=(1, 25, 50, 75, 90, 99)),
    ]
