"""Finds out that a write has begun and waits for a lock that a test holds."""

from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests, session
from tests.support.waiting import becomes_true

# A Router numbers events beside the writes that a test waits for, and may come to the same lock first.
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND query NOT LIKE '%ledger.number%'"
)


async def waiting_for_a_lock(postgres: PostgresForTests, stores: DatabaseUrls) -> None:
    """Returns once some backend of this database waits, other than one that numbers events."""
    async with session(postgres.url(stores.migration.rpartition("/")[2])) as connection:

        async def waits() -> bool:
            return bool(await connection.fetchval(_WAITING))

        await becomes_true(waits)
