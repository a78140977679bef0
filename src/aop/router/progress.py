"""Progress of a stream in the Ledger: at most one fact per quarter second, never in the way of a chunk."""

import asyncio
from collections.abc import Callable, Sequence

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.ledger.journal import Journal
from aop.ledger.model import Fact, Place, Progress, progress_fact

PAUSE_SECONDS = 0.25


class ProgressKeeper:
    """Gathers chunks and records them. `failed` is called, once, when the store does not take a fact."""

    def __init__(self, journal: Journal, clock: Clock, place: Place, failed: Callable[[], None]) -> None:
        self._journal = journal
        self._clock = clock
        self._failed = failed
        self._place = place
        self._count = 0
        self._size = 0
        self._written_at = float("-inf")
        self._writing: asyncio.Task[None] | None = None
        self._unconfirmed: Fact | None = None

    def note(self, size: int) -> None:
        self._count += 1
        self._size += size
        if self._writing is None and self._unconfirmed is None:
            self._writing = asyncio.create_task(self._write_all())

    async def close(self) -> tuple[Place, Sequence[Fact]]:
        """Where the Invocation stands, and the facts that must still go out in front of its terminal."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
        facts = [] if self._unconfirmed is None else [self._unconfirmed]
        place = self._place if self._unconfirmed is None else self._unconfirmed.place()
        if self._count:
            facts.append(self._gather(place))
            place = facts[-1].place()
        return place, facts

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._count and self._unconfirmed is None:
            await asyncio.sleep(self._written_at + PAUSE_SECONDS - loop.time())
            self._written_at = loop.time()
            fact = self._gather(self._place)
            if await self._journal.progress(fact):
                self._place = fact.place()
            else:
                self._unconfirmed = fact
                self._failed()
        self._writing = None

    def _gather(self, place: Place) -> Fact:
        progress = Progress(self._count, self._size)
        self._count = self._size = 0
        return progress_fact(place, new_hex_id(), self._clock(), progress)
