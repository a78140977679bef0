"""Measuring parts shared by the benchmarks: CPU time, peer processes, interleaved rounds and tables."""

import json
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from tools.interpreters import is_optimised

Figure = float | int | str
Round = Callable[[], Awaitable[float]]
Peer = Callable[[Connection], None]

_PEER_SECONDS = 120
"""A busy machine takes long to import everything."""


@dataclass(frozen=True)
class Series:
    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Plot:
    """Lines over a number, or stacked bars, one for each of `places`."""

    name: str
    title: str
    x: str
    y: str
    series: Sequence[Series]
    kind: Literal["lines", "bars"] = "lines"
    places: Sequence[str] = ()
    logarithmic_x: bool = False
    marks_x: Sequence[float] | None = None


def interpreter() -> str:
    """Figures of two kinds of builds cannot be compared: profile-guided optimisation gains about a tenth."""
    return f"Python {platform.python_version()}{', optimised' if is_optimised() else ', not optimised'}"


@dataclass(frozen=True)
class Report:
    """The result of one benchmark; `targets` say what was promised and whether it holds."""

    name: str
    unit: str
    rows: Sequence[Mapping[str, Figure]]
    targets: Mapping[str, bool] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    ratio_to_reference: Mapping[str, float] = field(default_factory=dict)
    """To what the reference platform took or did in the same run."""
    interpreter: str = field(default_factory=interpreter)

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def as_table(self) -> str:
        columns = list(self.rows[0])
        cells = [columns, *([_text(row[column]) for column in columns] for row in self.rows)]
        widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
        body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        rule = "  ".join("-" * width for width in widths)
        promises = [f"{'met   ' if held else 'MISSED'}  {promise}" for promise, held in self.targets.items()]
        return "\n".join([f"{self.name} ({self.unit}; {self.interpreter})", body[0], rule, *body[1:], *promises])


async def interleaved(rounds: Mapping[str, Round], times: int) -> dict[str, float]:
    """The median of each round; they take turns, so that a slow moment of the machine falls on all of them."""
    for measured in rounds.values():
        await measured()  # warms caches, pools and the peer
    seen: dict[str, list[float]] = {name: [] for name in rounds}
    for _ in range(times):
        for name, measured in rounds.items():
            seen[name].append(await measured())
    return {name: statistics.median(values) for name, values in seen.items()}


async def own_cpu_micros(work: Callable[[], Awaitable[None]], count: int) -> float:
    """CPU microseconds of this process, user and system, for each of `count` pieces of the work."""
    before = time.process_time_ns()
    await work()
    return (time.process_time_ns() - before) / 1000 / count


async def cpu_micros_of(pid: int, work: Callable[[], Awaitable[None]], count: int) -> float:
    """CPU microseconds of another single-threaded process while the work runs."""
    before = cpu_nanos(pid)
    await work()
    return (cpu_nanos(pid) - before) / 1000 / count


@contextmanager
def peer_process(peer: Peer) -> Iterator[tuple[int, int]]:
    """Runs `peer` in a process of its own and gives its pid and the port that it reports."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=peer, args=(theirs,), daemon=True)
    process.start()
    try:
        if not ours.poll(_PEER_SECONDS):
            raise TimeoutError("the peer did not report its port")
        port = ours.recv()
        assert process.pid is not None
        yield process.pid, port
    finally:
        process.terminate()
        process.join()


def store_cpu_nanos(postmaster: int) -> int:
    """CPU of a PostgreSQL server with all its backends; one that ended in between is not counted."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    total = 0
    for pid in (str(postmaster), *children):
        with suppress(FileNotFoundError):
            total += cpu_nanos(int(pid))
    return total


def pss_mib(pid: int) -> float:
    """Memory of a process, with its part of what it shares with others."""
    rolled_up = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(rolled_up.partition("\nPss:")[2].split()[0]) / 1024


def cpu_nanos(pid: int) -> int:
    # The scheduler's own count, in nanoseconds; /proc/PID/stat only counts ticks of 10 ms.
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


@contextmanager
def ahead_of_others() -> Iterator[bool]:
    """Puts this process and all that it starts before other work of the machine, where that is permitted (SCHED_RR, as
    when the bounds were set): what is measured is then the platform, and not who else wants a core.

    Only for as long as this is open: such a process is refused by the control groups of the benchmark of workers.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (AttributeError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def machine_pace_micros() -> float:
    """How long a fixed piece of interpreted work takes just now: what else the machine does shows here."""
    begun = time.perf_counter()
    for number in range(20_000):
        str(number)
    return (time.perf_counter() - begun) * 1e6


def _text(figure: Figure) -> str:
    return f"{figure:.1f}" if isinstance(figure, float) else str(figure)
