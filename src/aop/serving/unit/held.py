"""Bytes that a unit must hold for its calls: each call counts its own, and all together have a limit."""

from dataclasses import dataclass
from types import TracebackType
from typing import Final

DEFAULT_HELD_BYTES: Final = 256 * 1024 * 1024
FREE_BYTES: Final = 64 * 1024
"""What each call may hold without being counted; the number of calls bounds it."""


@dataclass
class HeldMemory:
    """One for the whole unit."""

    max_bytes: int = DEFAULT_HELD_BYTES
    taken: int = 0

    def held(self) -> "HeldBytes":
        """The share of one call: a scope that gives it back."""
        return HeldBytes(self)

    def full(self) -> Exception:
        """What a call fails with that would hold more than there is."""
        return MemoryError("the unit holds as much as it may")


class HeldBytes:
    """What one call holds at this moment: an upper bound, counted only where it is large."""

    __slots__ = ("_counted", "_memory", "size")

    def __init__(self, memory: HeldMemory) -> None:
        self._memory = memory
        self._counted = 0
        self.size = 0

    def __enter__(self) -> "HeldBytes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.keep(0)

    def add(self, size: int) -> None:
        self.keep(self.size + size)

    def keep(self, size: int) -> None:
        """Holds this much from now on, and nothing else."""
        self.size = size
        if size > FREE_BYTES or self._counted:
            self._count(size if size > FREE_BYTES else 0)

    def _count(self, counted: int) -> None:
        if self._memory.taken - self._counted + counted > self._memory.max_bytes and counted > self._counted:
            raise self._memory.full()
        self._memory.taken += counted - self._counted
        self._counted = counted
