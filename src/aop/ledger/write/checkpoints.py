"""Checkpoints: how far an epoch is settled and counted, so that closing it after a crash has little to read."""

import asyncio

from aop.ledger.write.journal import Journal
from aop.store.database import Database
from aop.store.problems import StoreUnavailable

PAUSE_SECONDS = 10.0
MAX_COUNTED_AT_ONCE = 50_000
"""How many positions one checkpoint covers at most: more would not be counted within the time of a statement."""


class Checkpoints:
    def __init__(self, database: Database, journal: Journal, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._database = database
        self._journal = journal
        self._pause_seconds = pause_seconds
        self._written = 1

    async def turn(self) -> None:
        await asyncio.sleep(self._pause_seconds)
        settled = min(self._journal.settled_before, self._written + MAX_COUNTED_AT_ONCE)
        if settled > self._written:
            try:
                await self._journal.checkpoint(self._database, settled)
            except StoreUnavailable:
                return  # only a saving of later work; the next turn writes a further one
            self._written = settled
