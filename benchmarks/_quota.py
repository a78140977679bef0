"""Gives processes a part of a core each, by control groups; only an administrator of the machine can."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_PERIOD_MICROS = 10_000
_ROOT = Path("/sys/fs/cgroup")


class NoQuota(Exception):
    """This machine or this user cannot set one."""


@contextmanager
def limited(pids: Sequence[int], part: float) -> Iterator[None]:
    """Each process gets this part of a core, in a group of its own."""
    made: list[tuple[Path, int]] = []
    try:
        try:
            for pid in pids:
                made.append((_group(pid, int(part * _PERIOD_MICROS)), pid))
        except OSError as refused:
            raise NoQuota(f"no control group could be made: {refused.strerror}") from None
        yield
    finally:
        for group, pid in made:
            _write(group.parent / "cgroup.procs", str(pid))
            group.rmdir()


def _group(pid: int, quota_micros: int) -> Path:
    """In version 2 of control groups, or in the older one where the machine still has that."""
    older = (_ROOT / "cpu").is_dir()
    group = (_ROOT / "cpu" if older else _ROOT) / f"aop-bench-{os.getpid()}-{pid}"
    group.mkdir()
    if older:
        _write(group / "cpu.cfs_period_us", str(_PERIOD_MICROS))
        _write(group / "cpu.cfs_quota_us", str(quota_micros))
    else:
        _write(group / "cpu.max", f"{quota_micros} {_PERIOD_MICROS}")
    _write(group / "cgroup.procs", str(pid))
    return group


def _write(file: Path, text: str) -> None:
    file.write_text(text, "ascii")
