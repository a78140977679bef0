"""The months of the Ledger, a partition of each table for each: made ahead of need, or when a call needs one.

A month that was exported may be detached. Its numbers stay, and tell that what they name was archived.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID

import asyncpg

from aop.store.database import Connection, Database
from aop.store.problems import StoreNotAsExpected, StoreUnavailable
from aop.store.queries import queries_beside

PAUSE_SECONDS = 600.0
PARTITIONED: Final = ("cancel_request", "event", "invocation")
"""In the order in which they can be taken away: requests name Invocations."""
_QUERIES: Final = queries_beside(__file__)
_NAME: Final = re.compile(r"(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])")
_NO_PARTITION: Final = asyncpg.CheckViolationError.sqlstate
_ROOT: Final = re.compile(r"\(root_task_id\) = \(([0-9a-f-]{36})\)")


class Archived(Exception):
    """It was exported and detached with its month: an operator has the file."""


@dataclass(frozen=True, order=True)
class Month:
    """Of UTC. The id of a root task is a UUIDv7, which begins with its time."""

    first_day: date

    @classmethod
    def parse(cls, text: str) -> "Month":
        """Raises ValueError unless it is like 2026-03."""
        found = _NAME.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(date(int(found[1]), int(found[2]), 1))

    @classmethod
    def of(cls, moment: datetime) -> "Month":
        return cls(moment.astimezone(UTC).date().replace(day=1))

    @classmethod
    def of_root(cls, root_task: UUID) -> "Month":
        return cls.of(datetime.fromtimestamp((root_task.int >> 80) / 1000, UTC))

    @property
    def next(self) -> "Month":
        year, month = divmod(self.first_day.year * 12 + self.first_day.month, 12)
        return Month(date(year, month + 1, 1))

    @property
    def first_root(self) -> UUID:
        begun = datetime.combine(self.first_day, datetime.min.time(), UTC)
        return UUID(int=int(begun.timestamp() * 1000) << 80)

    @property
    def past_root(self) -> UUID:
        return self.next.first_root

    def partition(self, table: str) -> str:
        return f"{table}_{self.first_day:%Y_%m}"

    def __str__(self) -> str:
        return f"{self.first_day:%Y-%m}"


async def attached_months(connection: Connection) -> Sequence[Month]:
    """The oldest first."""
    names = [row[0] for row in await connection.fetch(_QUERIES["attached"])]
    return [Month.parse(name[-7:].replace("_", "-")) for name in names]


async def require_not_archived(connection: Connection, invocation: str, workspace_id: str | None) -> None:
    if await connection.fetchval(_QUERIES["is_invocation_archived"], UUID(invocation), workspace_id):
        raise Archived


async def require_trace_not_archived(connection: Connection, trace: str, workspace_id: str | None) -> None:
    if await connection.fetchval(_QUERIES["is_trace_archived"], UUID(trace), workspace_id):
        raise Archived


async def detached_numbers(connection: Connection, first: int, past: int) -> Sequence[int]:
    """The numbers in a range whose rows were detached."""
    rows = await connection.fetch(_QUERIES["detached_numbers"], first, past)
    return [number + offset for number, events in rows for offset in range(events)]


async def end_of_detached(connection: Connection, workspace_id: str) -> int:
    """The number after the last event of the Workspace that was detached; 0 if none was."""
    newest = await connection.fetchval("SELECT max(last_number) FROM ledger.detached_month")
    return 0 if newest is None else await connection.fetchval(_QUERIES["end_of_detached"], workspace_id, newest) or 0


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
            is_there: bool = await connection.fetchval(_QUERIES["has_this_month"])
        return is_there
