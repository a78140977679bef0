"""How soon the platform is ready, and what its processes take of the memory when nobody calls."""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from aop.local.state import Run
from benchmarks.measure import Figure, Report

STARTS = 5
LIMIT_WARM_SECONDS = 3.0
LIMIT_IDLE_MIB = 60.0
_PATIENCE_SECONDS = 60.0
_UNITS = {"control-plane": "Control Plane", "router": "Router"}


def run() -> Report:
    seconds: dict[str, list[float]] = {}
    idle: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(STARTS + 1):
            taken, memory = _started(Path(folder) / "platform")
            for name, value in taken.items():
                seconds.setdefault(f"{'first' if number == 0 else 'warm'} {name}", []).append(value)
            for unit, mebibytes in memory.items():
                idle.setdefault(unit, []).append(mebibytes)
    medians = {name: statistics.median(values) for name, values in (seconds | idle).items()}
    rows: list[Mapping[str, Figure]] = [{"what": name, "value": f"{value:.2f}"} for name, value in medians.items()]
    targets = {
        f"a warm start takes at most {LIMIT_WARM_SECONDS:.0f} s": medians["warm start, s"] <= LIMIT_WARM_SECONDS,
        **{
            f"an idle {name} takes at most {LIMIT_IDLE_MIB:.0f} MiB": medians[f"{name} idle, MiB"] <= LIMIT_IDLE_MIB
            for name in _UNITS.values()
        },
    }
    return Report("startup", f"`aop up` without the sample Agents, median of {STARTS} warm starts", rows, targets)


def _started(folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds until everything was ready, and the memory of each unit a moment later."""
    command = [sys.executable, "-P", "-m", "aop", "up", "--no-agents", "--data", str(folder)]
    begun = time.perf_counter()
    platform = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        record = _ready(folder / "run.json", begun)
        seconds = time.perf_counter() - begun
        time.sleep(1)
        memory = {f"{_UNITS[unit]} idle, MiB": _resident_mebibytes(record.pids[unit]) for unit in _UNITS}
    finally:
        platform.send_signal(signal.SIGINT)
        platform.wait()
    return {"start, s": seconds}, memory


def _ready(run_file: Path, begun: float) -> Run:
    """The record of the platform, which it writes once it is ready and removes when it ends."""
    while time.perf_counter() - begun < _PATIENCE_SECONDS:
        with suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.json.decode(run_file.read_bytes(), type=Run)
        time.sleep(0.01)
    raise TimeoutError("the platform did not become ready")


def _resident_mebibytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
