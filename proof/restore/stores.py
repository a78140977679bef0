"""Servers that archive, are backed up and recovered, and what a store holds and what guards it, as values."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from aop.local.postgres import EmbeddedPostgres, Login
from aop.local.state import DatabaseUrls
from aop.store.database import Connection
from aop.store.migrations import GROUP_ROLES, OWNER_ROLE, OWNERS, migrate
from proof.area import program
from tests.support.waiting import becomes_true

# Order does not matter, every row and every byte of it does.
_ROWS = (
    "SELECT count(*) || ' ' || coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0)::text"
    " FROM {0} AS t"
)
_TABLES = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1"
# Brackets and blanks of a condition depend on how often it was written out and read in again.
_GUARDS = """
SELECT 'function ' || p.oid::regprocedure::text || ' ' || md5(pg_get_functiondef(p.oid)) FROM pg_proc AS p
 WHERE p.pronamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'trigger ' || tgenabled::text || ' ' || pg_get_triggerdef(t.oid)
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
 WHERE relnamespace = ANY($1::regnamespace[]) AND NOT tgisinternal
UNION ALL
SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, convalidated,
                 translate(pg_get_constraintdef(oid), E'() \n', ''))
  FROM pg_constraint WHERE connamespace = ANY($1::regnamespace[]) AND contype <> 'n'
UNION ALL
SELECT 'index ' || indisvalid::text || ' ' || pg_get_indexdef(indexrelid)
  FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE relnamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'view ' || oid::regclass::text || ' ' || pg_get_viewdef(oid)
  FROM pg_class WHERE relnamespace = ANY($1::regnamespace[]) AND relkind = 'v'
UNION ALL
SELECT concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull)
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
 WHERE relnamespace = ANY($1::regnamespace[]) AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v')
"""
_RIGHTS = """
SELECT 'schema ' || oid::regnamespace::text || ' ' || item::text
  FROM pg_namespace, unnest(coalesce(nspacl, acldefault('n', nspowner))) AS item WHERE oid = ANY($1::regnamespace[])
UNION ALL
SELECT 'relation ' || oid::regclass::text || ' ' || item::text
  FROM pg_class, unnest(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)))
       AS item
 WHERE relnamespace = ANY($1::regnamespace[]) AND relkind IN ('r', 'v', 'S')
UNION ALL
SELECT 'column ' || attrelid::regclass::text || '.' || attname::text || ' ' || item::text
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, unnest(attacl) AS item
 WHERE relnamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'function ' || oid::regprocedure::text || ' ' || item::text
  FROM pg_proc, unnest(coalesce(proacl, acldefault('f', proowner))) AS item WHERE pronamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'database ' || item::text FROM pg_database, unnest(datacl) AS item
 WHERE datname = current_database() AND item::text NOT LIKE pg_get_userbyid(datdba)::text || '=%'
"""
DATABASE = "aop"
_PASSWORD = "restore-password"
_LOGINS = (
    Login("one_control_plane", _PASSWORD, ["aop_control_plane"]),
    Login("one_router", _PASSWORD, ["aop_router"]),
    Login("one_migration", _PASSWORD, [OWNER_ROLE]),
)
_TOOL_SECONDS = 600.0
_NOT_DURABLE = {"fsync": "off"}
"""No machine fails here."""


@dataclass(frozen=True)
class Facts:
    rows: Mapping[str, str]
    """By table: how many, and a digest over all of them."""
    guards: Sequence[str]
    rights: Sequence[str]

    def differences(self, other: "Facts") -> list[str]:
        tables = sorted(self.rows.keys() | other.rows.keys())
        found = [f"rows of {table}" for table in tables if self.rows.get(table) != other.rows.get(table)]
        for kind in ("guards", "rights"):
            mine, theirs = set(getattr(self, kind)), set(getattr(other, kind))
            found += [f"{kind}: {each}" for each in sorted(mine ^ theirs)]
        return found


async def facts_of(connection: Connection) -> Facts:
    """As the connection's transaction sees them, when it is in one; needs a superuser."""
    owners = list(OWNERS)
    tables = [row["name"] for row in await connection.fetch(_TABLES, owners)]
    rows = {table: await connection.fetchval(_ROWS.format(table)) for table in tables}
    guards = sorted(row[0] for row in await connection.fetch(_GUARDS, owners))
    rights = sorted(row[0] for row in await connection.fetch(_RIGHTS, owners))
    return Facts(rows, guards, rights)


@dataclass(frozen=True)
class Store:
    """A running server and the platform's database on it."""

    server: EmbeddedPostgres
    folder: Path
    database: str = DATABASE

    @property
    def superuser(self) -> str:
        return self.server.url(database=self.database)

    @property
    def urls(self) -> DatabaseUrls:
        control_plane, router, migration = (
            self.server.url(database=self.database, user=login.name, password=_PASSWORD) for login in _LOGINS
        )
        return DatabaseUrls(control_plane, router, migration)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self.superuser)
        try:
            yield connection
        finally:
            await connection.close()

    async def facts(self) -> Facts:
        async with self.connection() as connection:
            return await facts_of(connection)

    async def tool(self, name: str, *arguments: str) -> None:
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
            await program(str(self.server._binaries.program(name)), *arguments, env=environment)

    async def archived(self) -> None:
        """Waits until everything that is committed now lies in the archive."""
        async with self.connection() as connection:
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
        await server.create_database(DATABASE, owner=OWNER_ROLE, groups=GROUP_ROLES, logins=_LOGINS)
        store = Store(server, folder)
        await migrate(store.urls.migration)
        yield store


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
    if os.geteuid() == 0:
        for path in (home, *home.rglob("*")):
            os.chown(path, store.server._account.owner, -1)
    # Not to be asked before it has all of it.
    settings = {"hot_standby": "off", "restore_command": f"cp {store.folder}/archive/%f %p", **_NOT_DURABLE}
    if until is not None:
        settings |= {"recovery_target_name": until, "recovery_target_action": "promote"}
    async with EmbeddedPostgres(home, store.folder / f"{name}.log", settings=settings) as server:
        yield Store(server, store.folder)


async def dump(store: Store, target: Path) -> Facts:
    """While the server works; gives the facts as of the very moment the dump tells of."""
    async with store.connection() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
        options = ("--format=custom", f"--snapshot={snapshot}", f"--file={target}")
        await store.tool("pg_dump", *options, store.database)
        return await facts_of(connection)


async def undumped(store: Store, source: Path) -> Store:
    """Into a new database beside the old one; `aop migrate` gives it the rights that no dump carries."""
    other = Store(store.server, store.folder, "aop_restored")
    async with store.connection() as connection:
        await connection.execute(f"CREATE DATABASE {other.database} OWNER {OWNER_ROLE}")
    await store.tool("pg_restore", f"--dbname={other.database}", "--exit-on-error", "--single-transaction", str(source))
    await migrate(other.urls.migration)
    return other
