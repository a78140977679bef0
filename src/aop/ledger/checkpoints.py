"""Checkpoints: how far an epoch is settled, so that closing it after a crash looks at little."""

import asyncio

from aop.base.database import Database, StoreUnavailable
from aop.ledger.journal import Journal

PAUSE_SECONDS = 10.0


class Checkpoints:
    def __init__(self, database: Database, journal: Journal, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._database = database
        self._journal = journal
        self._pause_seconds = pause_seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        written = 1
        while True:
            await asyncio.sleep(self._pause_seconds)
            settled = self._journal.settled_before
            if settled > written:
                try:
                    await self._journal.checkpoint(self._database, settled)
                except StoreUnavailable:
                    continue  # only a saving of later work; the next round writes a further one
                written = settled
