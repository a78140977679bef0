"""The lock of a Router id: a session of the database holds it for as long as a unit of this Router runs.

Epochs alone make sure that nothing wrong is written. The lock keeps a second unit of the same id from starting at all,
and so from ending what the first one works on.
"""

import asyncio
from typing import Final

from aop.ledger.write.group_commit import Connect
from aop.store.database import CONNECTION_LOST, Connection, translated_failures
from aop.store.problems import StoreUnavailable

SILENT_SECONDS: Final = 5
"""The server ends a session that says nothing for so long: its process is frozen or gone, and another one may begin."""
WAIT_SECONDS: Final = SILENT_SECONDS + 2.0
PING_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 0.25


class RouterRuns(Exception):
    """Another unit of this Router id holds the lock."""


class RouterLock:
    def __init__(self, connect: Connect, router_id: str) -> None:
        self._connect = connect
        self._router_id = router_id
        self._connection: Connection | None = None

    async def take(self) -> None:
        """RouterRuns when another unit holds it and goes on to do so."""
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while not await self._try():
            if clock() > until:
                raise RouterRuns
            await asyncio.sleep(_RETRY_SECONDS)

    async def turn(self) -> None:
        """Speaks to the server in time, and takes the lock again after a failure.

        Should another unit be faster, its epochs fence the workers of this one, and that ends it.
        """
        await asyncio.sleep(PING_SECONDS)
        try:
            if self._connection is None:
                await self._try()
            else:
                async with translated_failures(), asyncio.timeout(SILENT_SECONDS):
                    await self._connection.execute("SELECT 1")
        except (*CONNECTION_LOST, StoreUnavailable):
            self.release()
        except Exception:
            self.release()  # its session may be of no use any more, and nobody else finds that out
            raise

    def release(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _try(self) -> bool:
        connection = await self._connect()
        try:
            async with translated_failures(), asyncio.timeout(SILENT_SECONDS):
                await connection.execute("SELECT set_config('idle_session_timeout', $1, false)", f"{SILENT_SECONDS}s")
                # The fence of an epoch uses the same names with the seed 0.
                taken = await connection.fetchval(
                    "SELECT pg_try_advisory_lock(hashtextextended($1, 1))", self._router_id
                )
        except BaseException:
            connection.terminate()
            raise
        if taken:
            self._connection = connection
        else:
            connection.terminate()
        return bool(taken)
