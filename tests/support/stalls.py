"""Commits that stall: their backends are stopped in the middle, so that nobody can end them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg

from tests.support.waiting import background

_IN_COMMIT = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
_PAUSE_SECONDS = 0.02


@asynccontextmanager
async def stalled_commits(administrator: str) -> AsyncIterator[set[int]]:
    """Gives the backends that were caught in a commit so far. Only sessions that wait for their commits are met."""
    connection, caught = await asyncpg.connect(administrator), set[int]()
    try:
        async with background(_catch(administrator, caught)):
            await connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            await connection.execute("SELECT pg_reload_conf()")
            yield caught
    finally:
        await connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()
        signal_all(signal.SIGCONT, *caught)


async def _catch(administrator: str, caught: set[int]) -> None:
    connection = await asyncpg.connect(administrator)
    try:
        while True:
            for row in await connection.fetch(_IN_COMMIT):
                if row["pid"] not in caught:
                    os.kill(row["pid"], signal.SIGSTOP)
                    caught.add(row["pid"])
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        connection.terminate()


def signal_all(number: signal.Signals, *pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
