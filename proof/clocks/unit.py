"""Starts a unit of the platform whose wall clock follows a file: `python -m proof.clocks.unit router FILE`."""

import datetime
import mmap
import struct
import sys
import time
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Self

_NANOSECONDS = 1_000_000_000
_FORM = struct.Struct("q")


@dataclass(frozen=True)
class ClockFile:
    """How many nanoseconds a process's clock is ahead of the machine's; the process reads it at each use."""

    path: Path

    @classmethod
    def made(cls, path: Path) -> Self:
        path.write_bytes(_FORM.pack(0))
        return cls(path)

    def ahead(self, seconds: float) -> None:
        with self.path.open("r+b") as file:
            file.write(_FORM.pack(round(seconds * _NANOSECONDS)))


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

        @classmethod
        def utcnow(cls) -> Self:
            return cls.fromtimestamp(seconds(), datetime.UTC).replace(tzinfo=None)

    time.time_ns, time.time = time_ns, seconds
    datetime.datetime = Shifted  # type: ignore[misc]  # the clock of this process alone


def main(name: str, clock: str) -> int:
    install(Path(clock))
    from aop.cli import units  # noqa: PLC0415  the product takes its clock when it is imported

    return units.run_unit(name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
