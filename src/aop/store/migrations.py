"""Forward-only migrations: numbered SQL per owning module, applied once, in order, under one lock."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import asyncpg

from aop.base import assets
from aop.base.semver import Version
from aop.store.database import Connection, connect, translated_failures

OWNER_ROLE = "aop_owner"
GROUP_ROLES = (OWNER_ROLE, "aop_control_plane", "aop_router")
OWNERS = ("gateway", "registry", "workspace", "ledger")

_LOCK_KEY = 0x616F705F6D6967  # "aop_mig": any fixed number serves, as long as every version uses the same
_LOCK_WAIT = "300ms"
"""Every statement on a table waits behind a migration that waits for it, so the migration gives up within a second."""
_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_OLDEST_READY = re.compile(r"^-- oldest ready version: (.+)$", re.MULTILINE)


class MigrationRefused(Exception):
    """The store cannot be brought to the current version; the text says what the operator has to do."""


@dataclass(frozen=True)
class Migration:
    owner: str
    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def oldest_ready(self) -> str | None:
        """The oldest version of aop whose units stay ready on it, as it says itself; None for none but its own."""
        declared = _OLDEST_READY.search(self.sql)
        return None if declared is None else Version.parse(declared[1]).text

    def __str__(self) -> str:
        return f"{self.owner} {self.number:04} {self.name}"


@cache
def migrations_of(owner: str) -> Sequence[Migration]:
    found = [_read(owner, path) for path in sorted((assets.folder("migrations") / owner).glob("*.sql"))]
    if [item.number for item in found] != list(range(1, len(found) + 1)):
        raise MigrationRefused(f"the migrations of {owner} are not numbered 1, 2, 3 without a gap")
    return found


def expected_version(owner: str) -> int:
    return len(migrations_of(owner))


async def migrate(database_url: str) -> Sequence[Migration]:
    """Brings every owner's schema to the current version, and returns what it applied; repeating it changes nothing."""
    connection = await connect(database_url, application="aop migrate")
    try:
        async with translated_failures():
            await connection.execute("SELECT pg_advisory_lock($1)", _LOCK_KEY)
            await _ensure_groups(connection)
            await _ensure_database_rights(connection)
            await connection.execute(f"SET ROLE {OWNER_ROLE}")
            applied = [item for owner in OWNERS for item in await _migrate_owner(connection, owner)]
            await _make_months(connection)
            return applied
    finally:
        await connection.close()


def _read(owner: str, path: Path) -> Migration:
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise MigrationRefused(f"{owner}/{path.name} is not named like 0001_what_it_does.sql")
    return Migration(owner, int(match[1]), match[2], path.read_text("utf-8"))


async def _ensure_groups(connection: Connection) -> None:
    rows = await connection.fetch("SELECT rolname FROM pg_roles WHERE rolname = ANY($1)", list(GROUP_ROLES))
    missing = [role for role in GROUP_ROLES if role not in {row["rolname"] for row in rows}]
    for role in missing:
        try:
            await connection.execute(f"CREATE ROLE {role} NOLOGIN")
        except asyncpg.DuplicateObjectError:
            continue  # roles belong to the whole server: another database's migration made it just now
        except asyncpg.InsufficientPrivilegeError:
            raise MigrationRefused(
                f"the roles {', '.join(missing)} do not exist and this login may not create roles; "
                "have an administrator run: " + " ".join(f"CREATE ROLE {name} NOLOGIN;" for name in missing)
            ) from None
    if not await connection.fetchval("SELECT pg_has_role($1, 'MEMBER')", OWNER_ROLE):
        try:
            await connection.execute(f"GRANT {OWNER_ROLE} TO CURRENT_USER")
        except asyncpg.InsufficientPrivilegeError:
            raise MigrationRefused(f"this login is not a member of {OWNER_ROLE} and may not make itself one") from None


async def _ensure_database_rights(connection: Connection) -> None:
    database = await connection.fetchval("SELECT quote_ident(current_database())")
    statements = (
        f"REVOKE ALL ON DATABASE {database} FROM PUBLIC",
        f"GRANT CONNECT ON DATABASE {database} TO {', '.join(GROUP_ROLES)}",
        f"GRANT CREATE ON DATABASE {database} TO {OWNER_ROLE}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    )
    try:
        for statement in statements:
            await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        enough = await connection.fetchval(
            "SELECT has_database_privilege($1, current_database(), 'CREATE')"
            " AND NOT has_database_privilege('public', current_database(), 'TEMP')",
            OWNER_ROLE,
        )
        if not enough:
            raise MigrationRefused(
                "this login may not set the rights of the database; have its owner run: " + "; ".join(statements)
            ) from None


async def _migrate_owner(connection: Connection, owner: str) -> Sequence[Migration]:
    await _ensure_version_table(connection, owner)
    rows = await connection.fetch(f"SELECT number, sha256 FROM {owner}.schema_version ORDER BY number")  # noqa: S608
    available = migrations_of(owner)
    if len(rows) > len(available):
        raise MigrationRefused(f"the schema {owner} is newer than this version of aop; there is no downgrade")
    for row, migration in zip(rows, available, strict=False):
        if row["sha256"] != migration.digest:
            raise MigrationRefused(f"{migration} was changed after it had been applied")
    pending = available[len(rows) :]
    for migration in pending:
        try:
            await _apply(connection, migration)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            raise MigrationRefused(
                f"{migration} was not applied: another session, such as a backup, is using a table it changes;"
                " repeat this when it has ended"
            ) from None
    return pending


async def _make_months(connection: Connection) -> None:
    """The next partitions of the Ledger, also where no Router has run for months."""
    if await connection.fetchval("SELECT to_regprocedure('ledger.make_months()')") is None:
        return  # a schema of before it
    try:
        await connection.execute("SELECT ledger.make_months()")
    except asyncpg.LockNotAvailableError:
        raise MigrationRefused(
            "a partition of the Ledger was not made: another session, such as a backup, is using a table of it;"
            " repeat this when it has ended"
        ) from None


async def _apply(connection: Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
        await connection.execute(migration.sql)
        await connection.execute(
            f"INSERT INTO {migration.owner}.schema_version (number, name, sha256, oldest_ready)"  # noqa: S608
            " VALUES ($1, $2, $3, $4)",
            migration.number,
            migration.name,
            migration.digest,
            migration.oldest_ready,
        )


async def _ensure_version_table(connection: Connection, owner: str) -> None:
    if await connection.fetchval("SELECT to_regclass($1)", f"{owner}.schema_version") is not None:
        await _ensure_oldest_ready(connection, owner)
        return
    async with connection.transaction():
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {owner}")
        await connection.execute(
            f"CREATE TABLE {owner}.schema_version ("
            " number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now(), oldest_ready text)"
        )


async def _ensure_oldest_ready(connection: Connection, owner: str) -> None:
    """A store that an earlier version made has no such column, and its units do not look for one."""
    columns = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::regclass AND attname = 'oldest_ready')"
    if not await connection.fetchval(columns, f"{owner}.schema_version"):
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
            await connection.execute(f"ALTER TABLE {owner}.schema_version ADD COLUMN oldest_ready text")
