"""How PostgreSQL finds what figures ask for: by key, whatever it knew of the tables when the statement was planned."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.contracts.figures import Window
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.model import SUCCEEDED
from aop.local.state import DatabaseUrls
from aop.store.database import Database
from tests.ledger.test_sequence import all_numbered, sequencer
from tests.ledger.writing import SPACE, an_acceptance, an_end, writing
from tests.support.postgres import PostgresForTests, opened_database

pytestmark = pytest.mark.second_ring

CALLS = 240
# How often the index of Workspace and time was asked, which has the id of an Invocation in its last column alone.
SCANS = """
SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_indexes
 WHERE schemaname = 'ledger' AND indexrelname LIKE 'invocation_%workspace_id_created_at%'
"""


async def test_a_plan_of_a_young_ledger_does_not_last_when_it_has_grown(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    """Analyzed while it was empty, a month makes every index look alike, and the plan of then would read the whole of
    one for each call."""
    now = utc_now().replace(second=0, microsecond=0)
    window = Window(now - timedelta(minutes=59), now + timedelta(minutes=5), 60)
    owner = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    await owner.execute("ANALYZE")
    await owner.close()
    async with (
        opened_database(stores.router) as database,
        writing(stores.router) as written,
        sequencer(stores.router, "router-2"),
    ):
        figures = FiguresReader(database)
        for _ in range(2):
            await figures.read(SPACE, window)
        places = await asyncio.gather(*(written.journal.accept(an_acceptance()) for _ in range(CALLS)))
        for place in places:
            assert await written.journal.end(an_end(place, SUCCEEDED))
        await all_numbered(stores.router)
        before = await scans(database)
        assert (await figures.read(SPACE, window)).total.counts.calls == CALLS
        assert await scans(database) - before < CALLS


async def scans(database: Database) -> int:
    """By the one session of this database, which tells its counts at once."""
    async with database.connection() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
        await connection.execute("SELECT pg_stat_clear_snapshot()")
        return int(await connection.fetchval(SCANS))
