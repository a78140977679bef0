"""What one of several alike processes may use of a limit that holds for all of them together."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """That of the process `number`, counted from 1, of `count`."""

    number: int = 1
    count: int = 1

    def of(self, limit: int) -> int:
        """The shares add up to the limit, unless it is so small that each gets 1."""
        even, rest = divmod(limit, self.count)
        return max(1, even + (self.number <= rest))


def usable_cores() -> int:
    """Those that this process may run on, and no more than its control group gets the time of."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _quota_cores(cores)))


def _quota_cores(cores: int) -> int:
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        return cores if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return cores
