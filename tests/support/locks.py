"""Finds out that a write has begun and waits for a lock that a test holds."""

import asyncpg

from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def waiting_for_a_lock(postgres: PostgresForTests, stores: DatabaseUrls) -> None:
    """Returns once some backend of this database waits."""
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))

    async def waits() -> bool:
        return bool(await connection.fetchval(_WAITING))

    try:
        await becomes_true(waits)
    finally:
        await connection.close()
