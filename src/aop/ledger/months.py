"""The partitions of the Ledger, one for each month, which are made ahead of need."""

import asyncio
from contextlib import suppress

from aop.store.database import Database
from aop.store.problems import StoreNotAsExpected, StoreUnavailable

PAUSE_SECONDS = 600.0

# By the clock of the store: root tasks of a clock that is wrong by a month are refused.
_THIS_MONTH = (
    "SELECT EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'ledger.event'::regclass AND inhrelid ="
    " to_regclass('ledger.event' || to_char(now() AT TIME ZONE 'UTC', '_YYYY_MM')))"
)


class Months:
    """Any Router makes them, with rights that the store's function has and the Router has not."""

    def __init__(self, database: Database, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._database = database
        self._pause_seconds = pause_seconds

    async def turn(self) -> None:
        with suppress(StoreUnavailable):  # gone, or a table is in use; there are two months of time
            await self.make()
        await asyncio.sleep(self._pause_seconds)

    async def make(self) -> int:
        """How many were missing."""
        async with self._database.connection() as connection:
            made: int = await connection.fetchval("SELECT ledger.make_months()")
        return made

    async def check(self) -> None:
        """The readiness check: without the partition of this month nothing can be accepted."""
        async with self._database.connection() as connection:
            if not await connection.fetchval(_THIS_MONTH):
                raise StoreNotAsExpected("the Ledger has no partition for this month; run: aop migrate")
