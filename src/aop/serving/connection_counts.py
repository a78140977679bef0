"""How many connections each worker of a unit has, in memory that the workers share.

Whichever worker is awake gets the next connection, so one of four could have most of a burst. Each then writes its
groups of calls for itself: small groups, and more work in the store for the same calls.
"""

import mmap
import os
import tempfile
from typing import Final

_BYTES: Final = 4
_GONE: Final = 0
"""Of a worker that does not accept. One that does has 1 more than its connections here."""
_TOLERATED: Final = 8
"""A worker may have an eighth more connections than another, and one."""


class ConnectionCounts:
    """The parent opens them, and each worker has its own."""

    def __init__(self, descriptor: int, count: int) -> None:
        self.descriptor = descriptor
        self._counts = memoryview(mmap.mmap(descriptor, count * _BYTES)).cast("I")

    @classmethod
    def opened(cls, count: int) -> "ConnectionCounts":
        """For so many workers, none of which runs yet."""
        descriptor = _memory()
        os.ftruncate(descriptor, count * _BYTES)
        return cls(descriptor, count)

    def end(self, number: int) -> None:
        """Of a worker whose process is gone: nobody waits for it."""
        self._counts[number - 1] = _GONE

    def place(self, number: int) -> "WorkerCount":
        return WorkerCount(self._counts, number - 1)


class WorkerCount:
    """That of one worker, and what the others say to it."""

    def __init__(self, counts: memoryview, place: int) -> None:
        self._counts = counts
        self._place = place

    def tell(self, connections: int) -> None:
        self._counts[self._place] = connections + 1

    def leave(self) -> None:
        self._counts[self._place] = _GONE

    def precedence(self, number: int) -> "WorkerFirst":
        """At the socket that is meant for the worker of that number."""
        return WorkerFirst(self, self._counts, number - 1, is_owner=number - 1 == self._place)

    def lag(self) -> bool:
        mine = self._counts[self._place]
        least = min((count for count in self._counts if count != _GONE), default=mine)
        return mine > least + 1 + (least - 1) // _TOLERATED


class WorkerFirst:
    """Another worker takes the connections of a socket that is not meant for it only when their owner has gone, or did
    nothing with its connections for as long as it had time. Those of one that has gone are shared by count."""

    def __init__(self, mine: WorkerCount, counts: memoryview, owner: int, *, is_owner: bool) -> None:
        self._mine = mine
        self._counts = counts
        self._owner = owner
        self._is_owner = is_owner
        self._before = _GONE

    def is_others(self) -> bool:
        if self._is_owner:
            return False
        self._before = self._counts[self._owner]
        return self._before != _GONE or self._mine.lag()

    def is_left(self) -> bool:
        return self._counts[self._owner] == self._before


def _memory() -> int:
    """Not a file where that is possible: a unit may have no folder to write to, and a disk can be slow or full."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("connections")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
