"""The partitions of the Ledger, one for each month: made ahead of need, and a missing one when a call needs it."""

import asyncio
import re
from contextlib import suppress
from typing import Final
from uuid import UUID

import asyncpg

from aop.ledger.archive.month import Month
from aop.store.database import Connection, Database
from aop.store.problems import StoreNotAsExpected, StoreUnavailable

PAUSE_SECONDS = 600.0

# By the clock of the store: root tasks of a clock that is wrong by a month are refused.
_THIS_MONTH = (
    "SELECT EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'ledger.event'::regclass AND inhrelid ="
    " to_regclass('ledger.event' || to_char(now() AT TIME ZONE 'UTC', '_YYYY_MM')))"
)
_NO_PARTITION: Final = asyncpg.CheckViolationError.sqlstate
_ROOT: Final = re.compile(r"\(root_task_id\) = \(([0-9a-f-]{36})\)")


def root_without_month(refusal: asyncpg.PostgresError) -> UUID | None:
    """The root task of the row that was refused because its month has no partition; None if there is another cause."""
    if refusal.sqlstate != _NO_PARTITION or refusal.constraint_name is not None:
        return None
    found = _ROOT.search(refusal.detail or "")
    return None if found is None else UUID(found[1])


async def make_month_of(connection: Connection, root_task: UUID) -> bool:
    """Whether its month has a partition now. One that is more than a year away, or behind a detached one, gets none."""
    await connection.execute("SELECT ledger.make_months($1)", root_task)
    name = f"ledger.{Month.of_root(root_task).partition('event')}"
    is_there: bool = await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", name)
    return is_there


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
        """The readiness check: without the partition of this month nothing can be accepted. A missing one is made."""
        if not await self._has_this_month():
            with suppress(StoreUnavailable):  # what cannot be made is missing
                await self.make()
            if not await self._has_this_month():
                raise StoreNotAsExpected("the Ledger has no partition for this month; run: aop migrate")

    async def _has_this_month(self) -> bool:
        async with self._database.connection() as connection:
            is_there: bool = await connection.fetchval(_THIS_MONTH)
        return is_there
