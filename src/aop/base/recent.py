"""Values by key, those used last, as many as two limits allow: a number of them, and an amount of memory."""

import sys
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """`keep` says what a value weighs; one that is too heavy alone is not kept."""

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
        self.forget(key)
        if weight > self._max_bytes:
            return
        self._kept[key] = (value, weight)
        self._bytes += weight
        while self._bytes > self._max_bytes or len(self._kept) > self._max_items:
            _, (_, freed) = self._kept.popitem(last=False)
            self._bytes -= freed

    def forget(self, key: K) -> None:
        _, freed = self._kept.pop(key, (None, 0))
        self._bytes -= freed
