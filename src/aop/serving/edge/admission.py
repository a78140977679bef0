"""Admission: one counter per kind of call, no queue; a full or draining unit refuses at once."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aop.contracts.errors import Overloaded


class Slots:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = True
        self._taken = 0
        self._emptied = asyncio.Event()

    @property
    def taken(self) -> int:
        return self._taken

    def take(self) -> None:
        """Overloaded when there is none; the caller gives it back, whatever happens."""
        if not self._open or self._taken >= self._limit:
            raise Overloaded("no free slot" if self._open else "draining")
        self._taken += 1

    def give_back(self) -> None:
        self._taken -= 1
        self._notice_empty()

    @contextmanager
    def hold(self) -> Iterator[None]:
        self.take()
        try:
            yield
        finally:
            self.give_back()

    def close(self) -> None:
        """Refuses new calls from now on; running ones keep their slot."""
        self._open = False
        self._notice_empty()

    async def emptied(self) -> None:
        """Returns once the slots are closed and the last call has given its own back."""
        await self._emptied.wait()

    def _notice_empty(self) -> None:
        if not self._open and not self._taken:
            self._emptied.set()
