"""A month leaves the Ledger by the operator's own commands, each a process, while a caller goes on writing."""

import asyncio
import json
import os
import resource
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.ledger.archive.export import file_of
from aop.ledger.months import Month
from aop.ledger.write.journal import Journal
from benchmarks.ledger import _context, _invocation
from tools.environments import child_environment

_ENDED_SECONDS = 0.5
"""Until the server knows that a session has ended."""
_SETTINGS = ("PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_MIGRATION_DATABASE_URL")


@dataclass(frozen=True)
class Command:
    """What one took: CPU of its process and its session, memory, and the longest write of a caller beside it."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    said: dict[str, Any]
    writes: int
    median_write_ms: float
    max_write_ms: float


async def run_command(url: str, postmaster: int, journal: Journal | None, *arguments: str) -> Command:
    """`aop ledger …` with this store; without a journal nobody writes beside it. Raises if it does not end well."""
    done, times = asyncio.Event(), list[float]()

    async def caller() -> None:
        while journal is not None and not done.is_set():
            begun = time.perf_counter()
            await _invocation(journal, _context())
            times.append((time.perf_counter() - begun) * 1000)
            await asyncio.sleep(0.005)

    await asyncio.sleep(_ENDED_SECONDS)  # of what ended before, nothing is counted here
    writing = asyncio.create_task(caller())
    begun, cpu = time.perf_counter(), _ended_cpu_seconds(postmaster)
    command = (sys.executable, "-P", "-m", "aop", "ledger", *arguments, "--json")
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**child_environment(), **dict.fromkeys(_SETTINGS, url)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    watch = asyncio.create_task(_peak_mib(process.pid, done))
    output, _ = await process.communicate()
    seconds = time.perf_counter() - begun
    done.set()
    await writing
    await asyncio.sleep(_ENDED_SECONDS)
    cpu = _ended_cpu_seconds(postmaster) - cpu
    if process.returncode != 0:
        raise RuntimeError(f"aop ledger {arguments[0]}: {output.decode()}")
    said = json.loads(output.splitlines()[-1])
    return Command(seconds, cpu, await watch, said, len(times), *_of(times))


def _ended_cpu_seconds(postmaster: int) -> float:
    """Of all processes of ours and all sessions of the server that have ended."""
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[13]) + int(fields[14])
    return ours.ru_utime + ours.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


async def _peak_mib(pid: int, done: asyncio.Event) -> float:
    """As the kernel keeps it, read until the process is gone."""
    peak = 0.0
    while not done.is_set():
        peak = max(peak, _max_mib(pid))
        await asyncio.sleep(0.2)
    return peak


def _max_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), default=0.0)


async def month_away(url: str, postmaster: int, journal: Journal, month: Month, folder: Path) -> dict[str, Command]:
    before = ("--before", str(month.next))
    path = file_of(folder, month)
    return {
        "export": await run_command(url, postmaster, journal, "export", *before, "--to", str(folder)),
        "verify": await run_command(url, postmaster, journal, "verify", str(path)),
        "verify --alone": await run_command(url, postmaster, journal, "verify", str(path), "--alone"),
        "detach": await run_command(url, postmaster, journal, "detach", *before, "--from", str(folder)),
    }


def _of(times: list[float]) -> tuple[float, float]:
    return (statistics.median(times), max(times)) if times else (0.0, 0.0)
