"""Values by key in bounded memory: those used last, and of those with a time to live only what still holds."""

import sys
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """As many as two limits allow: a number of them, and an amount of memory. What was used longest ago gives way.

    `keep` says what a value weighs; one that is too heavy alone is not stored.
    """

    def __init__(self, max_bytes: int = sys.maxsize, *, max_items: int = sys.maxsize) -> None:
        self._max_bytes = max_bytes
        self._max_items = max_items
        self._bytes = 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def find(self, key: K) -> V | None:
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: K, value: V, weight: int = 0) -> None:
        """In the place of another value with this key."""
        if (before := self._kept.pop(key, None)) is not None:
            self._bytes -= before[1]
        if weight > self._max_bytes:
            return
        self._kept[key] = (value, weight)
        self._bytes += weight
        while self._bytes > self._max_bytes or len(self._kept) > self._max_items:
            _, (_, freed) = self._kept.popitem(last=False)
            self._bytes -= freed

    def forget(self, key: K) -> V | None:
        """The value that was stored until now."""
        value, freed = self._kept.pop(key, (None, 0))
        self._bytes -= freed
        return value


class TtlCache(Generic[K, V]):
    """Each value holds for the same time from the `now` of its `keep`, which may be before it was stored."""

    # Not made of a RecentlyUsed: a token is looked up here for every request, and one call less is worth these lines.
    def __init__(self, seconds: float, *, max_items: int = 10_000) -> None:
        self._seconds = seconds
        self._max_items = max_items
        self._values: OrderedDict[K, tuple[V, float]] = OrderedDict()

    def find(self, key: K, now: float) -> V | None:
        found = self._values.get(key)
        if found is None or now >= found[1]:
            return None
        self._values.move_to_end(key)
        return found[0]

    def keep(self, key: K, value: V, now: float) -> None:
        """In the place of another value with this key."""
        self._values[key] = (value, now + self._seconds)
        self._values.move_to_end(key)
        while self._values and (len(self._values) > self._max_items or next(iter(self._values.values()))[1] <= now):
            self._values.popitem(last=False)

    def forget(self, key: K) -> None:
        self._values.pop(key, None)
