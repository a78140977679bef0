"""What units grow to: PSS of each of their processes under JSON calls and streams that come without a pause.

One platform has units without workers, the other with two; they run side by side.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import uvloop

from aop.net.http import HttpClient, HttpError
from benchmarks._calls import Call, Calls
from benchmarks._stream_platform import StreamPlatform
from benchmarks._units import surroundings, units, workers_of
from benchmarks.measure import Figure, Report, pss_mib
from benchmarks.streams import Caller

MINUTES = 60
WORKERS = (0, 2)
CALLERS = 16
STREAMS = 4
CHUNKS = 50
PACE_MS = 20.0
LIMIT_MIB = 80
_STARTED_SECONDS = 5
"""Of load, after which every part of a unit has been used."""


@dataclass
class _Load:
    workers: int
    platform: StreamPlatform
    calls: int = 0
    streams: int = 0
    failed: int = 0
    """Of both. A machine that stands still for seconds fails some, and memory is still what is asked for."""

    def processes(self) -> Mapping[str, int]:
        found = {}
        for unit, pid in (("Gateway", self.platform.gateway_pid), ("Router", self.platform.router_pid)):
            found[unit] = pid
            found.update({f"{unit}, worker {place}": worker for place, worker in enumerate(workers_of(pid), 1)})
        return found

    async def run(self, until: float) -> None:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls, streams = Calls(self.platform, client), Caller(self.platform, client)

        async def caller() -> None:
            await calls.managed()
            self.calls += 1

        async def reader() -> None:
            await streams.stream(CHUNKS, PACE_MS)
            self.streams += 1

        async def repeated(work: Call) -> None:
            while time.monotonic() < until:
                try:
                    await work()
                except (AssertionError, HttpError):
                    self.failed += 1
                    await asyncio.sleep(1)

        try:
            async with asyncio.TaskGroup() as group:
                for work in (*[caller] * CALLERS, *[reader] * STREAMS):
                    group.create_task(repeated(work))
        finally:
            await client.close()


def run(minutes: int = MINUTES) -> Report:
    return uvloop.run(_run(minutes))


async def _run(minutes: int) -> Report:
    seconds = minutes * 60
    moments = {"start": _STARTED_SECONDS, "after a third": seconds / 3, "end": seconds}
    async with AsyncExitStack() as running:
        loads = []
        for count in WORKERS:
            around = await running.enter_async_context(surroundings())
            loads.append(_Load(count, await running.enter_async_context(units(around, count))))
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for load in loads:
                group.create_task(load.run(begun + seconds))
            found = {moment: await _at(loads, moment, begun + after) for moment, after in moments.items()}
    return _report(minutes, loads, found)


async def _at(loads: Sequence[_Load], moment: str, when: float) -> Mapping[tuple[int, str], float]:
    await asyncio.sleep(when - time.monotonic())
    found = {(load.workers, name): pss_mib(pid) for load in loads for name, pid in load.processes().items()}
    said = ", ".join(f"{name} of {count}: {mib:.1f}" for (count, name), mib in found.items())
    print(f"{moment}, MiB: {said}; calls: {[load.calls for load in loads]}", file=sys.stderr, flush=True)
    return found


def _report(minutes: int, loads: Sequence[_Load], found: Mapping[str, Mapping[tuple[int, str], float]]) -> Report:
    rows: list[Mapping[str, Figure]] = []
    for load in loads:
        for workers, process in found["end"]:
            if workers == load.workers:
                grown = {f"{moment}, MiB": at[workers, process] for moment, at in found.items()}
                done = {"calls": load.calls, "streams": load.streams, "failed": load.failed}
                rows.append({"workers": workers, "process": process, **grown, **done})
    of_each = f"{CALLERS} callers and {STREAMS} streams of {CHUNKS} chunks for each of the two platforms"
    targets = {
        f"no process takes more than {LIMIT_MIB} MiB in the end": max(found["end"].values()) <= LIMIT_MIB,
        "fewer than one in a thousand fails": all(load.failed * 1000 < load.calls + load.streams for load in loads),
    }
    return Report("memory", f"PSS under {minutes} minutes of load, {of_each}", rows, targets)
