"""Reads requested together are read together: whatever waits while one statement runs becomes the next one.

A lone read is sent at once. Every answer was read after it was requested; nothing is cached.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from aop.store.database import Connection, Database
from aop.store.problems import StoreUnavailable

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")
_MAX_TOGETHER = 512
# Calls that came in together ask within a few turns of the loop; a lone one loses microseconds to them.
_TURNS_TO_GATHER = 2


class GroupedReads(Generic[K, R]):
    """`read` answers the keys it finds; the others are answered None."""

    def __init__(self, database: Database, read: Callable[[Connection, Sequence[K]], Awaitable[Mapping[K, R]]]) -> None:
        self._database = database
        self._read = read
        self._waiting: list[tuple[K, asyncio.Future[R | None]]] = []
        self._reading_now: Sequence[tuple[K, asyncio.Future[R | None]]] = ()
        self._reading: asyncio.Task[None] | None = None

    async def get(self, key: K) -> R | None:
        answer: asyncio.Future[R | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, answer))
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        return await answer

    async def close(self) -> None:
        """Nobody may ask any more; who still waits is cancelled."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
        for _, answer in (*self._reading_now, *self._waiting):
            answer.cancel()  # of those that have their answer nothing changes

    async def _read_all(self) -> None:
        while self._waiting:
            for _ in range(_TURNS_TO_GATHER):
                await asyncio.sleep(0)
            self._reading_now, self._waiting = self._waiting[:_MAX_TOGETHER], self._waiting[_MAX_TOGETHER:]
            await self._answer(self._reading_now)
        self._reading = None

    async def _answer(self, batch: Sequence[tuple[K, "asyncio.Future[R | None]"]]) -> None:
        try:
            async with self._database.connection() as connection:
                found = await self._read(connection, list(dict.fromkeys(key for key, _ in batch)))
        except Exception as fault:  # noqa: BLE001  whatever it is, everyone who waits gets it
            for _, answer in batch:
                if not answer.done():
                    # One for each: an exception that is raised in several places gathers all their tracebacks.
                    answer.set_exception(StoreUnavailable(str(fault)) if isinstance(fault, StoreUnavailable) else fault)
            return
        for key, answer in batch:
            if not answer.done():
                answer.set_result(found.get(key))
