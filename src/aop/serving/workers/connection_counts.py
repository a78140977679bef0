"""How many connections each worker of a unit has, in memory that the workers share.

Whichever worker is awake gets the next connection, so one of four could have most of a burst. Each then writes its
groups of calls for itself: small groups, and more work in the store for the same calls.
"""

import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Final

from aop.net.server.neighbours import NEIGHBOURS_SECONDS, OwnerWorks

_BYTES: Final = 4
_OWNER_SECONDS: Final = 0.25
"""What a worker has to take a connection of its own socket. Longer than it waits for a core among a dozen others."""
_GONE: Final = 0
"""Of a worker that does not accept. One that does has 1 more than its connections here."""
_TOLERATED: Final = 8
"""A worker may have an eighth more connections than another, and one."""
_WRAPS: Final = 1 << 32


class ConnectionCounts:
    """The parent opens them, and each worker has its own."""

    def __init__(self, descriptor: int, count: int) -> None:
        self.descriptor = descriptor
        numbers = memoryview(mmap.mmap(descriptor, 2 * count * _BYTES)).cast("I")
        self._counts, self._changes = numbers[:count], numbers[count:]

    @classmethod
    def opened(cls, count: int) -> "ConnectionCounts":
        """For so many workers, none of which runs yet."""
        descriptor = _memory()
        os.ftruncate(descriptor, 2 * count * _BYTES)
        return cls(descriptor, count)

    def end(self, number: int) -> None:
        """Of a worker whose process is gone: no one waits for it."""
        self._counts[number - 1] = _GONE

    def place(self, number: int) -> "WorkerCount":
        return WorkerCount(self._counts, self._changes, number - 1)


class WorkerCount:
    """That of one worker, and what the others say to it."""

    def __init__(self, counts: memoryview, changes: memoryview, place: int) -> None:
        """`changes` has how often each count was written, so that one that is what it was before is no silence."""
        self._counts = counts
        self._changes = changes
        self._place = place

    def tell(self, connections: int) -> None:
        self._counts[self._place] = connections + 1
        self._changes[self._place] = (self._changes[self._place] + 1) % _WRAPS

    def leave(self) -> None:
        self._counts[self._place] = _GONE

    def precedence(self, number: int) -> "WorkerFirst":
        """At the socket that is meant for the worker of that number."""
        place = number - 1
        return WorkerFirst(self, lambda: (self._counts[place], self._changes[place]), is_owner=place == self._place)

    def lag(self) -> bool:
        mine = self._counts[self._place]
        least = min((count for count in self._counts if count != _GONE), default=mine)
        return mine > least + 1 + (least - 1) // _TOLERATED


class WorkerFirst:
    """Another worker takes the connections of a socket that is not meant for it only when their owner has gone, or is
    stuck: it did nothing with its connections for as long as it had time. Those connections are shared by count, and
    go back to their owner when it works again."""

    def __init__(self, mine: WorkerCount, owner: Callable[[], tuple[int, int]], *, is_owner: bool) -> None:
        """`owner` returns its count, and how often it was written."""
        self._mine = mine
        self._owner = owner
        self._is_owner = is_owner
        self._before = self._stuck = (_GONE, 0)

    def seconds_for_others(self) -> float:
        if self._is_owner:
            return 0
        self._before = self._owner()
        if self._before[0] != _GONE and self._before != self._stuck:
            return _OWNER_SECONDS
        return NEIGHBOURS_SECONDS if self._mine.lag() else 0

    def is_left(self) -> bool:
        return self._owner() == self._before

    def taken(self) -> OwnerWorks | None:
        """An owner that left one is stuck until it does something."""
        if self._is_owner:
            return None
        owner, before = self._owner, self._before
        self._stuck = before
        return lambda: (now := owner()) != before and now[0] != _GONE


def _memory() -> int:
    """Not a file where that is possible: a unit may have no folder to write to, and a disk can be slow or full."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("connections")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
