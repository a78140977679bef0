"""How low an invocation could go: its CPU by the part of each process it is spent in, sampled by `perf`."""

import asyncio
import shutil
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import uvloop

from aop.base.http import HttpClient
from benchmarks._stream_platform import stream_platform
from benchmarks.invocations import CALLERS, CALLS, Calls, costs_of, many
from benchmarks.measure import Figure, Plot, Report, Series

SAMPLES_PER_SECOND = 4000
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


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    if shutil.which("perf") is None:
        return Report(
            "floor", "needs `perf` (Debian: linux-perf), which is not here", [{"what": "nothing", "value": 0}]
        )
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = Calls(platform, client)
        await many(calls.managed, CALLERS, CALLS)
        costs = await costs_of(platform, calls, CALLERS)
        split = {}
        for unit, pid in (("Gateway", platform.gateway_pid), ("Router", platform.router_pid)):
            shares = await _sampled(pid, calls)
            split[unit] = {part: share * costs[unit] for part, share in shares.items()}
        await client.close()
    return _report(split, costs["PostgreSQL"])


async def _sampled(pid: int, calls: Calls) -> dict[str, float]:
    """The share of each part in the samples of a process that works for many callers."""
    with tempfile.TemporaryDirectory() as folder:
        taken = str(Path(folder) / "perf.data")
        how = ("-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "-p", str(pid), "-o", taken)
        recording = await asyncio.create_subprocess_exec("perf", "record", *how)
        await asyncio.sleep(0.5)
        await many(calls.managed, CALLERS, CALLS * 3)
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


def _report(split: Mapping[str, Mapping[str, float]], store: float) -> Report:
    parts = sorted({part for found in split.values() for part in found}, key=lambda part: -split["Router"].get(part, 0))
    rows: list[Mapping[str, Figure]] = [
        {
            "part": part,
            **{f"{unit}, µs": found.get(part, 0.0) for unit, found in split.items()},
            "both, µs": sum(found.get(part, 0.0) for found in split.values()),
        }
        for part in parts
    ]
    interpreted = sum(found.get(INTERPRETER, 0.0) for found in split.values())
    outside = sum(sum(found.values()) for found in split.values()) - interpreted
    blank = dict.fromkeys((f"{unit}, µs" for unit in split), "")
    rows += [
        {"part": "PostgreSQL", **blank, "both, µs": store},
        {"part": "together", **blank, "both, µs": outside + interpreted + store},
        {"part": "floor: all but the interpreter", **blank, "both, µs": outside + store},
    ]
    series = [Series(part, [(0.0, found.get(part, 0.0)) for found in split.values()]) for part in parts]
    plot = Plot("parts", f"CPU per invocation at {CALLERS} callers, by part", "", "µs", series, "bars", tuple(split))
    return Report("floor", f"µs CPU per JSON invocation at {CALLERS} callers, by what it is spent in", rows, {}, [plot])
