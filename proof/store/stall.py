"""Commits that wait, as for a disk that hangs, in backends that nobody can end until it is over."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg

_IN_COMMIT = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
_PAUSE_SECONDS = 0.02


@asynccontextmanager
async def stalled_commits(administrator: str) -> AsyncIterator[set[int]]:
    """Gives the backends that were caught in a commit so far. Only sessions that wait for their commits are met."""
    connection, caught = await asyncpg.connect(administrator), set[int]()
    catching = asyncio.create_task(_catch(administrator, caught))
    try:
        await connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        await connection.execute("SELECT pg_reload_conf()")
        yield caught
    finally:
        catching.cancel()
        await asyncio.wait({catching})
        await connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()
        for pid in caught:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


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
