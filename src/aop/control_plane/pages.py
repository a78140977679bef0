"""A page of a list: some items, and where the next page begins."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, Self, TypeVar

import msgspec

TimePosition = tuple[datetime, str]
"""The position of most lists: a time, then an id."""

T = TypeVar("T")
P = TypeVar("P")


class ListPage(msgspec.Struct, Generic[T, P], frozen=True):
    """`last` is the position of the last item; None when no item follows it."""

    items: Sequence[T]
    last: P | None

    @classmethod
    def of(cls, items: Sequence[T], position: Callable[[T], P], *, is_last: bool) -> Self:
        return cls(items, None if is_last else position(items[-1]))

    @classmethod
    def cut(cls, items: Sequence[T], limit: int, position: Callable[[T], P]) -> Self:
        """Of items that were read up to one more than the limit: one more tells that there is a next page."""
        return cls.of(items[:limit], position, is_last=len(items) <= limit)
