"""Backends of the server by their own names: another connection can look for one, end it, and see that it has ended.

And writes that change nothing, which show what the server can still do.
"""

from contextlib import suppress
from datetime import datetime

import asyncpg

from aop.store.database import Connection
from aop.store.rows import Row, to_row

_TERMINATE_MS = 1000
# With the least memory its rows, half a megabyte of them, go to a temporary file.
_NEW_FILE = "SELECT count(*) FROM generate_series(1, 40000)"
_OF = "FROM pg_catalog.pg_stat_activity WHERE pid = $1 AND backend_start = $2 AND usename = current_user"


class Backend(Row, frozen=True):
    """A number alone is soon another process's, and on another server it always is."""

    pid: int
    started: datetime


async def backend_of(connection: Connection) -> Backend:
    own = "SELECT pid, backend_start FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid()"
    return to_row(Backend, await connection.fetchrow(own))


async def end_backend(connection: Connection, backend: Backend) -> bool:
    """True while it still runs."""
    name = (backend.pid, backend.started)
    await connection.fetchval(f"SELECT pg_catalog.pg_terminate_backend(pid, $3) {_OF}", *name, _TERMINATE_MS)
    return bool(await connection.fetchval(f"SELECT EXISTS (SELECT {_OF})", *name))


async def write_marker(connection: Connection) -> None:
    """A commit that changes no table: as any other it waits for the synchronous standby, and so for all before it."""
    await connection.execute("SELECT pg_catalog.pg_logical_emit_message(true, 'aop', '')")


async def require_writes(connection: Connection) -> None:
    """Raises when the server can write neither a new file beside its data nor its log. Needs no right."""
    with suppress(asyncpg.ConfigurationLimitExceededError):  # a login without temporary files says nothing of the disk
        async with connection.transaction():
            await connection.execute("SELECT set_config('work_mem', '64kB', true)")
            await connection.execute(_NEW_FILE)
    await write_marker(connection)
