"""Starts a unit of the platform whose wall clock follows a file: `python -m proof.clocks.unit router FILE`."""

import datetime
import mmap
import os
import struct
import sys
import time
from datetime import tzinfo
from pathlib import Path
from typing import Self

_NANOSECONDS = 1_000_000_000
_FORM = struct.Struct("q")


def set_ahead(path: Path, seconds: float) -> None:
    """How far the clock of a process is ahead of the machine's; the process reads it at each use."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(file, _FORM.pack(round(seconds * _NANOSECONDS)), 0)
    os.close(file)


def install(path: Path) -> None:
    """Before anything else is imported that takes `time` or `datetime` by its parts."""
    with path.open("rb") as file:
        kept = mmap.mmap(file.fileno(), _FORM.size, access=mmap.ACCESS_READ)
    real = time.time_ns

    def time_ns() -> int:
        return real() + int(_FORM.unpack_from(kept)[0])

    def seconds() -> float:
        return time_ns() / _NANOSECONDS

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(seconds(), tz)

    time.time_ns, time.time = time_ns, seconds
    datetime.datetime = Shifted  # type: ignore[misc]  # the clock of this process alone


def main(name: str, clock: str) -> int:
    install(Path(clock))
    from aop.cli.operator import units  # noqa: PLC0415  the product takes its clock when it is imported

    return units.run_unit(name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
