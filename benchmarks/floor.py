"""How low it could go: CPU by the part of each process it is spent in, sampled by `perf`, in three situations."""

import asyncio
import shutil
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from aop.net.http import HttpClient
from benchmarks._calls import CALLERS, CALLS, Calls, many
from benchmarks._stream_platform import StreamPlatform, stream_platform
from benchmarks.measure import Figure, Plot, Report, Series, cpu_nanos, store_cpu_nanos
from benchmarks.streams import CALLERS as READERS
from benchmarks.streams import Caller

SAMPLES_PER_SECOND = 4000
LONE_CALLS = 600
CHUNKS = 2000
INTERPRETER = "interpreter"
_PARTS: Mapping[str, str] = {
    # What the name of a shared object begins with; the kernel's is in brackets.
    "libpython": INTERPRETER,
    "python": INTERPRETER,
    "[kernel": "kernel: sockets, wake-ups",
    "_rust.abi3": "Ed25519 and SHA-256",
    "libcrypto": "Ed25519 and SHA-256",
    "_hashlib": "Ed25519 and SHA-256",
    "_core.": "JSON and schemas",
    "jsonschema_rs": "JSON and schemas",
    "loop.": "event loop",
    "_asyncio": "event loop",
    "parser.": "HTTP parser",
    "libc.so": "C library",
}
_OTHERS = "everything else"

Micros = Mapping[str, float]
"""By part."""


@dataclass(frozen=True)
class Situation:
    """Something that is done `count` times by `work`."""

    name: str
    plot: str
    work: Callable[[], Awaitable[None]]
    count: int


@dataclass(frozen=True)
class Split:
    """What is beside the platform shares its cores: the Agent, and the callers themselves."""

    units: Mapping[str, Micros]
    store: float
    beside: float


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    if shutil.which("perf") is None:
        return Report(
            "floor", "needs `perf` (Debian: linux-perf), which is not here", [{"what": "nothing", "value": 0}]
        )
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        situations = _situations(platform, client)
        splits = {situation.name: await _split(platform, situation) for situation in situations}
        await client.close()
    rows = [row for name, split in splits.items() for row in _rows(name, split)]
    plots = [_plot(situation, splits[situation.name]) for situation in situations]
    return Report("floor", "µs CPU, by what it is spent in", rows, {}, plots)


def _situations(platform: StreamPlatform, client: HttpClient) -> Sequence[Situation]:
    calls, caller = Calls(platform, client), Caller(platform, client)

    async def streams() -> None:
        await asyncio.gather(*(caller.stream(CHUNKS) for _ in range(READERS)))

    return (
        Situation(f"invocation, {CALLERS} callers", "many", lambda: many(calls.managed, CALLERS, CALLS * 2), CALLS * 2),
        Situation("invocation, one caller", "lone", lambda: many(calls.managed, 1, LONE_CALLS), LONE_CALLS),
        Situation(f"chunk, {READERS} callers", "chunk", streams, READERS * CHUNKS),
    )


async def _split(platform: StreamPlatform, situation: Situation) -> Split:
    """What it costs, measured undisturbed, and in which parts, sampled afterwards."""
    units, sampled = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}, {}

    def spent() -> dict[str, int]:
        return {
            **{unit: cpu_nanos(pid) for unit, pid in units.items()},
            "store": store_cpu_nanos(platform.store_pid),
            "beside": cpu_nanos(platform.agent_pid) + time.process_time_ns(),
        }

    await situation.work()
    before = spent()
    await situation.work()
    costs = {part: (after - before[part]) / 1000 / situation.count for part, after in spent().items()}
    for unit, pid in units.items():
        shares = await _sampled(pid, situation.work)
        sampled[unit] = {part: share * costs[unit] for part, share in shares.items()}
    return Split(sampled, costs["store"], costs["beside"])


async def _sampled(pid: int, work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """The share of each part in the samples of a process during the work."""
    with tempfile.TemporaryDirectory() as folder:
        taken = str(Path(folder) / "perf.data")
        how = ("-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "-p", str(pid), "-o", taken)
        recording = await asyncio.create_subprocess_exec("perf", "record", *how)
        await asyncio.sleep(0.5)
        await work()
        recording.send_signal(signal.SIGINT)
        await recording.wait()
        told = await asyncio.to_thread(
            subprocess.run,
            ["perf", "report", "-q", "-i", taken, "--sort", "dso", "--stdio"],
            capture_output=True,
            text=True,
            check=True,
        )
    shares: defaultdict[str, float] = defaultdict(float)
    for line in told.stdout.splitlines():
        percent, _, name = line.strip().partition("%")
        if name:
            shares[_part(name.strip())] += float(percent) / 100
    return dict(shares)


def _part(name: str) -> str:
    return next((part for begin, part in _PARTS.items() if name.startswith(begin)), _OTHERS)


def _parts(split: Split) -> list[str]:
    found = {part for micros in split.units.values() for part in micros}
    return sorted(found, key=lambda part: -split.units["Router"].get(part, 0))


def _rows(name: str, split: Split) -> Iterator[Mapping[str, Figure]]:
    def row(part: str, each: Mapping[str, Figure], of_all: float) -> Mapping[str, Figure]:
        return {
            "of": name,
            "part": part,
            **{f"{unit}, µs": each.get(unit, "") for unit in split.units},
            "all, µs": of_all,
        }

    for part in _parts(split):
        each = {unit: micros.get(part, 0.0) for unit, micros in split.units.items()}
        yield row(part, each, sum(each.values()))
    yield row("PostgreSQL", {}, split.store)
    together = {unit: sum(micros.values()) for unit, micros in split.units.items()}
    yield row("together", together, sum(together.values()) + split.store)
    floor = {unit: together[unit] - micros.get(INTERPRETER, 0.0) for unit, micros in split.units.items()}
    yield row("floor: all but the interpreter", floor, sum(floor.values()) + split.store)
    yield row("beside it: Agent and callers", {}, split.beside)


def _plot(situation: Situation, split: Split) -> Plot:
    series = [Series(part, [(0.0, micros.get(part, 0.0)) for micros in split.units.values()]) for part in _parts(split)]
    return Plot(situation.plot, f"CPU per {situation.name}", "", "µs", series, "bars", tuple(split.units))
