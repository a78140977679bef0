"""Servers that archive, are backed up and recovered, and what a store holds and what guards it, as values."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from aop.local.postgres import EmbeddedPostgres
from aop.local.state import DatabaseUrls
from aop.store.database import Connection
from aop.store.migrations import OWNER_ROLE, OWNERS, migrate
from tests.support.postgres import PostgresForTests, session
from tests.support.processes import program
from tests.support.waiting import becomes_true

# Order does not matter, every row and every byte of it does.
_ROWS = (
    "SELECT count(*) || ' ' || coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0)::text"
    " FROM {0} AS t"
)
_TABLES = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1"
_INVALID = "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid"
_LOOSE = str.maketrans("", "", "() \n")
"""Brackets and blanks of a condition depend on how often it was written out and read in again."""
_TOOL_SECONDS = 600.0
_NOT_DURABLE = {"fsync": "off"}
"""No machine fails here."""


@dataclass(frozen=True)
class Facts:
    rows: Mapping[str, str]
    """By table: how many, and a digest over all of them."""
    schema: frozenset[str]
    """What makes the database anew: tables, guards and rights, and whatever index does not guard."""

    def differences(self, other: "Facts") -> list[str]:
        tables = sorted(self.rows.keys() | other.rows.keys())
        found = [f"rows of {table}" for table in tables if self.rows.get(table) != other.rows.get(table)]
        return found + [f"schema: {each}" for each in sorted(self.schema ^ other.schema)]


@dataclass(frozen=True)
class Store:
    """A running server and the platform's database on it."""

    server: EmbeddedPostgres
    folder: Path
    database: str

    @property
    def superuser(self) -> str:
        return self.server.url(database=self.database)

    @property
    def urls(self) -> DatabaseUrls:
        return PostgresForTests(self.server, asyncio.get_running_loop()).platform_urls(self.database)

    async def facts(self) -> Facts:
        async with session(self.superuser) as connection:
            return await self.facts_as_of(connection)

    async def facts_as_of(self, connection: Connection) -> Facts:
        """Rows as the transaction of the connection sees them, when it is in one."""
        tables = [row["name"] for row in await connection.fetch(_TABLES, list(OWNERS))]
        rows = {table: await connection.fetchval(_ROWS.format(table)) for table in tables}
        dumped = (await self.tool("pg_dump", "--schema-only", "--create", self.database)).decode()
        lines = [line for line in dumped.replace(self.database, "DATABASE").splitlines() if not line.startswith("\\")]
        _, *entries = "\n".join(lines).split("\n-- Name: ")
        invalid = [f"invalid index {row['name']}" for row in await connection.fetch(_INVALID)]
        return Facts(rows, frozenset([*(entry.translate(_LOOSE) for entry in entries), *invalid]))

    async def tool(self, name: str, *arguments: str) -> bytes:
        """The password travels in the environment of the program, never among its arguments."""
        parts = urlsplit(self.superuser)
        environment = {
            "PGHOST": parts.hostname or "",
            "PGPORT": str(parts.port),
            "PGUSER": parts.username or "",
            "PGPASSWORD": parts.password or "",
            "PATH": os.defpath,
            "LC_ALL": "C",
        }
        async with asyncio.timeout(_TOOL_SECONDS):
            return await program(str(self.server._binaries.program(name)), *arguments, env=environment)

    async def archived(self) -> None:
        """Waits until everything that is committed now lies in the archive."""
        async with session(self.superuser) as connection:
            last = await connection.fetchval("SELECT pg_walfile_name(pg_switch_wal())")

            async def there() -> bool:
                return bool((self.folder / "archive" / last).exists())

            await becomes_true(there, 60)


@asynccontextmanager
async def archiving_store(folder: Path) -> AsyncIterator[Store]:
    archive = folder / "archive"
    archive.mkdir()
    settings = {
        "archive_mode": "on",
        "archive_command": f"cp %p {archive}/new && mv {archive}/new {archive}/%f",
        "max_wal_size": "4GB",
        **_NOT_DURABLE,
    }
    server = EmbeddedPostgres(folder / "primary", folder / "primary.log", settings=settings)
    await server.prepare()
    os.chown(archive, server._account.owner, -1)
    async with server:
        ready = PostgresForTests(server, asyncio.get_running_loop())
        await ready.prepare()
        urls = await ready.new_platform()
        yield Store(server, folder, urls.migration.rpartition("/")[2])


async def base_backup(store: Store, target: Path) -> None:
    """While the server works; without the log, which the archive holds."""
    await store.tool("pg_basebackup", f"--pgdata={target}", "--checkpoint=fast", "--wal-method=none", "--no-sync")


@asynccontextmanager
async def recovered(store: Store, backup: Path, name: str, until: str | None = None) -> AsyncIterator[Store]:
    """Another server, from the backup and the archive: to the end of the archive, or to a named point."""
    home = store.folder / name
    home.mkdir()
    shutil.copytree(backup, home / "cluster")
    (home / "cluster" / "recovery.signal").touch()
    shutil.copy(store.server._cluster.home / "superuser", home / "superuser")
    (home / "made").touch()
    (home / "cluster").chmod(0o700)
    # Not to be asked before it has all of it.
    settings = {"hot_standby": "off", "restore_command": f"cp {store.folder}/archive/%f %p", **_NOT_DURABLE}
    if until is not None:
        settings |= {"recovery_target_name": until, "recovery_target_action": "promote"}
    async with EmbeddedPostgres(home, store.folder / f"{name}.log", settings=settings) as server:
        yield Store(server, store.folder, store.database)


async def dump(store: Store, target: Path) -> Facts:
    """While the server works; gives the facts as of the very moment the dump tells of."""
    async with (
        session(store.superuser) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
        options = ("--format=custom", f"--snapshot={snapshot}", f"--file={target}")
        await store.tool("pg_dump", *options, store.database)
        return await store.facts_as_of(connection)


async def undumped(store: Store, source: Path) -> Store:
    """Into a new database beside the old one; `aop migrate` gives it the rights that no dump carries."""
    other = Store(store.server, store.folder, "aop_restored")
    async with session(store.superuser) as connection:
        await connection.execute(f"CREATE DATABASE {other.database} OWNER {OWNER_ROLE}")
    await store.tool("pg_restore", f"--dbname={other.database}", "--exit-on-error", "--single-transaction", str(source))
    await migrate(other.urls.migration)
    return other
