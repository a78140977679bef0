"""A real PostgreSQL for tests: one server per session, one cheap copy of a migrated database per test."""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

from aop.local.postgres import EmbeddedPostgres, Login
from aop.local.state import DatabaseUrls
from aop.store.database import Database
from aop.store.migrations import GROUP_ROLES, OWNER_ROLE, migrate
from tests.support.waiting import PATIENCE_SECONDS

_PASSWORD = "test-password"
_LOGINS = (
    Login("test_control_plane", _PASSWORD, ["aop_control_plane"]),
    Login("test_router", _PASSWORD, ["aop_router"]),
    Login("test_migration", _PASSWORD, [OWNER_ROLE]),
)
_TEMPLATE = "platform_template"
_PATIENCE_MILLIS = round(PATIENCE_SECONDS * 1000)
# Nothing a test writes needs to survive the machine, and no password here is worth guessing.
_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "scram_iterations": "1",
    "max_wal_size": "128MB",
    "track_commit_timestamp": "on",
}
_MEMORY = Path("/dev/shm")  # noqa: S108
_MEMORY_BYTES = 2 * 1024**3
_PLACE = "aop-tests-{}-"


class PostgresForTests:
    def __init__(self, server: EmbeddedPostgres, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._numbers = count(1)
        self._administrator: Any = None
        self._one_at_a_time = asyncio.Lock()

    def url(self, database: str, user: str | None = None) -> str:
        """Of a test login, or of the superuser."""
        if user is None:
            return self._server.url(database=database)
        return self._server.url(database=database, user=user, password=_PASSWORD)

    async def new_database(self, template: str = "template1", owner: str = OWNER_ROLE) -> str:
        """The name of a new database, a copy of the template, which nobody may be using."""
        name = f"test_{next(self._numbers)}"
        await self._administer(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {owner} STRATEGY file_copy")
        return name

    async def new_platform(self) -> DatabaseUrls:
        """A new database at the current version, with the three logins of contract 13.6."""
        name = await self.new_database(_TEMPLATE)
        # The rights of a database are not copied with it.
        rights = f"SELECT datacl FROM pg_catalog.pg_database WHERE datname = '{_TEMPLATE}'"
        await self._administer(f"UPDATE pg_catalog.pg_database SET datacl = ({rights}) WHERE datname = '{name}'")
        return self.platform_urls(name)

    async def drop(self, database: str) -> None:
        await self._administer(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def platform_urls(self, database: str) -> DatabaseUrls:
        control_plane, router, migration = (self.url(database, login.name) for login in _LOGINS)
        return DatabaseUrls(control_plane, router, migration)

    async def execute(self, statement: str, database: str = "postgres") -> None:
        """As superuser."""
        async with session(self.url(database)) as connection:
            await connection.execute(statement)

    async def prepare(self) -> None:
        await self._server.create_database(_TEMPLATE, owner=OWNER_ROLE, groups=GROUP_ROLES, logins=_LOGINS)
        await migrate(self.platform_urls(_TEMPLATE).migration)

    async def _administer(self, statement: str) -> None:
        """On one connection for all tests; it belongs to the loop of the server, while they have loops of their own."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._administered(statement), self._loop))

    async def _administered(self, statement: str) -> None:
        async with self._one_at_a_time:
            if self._administrator is None or self._administrator.is_closed():
                self._administrator = await asyncpg.connect(self.url("postgres"))
            await self._administrator.execute(statement)


@asynccontextmanager
async def session(url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection that is closed in the end."""
    connection = await asyncpg.connect(url, timeout=PATIENCE_SECONDS)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def opened_database(
    url: str, *, size: int = 1, kind: type[Database] = Database, statement_ms: int = _PATIENCE_MILLIS
) -> AsyncIterator[Database]:
    """As a unit opens it, but patient: a machine that stands still for seconds ends no statement."""
    database = await kind.open(url, size=size, application="test", statement_ms=statement_ms)
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def running_postgres(folder: Path) -> Iterator[PostgresForTests]:
    """Runs the server on a loop and thread of its own, so that tests with their own loops can share it.

    The thread lives as long as the server: the kernel ends a child whose starting thread ends.
    """
    loop, begun, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    outcome: list[PostgresForTests | BaseException] = []

    async def serve(home: Path) -> None:
        try:
            async with EmbeddedPostgres(home, folder / "postgres.log", settings=_FAST) as server:
                ready = PostgresForTests(server, loop)
                await ready.prepare()
                outcome.append(ready)
                begun.set()
                await stop.wait()
        except BaseException as problem:
            outcome.append(problem)
            raise
        finally:
            begun.set()

    with _quick_place(folder) as place:
        thread = threading.Thread(target=lambda: loop.run_until_complete(serve(place / "postgres")))
        thread.start()
        begun.wait()
        try:
            if isinstance(outcome[0], BaseException):
                raise outcome[0]
            yield outcome[0]
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()


@contextmanager
def _quick_place(folder: Path) -> Iterator[Path]:
    """In memory if there is room: a database is copied there at a fifth of the cost. Else the folder itself."""
    if not os.access(_MEMORY, os.W_OK) or shutil.disk_usage(_MEMORY).free < _MEMORY_BYTES:
        yield folder
        return
    _clear_what_killed_runs_left()
    place = Path(tempfile.mkdtemp(prefix=_PLACE.format(os.getpid()), dir=_MEMORY))
    place.chmod(0o711)  # the server may have to run as somebody else
    try:
        yield place
    finally:
        shutil.rmtree(place)


def _clear_what_killed_runs_left() -> None:
    for left in _MEMORY.glob(_PLACE.format("*")):
        if not Path("/proc", left.name.split("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
