"""The Ledger as a test sees it: every row as a value, who waits for a lock, and a lock of one's own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg

from aop.ledger.model import OPENING_EVENTS, Opening
from proof.record import Fact, Recorded
from tests.support.waiting import becomes_true

# When a row became durable, on servers that keep it.
_DURABLE = (
    "CASE WHEN current_setting('track_commit_timestamp')::boolean"
    " THEN pg_xact_commit_timestamp({0}.xmin) END AS durable"
)
_INVOCATIONS = (
    f"SELECT invocation_id, trace_id, opening, created_at, {_DURABLE.format('invocation')} FROM ledger.invocation"
    " ORDER BY created_at, invocation_id"
)
_FACTS = (
    "SELECT invocation_id, sequence, type, error_code, occurred_at, chunk_index, chunk_count,"
    f" {_DURABLE.format('event')} FROM ledger.event ORDER BY invocation_id, sequence"
)
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@dataclass(frozen=True)
class LedgerView:
    """`superuser` is the URL of the database for its superuser, past any proxy."""

    superuser: str

    async def rows(self, query: str, *values: Any) -> Sequence[Any]:
        connection = await asyncpg.connect(self.superuser, timeout=10)
        try:
            return list(await connection.fetch(query, *values))
        finally:
            await connection.close()

    async def recorded(self) -> list[Recorded]:
        """All of it, in the order of creation, read in one snapshot."""
        connection = await asyncpg.connect(self.superuser, timeout=10)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                invocations, events = await connection.fetch(_INVOCATIONS), await connection.fetch(_FACTS)
        finally:
            await connection.close()
        facts: dict[Any, list[Fact]] = {}
        for row in events:
            facts.setdefault(row["invocation_id"], []).append(_fact(row))
        return [_recorded(row, facts.get(row["invocation_id"], [])) for row in invocations]

    async def cancel_requested(self) -> set[str]:
        rows = await self.rows("SELECT invocation_id FROM ledger.cancel_request")
        return {f"inv_{row['invocation_id'].hex}" for row in rows}

    async def waiting_writers(self, number: int) -> None:
        connection = await asyncpg.connect(self.superuser)

        async def enough() -> bool:
            return int(await connection.fetchval(_WAITING)) >= number

        try:
            await becomes_true(enough)
        finally:
            await connection.close()

    @asynccontextmanager
    async def locked(self, table: str) -> AsyncIterator[None]:
        """Nothing can be added to the table meanwhile."""
        connection = await asyncpg.connect(self.superuser)
        try:
            async with connection.transaction():
                await connection.execute(f"LOCK TABLE ledger.{table} IN SHARE MODE")
                yield
        finally:
            await connection.close()


def _fact(row: Any) -> Fact:
    return Fact(
        row["sequence"],
        row["type"],
        row["error_code"],
        row["occurred_at"].timestamp(),
        None if row["durable"] is None else row["durable"].timestamp(),
        row["chunk_index"],
        row["chunk_count"],
    )


def _recorded(row: Any, facts: Sequence[Fact]) -> Recorded:
    return Recorded(
        f"inv_{row['invocation_id'].hex}",
        row["trace_id"].hex,
        len(OPENING_EVENTS[Opening(row["opening"])]),
        row["created_at"].timestamp(),
        None if row["durable"] is None else row["durable"].timestamp(),
        facts,
    )
