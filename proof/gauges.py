"""What a process of the platform takes of the machine: memory, descriptors, waiting bytes, time of its event loop."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks._stream_platform import resident_kib
from proof.area import Figure, proves
from tests.support.replicas import Replica
from tests.support.waiting import background

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
_FORGET_PEAK = "5"


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


@proves("Memory and descriptors of the units return.")
def returned(pids: Mapping[str, int], before: Mapping[str, float], max_rise: float) -> list[Figure]:
    """Memory beside what was held before, as `memory` gives it; the checker judges descriptors."""
    return [
        Figure(f"{name}: memory after quiet", mib, "MiB", at_most=before[name] + max_rise)
        for name, mib in memory(pids).items()
    ]


def memory(pids: Mapping[str, int]) -> dict[str, float]:
    """MiB of each process."""
    return {name: resident_mib(pid) for name, pid in pids.items()}


def percentile(values: Sequence[float], part: float) -> float:
    """0 when there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


@dataclass
class Probed:
    """Milliseconds of processor time that the thread of the event loop took between a question and its answer."""

    count: int = 0
    during: str = ""
    """What goes on now, set by whoever provokes it."""
    max_gap: float = 0.0
    max_during: str = ""

    def take(self, gap: float) -> None:
        self.count += 1
        if gap > self.max_gap:
            self.max_gap, self.max_during = gap, self.during


def loop_ms(pid: int) -> float:
    """Processor time of the first thread, in which a unit has its event loop."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


@asynccontextmanager
async def probing(unit: Replica, seconds: float = 0.01) -> AsyncIterator[Probed]:
    """A pause of the machine is no gap: time in which the unit did not run is not counted."""
    probed = Probed()

    async def go_on() -> None:
        while True:
            before = loop_ms(unit.pid)
            reply = await unit.unit.get("/livez")
            assert reply.status == 200, reply.body
            probed.take(loop_ms(unit.pid) - before)
            await asyncio.sleep(seconds)

    async with background(go_on()):
        yield probed
