"""A wall clock that can be set from outside while a process runs; nothing else of its time changes."""

import datetime
import mmap
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Self

_NANOSECONDS = 1_000_000_000
_FORM = struct.Struct("q")


@dataclass(frozen=True)
class ClockFile:
    """How many nanoseconds a process's clock is ahead of the machine's, where the process reads it at each look."""

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
    _shift(lambda: int(_FORM.unpack_from(kept)[0]))


def _shift(ahead: Callable[[], int]) -> None:
    real = time.time_ns

    def time_ns() -> int:
        return real() + ahead()

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
    datetime.datetime = Shifted  # type: ignore[misc]
