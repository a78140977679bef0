"""Progress of a stream in the Ledger: at most one fact per quarter second, never in the way of a chunk."""

import asyncio
from collections.abc import Callable, Sequence

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.ledger.model import Fact, LastFact, Progress, progress_fact
from aop.ledger.write.group_commit import EpochFenced
from aop.ledger.write.journal import Journal

PAUSE_SECONDS = 0.25


class ProgressKeeper:
    """Gathers chunks and records them a quarter second after the first of them, so that a short stream leaves all of
    it to the transaction of its terminal. `failed` is called, once, when the store does not take a fact."""

    def __init__(self, journal: Journal, clock: Clock, last_fact: LastFact, failed: Callable[[], None]) -> None:
        self._journal = journal
        self._clock = clock
        self._failed = failed
        self._last_fact = last_fact
        self._count = 0
        self._size = 0
        self._due: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._unconfirmed: Fact | None = None
        self._closed = False

    def note(self, size: int, chunks: int = 1) -> None:
        self._count += chunks
        self._size += size
        if self._due is None:
            self._pause()

    async def close(self) -> tuple[LastFact, Sequence[Fact]]:
        """Where the Invocation stands, and the facts that must still go out in front of its terminal."""
        self._closed = True
        if self._due is not None:
            self._due.cancel()
        if self._writing is not None:
            await asyncio.wait({self._writing})
        facts = [] if self._unconfirmed is None else [self._unconfirmed]
        last_fact = self._last_fact if self._unconfirmed is None else self._unconfirmed.as_last()
        if self._count:
            facts.append(self._gather(last_fact))
            last_fact = facts[-1].as_last()
        return last_fact, facts

    def _pause(self) -> None:
        self._due = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._begin)

    def _begin(self) -> None:
        # The handle stays until the fact is written: chunks noted meanwhile start no second write.
        self._writing = asyncio.create_task(self._write(self._gather(self._last_fact)))

    async def _write(self, fact: Fact) -> None:
        if not await self._is_kept(fact):
            self._unconfirmed = fact
            self._failed()
            return
        self._last_fact = fact.as_last()
        self._due = None
        if self._count and not self._closed:
            self._pause()

    async def _is_kept(self, fact: Fact) -> bool:
        try:
            return await self._journal.progress(fact)
        except EpochFenced:
            return False

    def _gather(self, last_fact: LastFact) -> Fact:
        progress = Progress(self._count, self._size)
        self._count = self._size = 0
        return progress_fact(last_fact, new_hex_id(), self._clock(), progress)
