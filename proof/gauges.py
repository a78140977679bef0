"""What a process of the platform takes of the machine: memory, descriptors, waiting bytes, time of its event loop."""

import asyncio
import os
import re
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._stream_platform import resident_kib
from benchmarks.measure import Plot, Series
from proof.area import Figure, background, proves

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
_FORGET_PEAK = "5"
_ASK = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def resident_mib(pid: int) -> float:
    return resident_kib(pid) / 1024


@dataclass
class Rise:
    mib: float = 0.0


@asynccontextmanager
async def memory_rise(pid: int) -> AsyncIterator[Rise]:
    """How far the memory of the process rose at its peak inside the block above what it held before."""
    _forget_peak(pid)
    before, rise = resident_mib(pid), Rise()
    yield rise
    rise.mib = _peak_mib(pid) - before


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text(_FORGET_PEAK)


def _peak_mib(pid: int) -> float:
    found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def waited_seconds(pid: int) -> float:
    """How long the process was ready to run and did not."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def waiting_bytes(pid: int) -> list[int]:
    """Of each TCP connection of the process: bytes received and not read, and bytes sent and not yet taken."""
    own = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            own.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            continue  # closed while we look
    found = []
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if columns[3] != _LISTENING and f"socket:[{columns[9]}]" in own:
            found.append(sum(int(number, 16) for number in columns[4].split(":")))
    return found


_LISTENING = "0A"


@dataclass(frozen=True)
class Held:
    """What a process holds at a moment, and how many seconds it has waited for a processor until then."""

    memory: float
    descriptors: int
    waited: float


@dataclass
class Gauges:
    """Readings of some processes, by name, one about every second."""

    pids: Mapping[str, int]
    began: float = field(default_factory=time.monotonic)
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """Seconds from the beginning, MiB."""
    _marked: dict[str, "Held"] = field(default_factory=dict)
    _marked_at: float = 0.0

    def mark(self) -> None:
        """What is held now is what units hold that have worked and rest."""
        self._marked, self._marked_at = self._held(), time.monotonic()

    @proves("Memory and descriptors of the units return.")
    def figures(self, max_rise: float) -> list[Figure]:
        """What is held now beside what was held at the mark. The last ones say how far times are to be believed."""
        passed, found = time.monotonic() - self._marked_at, list[Figure]()
        for name, now in self._held().items():
            then = self._marked[name]
            starved = (now.waited - then.waited) / passed
            found += [
                Figure(f"{name}: memory before", then.memory, "MiB"),
                Figure(f"{name}: memory after quiet", now.memory, "MiB", at_most=then.memory + max_rise),
                Figure(f"{name}: descriptors before", then.descriptors),
                Figure(f"{name}: descriptors after quiet", now.descriptors),
                Figure(f"{name}: part of the time in which it waited for a processor", starved),
            ]
        return found

    def _held(self) -> dict[str, "Held"]:
        return {name: Held(resident_mib(pid), descriptors(pid), waited_seconds(pid)) for name, pid in self.pids.items()}

    def read(self) -> None:
        now = time.monotonic() - self.began
        for name, pid in self.pids.items():
            self.memory.setdefault(name, []).append((now, resident_mib(pid)))

    def plot(self, name: str, title: str) -> Plot:
        thinned = {unit: _thinned(points) for unit, points in self.memory.items()}
        series = [Series(unit, points) for unit, points in thinned.items()]
        last = max((points[-1][0] for points in thinned.values()), default=0.0)
        return Plot(name, title, "seconds", "MiB", series, marks_x=[round(last * part / 5) for part in range(6)])


@asynccontextmanager
async def gauged(pids: Mapping[str, int], seconds: float = 1.0) -> AsyncIterator[Gauges]:
    gauges = Gauges(pids)

    async def go_on() -> None:
        while True:
            gauges.read()
            await asyncio.sleep(seconds)

    async with background(go_on()):
        yield gauges


def slope_per_hour(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line nearest to readings over seconds."""
    seconds, values = zip(*points, strict=True)
    return statistics.linear_regression(seconds, values).slope * 3600


def percentile(values: Sequence[float], part: float) -> float:
    """0 when there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


def _thinned(points: Sequence[tuple[float, float]], count: int = 120) -> list[tuple[float, float]]:
    step = max(1, len(points) // count)
    return list(points[::step])


@dataclass
class Probed:
    """Milliseconds of processor time that the thread of the event loop took between a question and its answer."""

    gaps: list[float] = field(default_factory=list)
    during: str = ""
    """What goes on now, set by whoever provokes it."""
    max_gap: float = 0.0
    max_during: str = ""

    def take(self, gap: float) -> None:
        self.gaps.append(gap)
        if gap > self.max_gap:
            self.max_gap, self.max_during = gap, self.during


def loop_ms(pid: int) -> float:
    """Processor time of the first thread, in which a unit has its event loop."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


@asynccontextmanager
async def probing(pid: int, port: int, seconds: float = 0.01) -> AsyncIterator[Probed]:
    """A pause of the machine is no gap: time in which the unit did not run is not counted."""
    probed = Probed()

    async def go_on() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                before = loop_ms(pid)
                writer.write(_ASK)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                assert head.startswith(b"HTTP/1.1 200"), head
                probed.take(loop_ms(pid) - before)
                await asyncio.sleep(seconds)
        finally:
            writer.close()

    async with background(go_on()):
        yield probed
