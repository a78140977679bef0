"""One value for all callers, made again when it has become old, by one of them at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Fresh(Generic[T]):
    """However many ask, `find` runs once at a time, and not again before `seconds` have passed since it returned.
    What it raises is for the one that asked; the next one tries again."""

    def __init__(self, find: Callable[[], Awaitable[T]], seconds: float) -> None:
        self._find = find
        self._seconds = seconds
        self._finding = asyncio.Lock()
        self._found: tuple[T, float] | None = None

    async def get(self) -> T:
        async with self._finding:
            loop = asyncio.get_running_loop()
            if self._found is None or loop.time() - self._found[1] >= self._seconds:
                value = await self._find()
                # Those that waited meanwhile share it, also when it took longer than it stays fresh.
                self._found = (value, loop.time())
            return self._found[0]
