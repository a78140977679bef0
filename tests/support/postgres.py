"""A real PostgreSQL for tests: one server per session, one cheap copy of a migrated database per test."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import asyncpg

from aop.base.migrations import GROUP_ROLES, OWNER_ROLE, migrate
from aop.local.postgres import EmbeddedPostgres, Login
from aop.local.state import DatabaseUrls

_PASSWORD = "test-password"
_LOGINS = (
    Login("test_control_plane", _PASSWORD, ["aop_control_plane"]),
    Login("test_router", _PASSWORD, ["aop_router"]),
    Login("test_migration", _PASSWORD, [OWNER_ROLE]),
)
_TEMPLATE = "platform_template"
# Nothing a test writes needs to survive the machine.
_FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


class PostgresForTests:
    def __init__(self, server: EmbeddedPostgres) -> None:
        self._server = server
        self._numbers = count(1)

    def url(self, database: str, user: str | None = None) -> str:
        """Of a test login, or of the superuser."""
        if user is None:
            return self._server.url(database=database)
        return self._server.url(database=database, user=user, password=_PASSWORD)

    async def new_database(self, template: str = "template1", owner: str = OWNER_ROLE) -> str:
        """The name of a new database, a copy of the template, which nobody may be using."""
        name = f"test_{next(self._numbers)}"
        await self.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {owner} STRATEGY file_copy")
        return name

    async def new_platform(self) -> DatabaseUrls:
        """A new database at the current version, with the three logins of contract 13.6."""
        urls = self.platform_urls(await self.new_database(_TEMPLATE))
        await migrate(urls.migration)  # the rights of a database are not copied with it
        return urls

    async def drop(self, database: str) -> None:
        await self.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def platform_urls(self, database: str) -> DatabaseUrls:
        control_plane, router, migration = (self.url(database, login.name) for login in _LOGINS)
        return DatabaseUrls(control_plane, router, migration)

    async def execute(self, statement: str, database: str = "postgres") -> None:
        """As superuser."""
        connection = await asyncpg.connect(self.url(database))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def prepare(self) -> None:
        await self._server.create_database(_TEMPLATE, owner=OWNER_ROLE, groups=GROUP_ROLES, logins=_LOGINS)
        await migrate(self.platform_urls(_TEMPLATE).migration)


@contextmanager
def running_postgres(folder: Path) -> Iterator[PostgresForTests]:
    """Runs the server on a loop and thread of its own, so that tests with their own loops can share it.

    The thread lives as long as the server: the kernel ends a child whose starting thread ends.
    """
    loop, begun, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    outcome: list[PostgresForTests | BaseException] = []

    async def serve() -> None:
        try:
            async with EmbeddedPostgres(folder / "postgres", folder / "postgres.log", settings=_FAST) as server:
                ready = PostgresForTests(server)
                await ready.prepare()
                outcome.append(ready)
                begun.set()
                await stop.wait()
        except BaseException as problem:
            outcome.append(problem)
            raise
        finally:
            begun.set()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="postgres for tests")
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
