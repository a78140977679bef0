"""Entries that wait for a group commit, in the order in which they came, and their results."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

E = TypeVar("E")
A = TypeVar("A")
T = TypeVar("T")
Meanwhile = Callable[[], None]

MAX_IN_BATCH = 512


@dataclass(slots=True)
class Waiting(Generic[E, A]):
    entry: E
    since: float
    result: asyncio.Future[A] = field(repr=False)
    meanwhile: Meanwhile | None = None

    def tell(self, result: A) -> None:
        if not self.result.done():
            self.result.set_result(result)


def taken(queue: list[Waiting[E, A]]) -> list[Waiting[E, A]]:
    """The next batch, which waits no longer."""
    batch = queue[:MAX_IN_BATCH]
    del queue[:MAX_IN_BATCH]
    return batch


def tell_all(batch: Sequence[Waiting[E, A]], result: A) -> None:
    for waiting in batch:
        waiting.tell(result)


def call_all(functions: Sequence[Meanwhile]) -> None:
    for function in functions:
        function()


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[first : first + MAX_IN_BATCH] for first in range(0, len(items), MAX_IN_BATCH))
