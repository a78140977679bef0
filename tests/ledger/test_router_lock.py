"""The lock of a Router id is taken again after whatever ended its session."""

import asyncio

import asyncpg

from aop.base.loops import Loops
from aop.ledger.write.router_lock import RouterLock
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.support.waiting import becomes_true

SESSION = "FROM pg_stat_activity WHERE application_name = 'lock' AND datname = current_database()"
HOLDER = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid IN (SELECT pid {SESSION})"


class Unlisted(Exception):
    """As a new class of the driver would be."""


async def test_the_lock_is_taken_again_after_faults_that_nobody_listed(stores: DatabaseUrls) -> None:
    faults, opened = list[BaseException](), list[Connection]()

    async def connected() -> Connection:
        if len(opened) == 1 and len(faults) < 2:
            raise Unlisted
        opened.append(await connect(stores.router, application="lock"))
        return opened[-1]

    lock = RouterLock(connected, "router-1")
    await lock.take()
    watching = await asyncpg.connect(stores.router)
    before = await watching.fetchval(HOLDER)
    loops = Loops(lambda _: faults.append)
    loops.start("router id", lock.turn, max_pause_seconds=0.01)
    await watching.execute(f"SELECT pg_terminate_backend(pid) {SESSION}")

    async def is_held_again() -> bool:
        return await watching.fetchval(HOLDER) not in (None, before)

    await becomes_true(is_held_again)
    assert [type(fault) for fault in faults] == [Unlisted, Unlisted]
    await asyncio.wait([asyncio.create_task(loops.close())])
    lock.release()
    await watching.close()
