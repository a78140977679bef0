"""Reads requested together are read together: whatever waits while one statement runs becomes the next one.

Behind lone reads a read is sent at once. Every answer was read after it was requested; nothing is cached.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from aop.store.batching_window import BatchingWindow
from aop.store.database import SERVER_LOST, Connection, Database, translated
from aop.store.problems import StoreUnavailable

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")
_MAX_TOGETHER = 512


class GroupedReads(Generic[K, R]):
    """`read` answers the keys it finds; the others are answered None."""

    def __init__(self, database: Database, read: Callable[[Connection, Sequence[K]], Awaitable[Mapping[K, R]]]) -> None:
        self._database = database
        self._kept = database.keep()
        self._read = read
        self._window = BatchingWindow(_MAX_TOGETHER)
        self._waiting: list[tuple[K, asyncio.Future[R | None]]] = []
        self._reading_now: Sequence[tuple[K, asyncio.Future[R | None]]] = ()
        self._reading: asyncio.Task[None] | None = None
        self._closing = False

    async def get(self, key: K) -> R | None:
        return await self.begin(key)

    def begin(self, key: K) -> "asyncio.Future[R | None]":
        """The same without a coroutine: one step less on the way of every call. The statement of a lone
        call leaves in the next turn of the loop. A caller that no longer waits cancels the answer, which takes it from
        no other caller."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[R | None] = loop.create_future()
        self._waiting.append((key, answer))
        if self._reading is None:
            self._reading = loop.create_task(self._read_all())
        return answer

    async def close(self) -> None:
        """No read may be requested any more; those that wait are cancelled."""
        self._closing = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
        if self._kept is not None:
            await self._kept.release()
        for _, answer in (*self._reading_now, *self._waiting):
            answer.cancel()  # of those that have their answer nothing changes

    async def _read_all(self) -> None:
        while self._waiting:
            await self._window.gather(self._waiting)
            batch, self._waiting = self._waiting[:_MAX_TOGETHER], self._waiting[_MAX_TOGETHER:]
            self._reading_now = batch
            self._window.had(len(batch))
            keys = list(dict.fromkeys([key for key, _ in batch])) if len(batch) > 1 else [batch[0][0]]
            try:
                found = await self._found(keys)
            except asyncio.CancelledError:
                if self._closing:
                    raise
                # Out of the read alone. Whoever waits was not cancelled, and the next batch is read as well.
                _tell_all(batch, StoreUnavailable("CancelledError"))
                continue
            except Exception as fault:  # noqa: BLE001  whatever it is, everyone who waits gets it
                _tell_all(batch, fault)
                continue
            for key, answer in batch:
                if not answer.done():
                    answer.set_result(found.get(key))
        self._reading = None

    async def _found(self, keys: Sequence[K]) -> Mapping[K, R]:
        kept = self._kept
        if kept is None:
            async with self._database.connection() as connection:
                return await self._read(connection, keys)
        try:
            return await self._read(await kept.opened(), keys)
        except Exception as failure:
            if isinstance(failure, SERVER_LOST):
                await kept.leave(failure)
            known = translated(failure)
            if known is failure:
                raise
            raise known from failure


def _tell_all(batch: Sequence[tuple[K, "asyncio.Future[R | None]"]], fault: Exception) -> None:
    for _, answer in batch:
        if not answer.done():
            # One for each: an exception that is raised in several places gathers all their tracebacks.
            own = type(fault).__new__(type(fault), *fault.args)
            answer.set_exception(own.with_traceback(fault.__traceback__))
