"""The Ledger as a test sees it: every row as a value, who waits for a lock, and a lock of one's own."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aop.ledger.model import OPENING_EVENTS, Opening
from proof.record import Fact, Recorded
from tests.support.postgres import session
from tests.support.waiting import becomes_true

# When a row became durable, on servers that keep it.
_DURABLE = (
    "CASE WHEN current_setting('track_commit_timestamp')::boolean"
    " THEN extract(epoch FROM pg_xact_commit_timestamp({0}.xmin))::float8 END"
)
_ID = "'inv_' || replace(invocation_id::text, '-', '')"
_INVOCATIONS = (
    f"SELECT {_ID}, replace(trace_id::text, '-', ''), opening, extract(epoch FROM created_at)::float8,"
    f" {_DURABLE.format('invocation')} FROM ledger.invocation ORDER BY created_at, invocation_id"
)
_FACTS = (
    f"SELECT {_ID}, sequence, type, error_code, extract(epoch FROM occurred_at)::float8, {_DURABLE.format('event')},"
    " chunk_index, chunk_count FROM ledger.event ORDER BY invocation_id, sequence"
)
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@dataclass(frozen=True)
class LedgerView:
    """`superuser` is the URL of the database for its superuser, past any proxy."""

    superuser: str

    async def rows(self, query: str, *values: Any) -> Sequence[Any]:
        async with session(self.superuser) as connection:
            return list(await connection.fetch(query, *values))

    async def recorded(self) -> list[Recorded]:
        """All of it, in the order of creation, read in one snapshot."""
        async with (
            session(self.superuser) as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            invocations, events = await connection.fetch(_INVOCATIONS), await connection.fetch(_FACTS)
        facts: dict[str, list[Fact]] = defaultdict(list)
        for invocation_id, *fact in events:
            facts[invocation_id].append(Fact(*fact))
        return [
            Recorded(name, trace_id, len(OPENING_EVENTS[Opening(opening)]), created, durable, facts[name])
            for name, trace_id, opening, created, durable in invocations
        ]

    async def cancel_requested(self) -> set[str]:
        return {row[0] for row in await self.rows(f"SELECT {_ID} FROM ledger.cancel_request")}

    async def waiting_writers(self, number: int) -> None:
        async with session(self.superuser) as connection:

            async def enough() -> bool:
                return int(await connection.fetchval(_WAITING)) >= number

            await becomes_true(enough)

    @asynccontextmanager
    async def locked(self, table: str) -> AsyncIterator[None]:
        """Nothing can be added to the table meanwhile."""
        async with session(self.superuser) as connection, connection.transaction():
            await connection.execute(f"LOCK TABLE ledger.{table} IN SHARE MODE")
            yield
