"""Migrations, roles and guards on a real store."""

import asyncio

import asyncpg
import pytest

from aop.base import assets
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from aop.store.migrations import GROUP_ROLES, OWNERS, MigrationRefused, expected_version, migrate
from aop.store.problems import StoreNotAsExpected
from aop.store.store_check import expected_guards, found_guards, require_store, require_version
from tests.store.next_version import migrated
from tests.support.postgres import PostgresForTests


async def refused(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.RaiseError)):
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest.mark.rows("OPS-09")
async def test_migrating_twice_changes_nothing(postgres: PostgresForTests) -> None:
    url = postgres.platform_urls(await postgres.new_database()).migration
    first, second = await migrate(url), await migrate(url)
    assert str(first[0]) == "gateway 0001 access_tokens"
    assert second == []


@pytest.mark.second_ring
async def test_migrations_started_together_apply_each_step_once(postgres: PostgresForTests) -> None:
    url = postgres.platform_urls(await postgres.new_database()).migration
    all_migrated = await asyncio.gather(*(migrate(url) for _ in range(4)))
    applied = [str(item) for migrated in all_migrated for item in migrated]
    assert sorted(applied) == sorted(set(applied))
    assert len(applied) == sum(expected_version(owner) for owner in OWNERS)


@pytest.mark.second_ring
async def test_an_applied_migration_that_was_changed_is_refused(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    await _as_owner(postgres, stores, "UPDATE gateway.schema_version SET sha256 = 'other' WHERE number = 1")
    with pytest.raises(MigrationRefused, match="changed after it had been applied"):
        await migrate(stores.migration)


@pytest.mark.second_ring
async def test_a_migration_whose_table_is_in_use_gives_up_before_those_who_wait_behind_it(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    holder = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    try:
        await holder.execute("BEGIN; LOCK TABLE ledger.event IN ACCESS SHARE MODE")
        refused = await migrated(stores.migration)
        await holder.execute("COMMIT")
        applied = await migrated(stores.migration)
    finally:
        await holder.close()
    following = f"ledger {expected_version('ledger') + 1:04} next"
    assert refused == (
        1,
        f"{following} was not applied: another session, such as a backup, is using a table it"
        " changes; repeat this when it has ended",
    )
    assert applied == (0, f"applied {following}")


@pytest.mark.second_ring
async def test_a_store_newer_than_the_code_is_refused(postgres: PostgresForTests, stores: DatabaseUrls) -> None:
    await _as_owner(postgres, stores, "INSERT INTO ledger.schema_version VALUES (9999, 'future', 'x')")
    with pytest.raises(MigrationRefused, match="newer than this version"):
        await migrate(stores.migration)


@pytest.mark.second_ring
async def test_a_login_that_may_not_create_roles_is_told_which_are_missing(postgres: PostgresForTests) -> None:
    # The roles exist on the test server, so a login outside the owner role meets the next rule instead.
    database = await postgres.new_database()
    await postgres.execute("DROP ROLE IF EXISTS stranger")
    await postgres.execute("CREATE ROLE stranger LOGIN PASSWORD 'test-password'")
    with pytest.raises(MigrationRefused, match="not a member of aop_owner"):
        await migrate(postgres.url(database, "stranger"))


@pytest.mark.second_ring
@pytest.mark.parametrize("owner", OWNERS)
async def test_the_listed_guards_are_the_ones_the_migrations_make(stores: DatabaseUrls, owner: str) -> None:
    connection = await connect(stores.migration, application="test")
    try:
        assert await found_guards(connection, owner) == expected_guards(owner)
        await require_store(connection, owner)
    finally:
        await connection.close()


@pytest.mark.second_ring
@pytest.mark.rows("OPS-05")
async def test_a_dropped_constraint_and_an_old_version_are_noticed(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    connection = await connect(stores.control_plane, application="test")
    try:
        await _as_owner(postgres, stores, "ALTER TABLE gateway.access_token DROP CONSTRAINT access_token_lives")
        with pytest.raises(StoreNotAsExpected, match="access_token_lives"):
            await require_store(connection, "gateway")
        await _as_owner(postgres, stores, "DELETE FROM gateway.schema_version")
        with pytest.raises(StoreNotAsExpected, match="version 0"):
            await require_version(connection, "gateway")
        await _as_owner(postgres, stores, "DROP SCHEMA workspace CASCADE")
        with pytest.raises(StoreNotAsExpected, match="workspace does not exist"):
            await require_version(connection, "workspace")
    finally:
        await connection.close()


@pytest.mark.second_ring
@pytest.mark.rows("OPS-08")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM ledger.schema_version",
        "CREATE TABLE ledger.mine (x int)",
        "CREATE TABLE public.mine (x int)",
        "CREATE TEMP TABLE mine (x int)",
        "CREATE SCHEMA mine",
        "UPDATE gateway.access_token SET token_sha256 = token_sha256",
        "UPDATE gateway.access_token SET principal_id = 'me'",
        "DELETE FROM gateway.access_token",
        "TRUNCATE gateway.access_token",
        "DROP TABLE gateway.access_token",
        "ALTER TABLE gateway.access_token ADD COLUMN x int",
        "INSERT INTO gateway.schema_version VALUES (99, 'x', 'y')",
        "SET ROLE aop_owner",
        "SET ROLE aop_router",
        "SET session_replication_role = 'replica'",
        "CREATE ROLE mine",
    ],
)
async def test_the_control_plane_login_is_refused(stores: DatabaseUrls, statement: str) -> None:
    await refused(stores.control_plane, statement)


@pytest.mark.second_ring
@pytest.mark.rows("OPS-08")
@pytest.mark.parametrize(
    "statement",
    [
        *(f"SELECT * FROM {schema}.schema_version" for schema in ("gateway", "registry", "workspace")),
        "SELECT * FROM gateway.access_token",
        "INSERT INTO gateway.access_token (token_id) VALUES ('x')",
        "DELETE FROM ledger.schema_version",
        "UPDATE ledger.schema_version SET number = 0",
        "CREATE TABLE ledger.mine (x int)",
        "CREATE TEMP TABLE mine (x int)",
        "CREATE SCHEMA mine",
        "SET ROLE aop_owner",
        "SET ROLE aop_control_plane",
        "SET session_replication_role = 'replica'",
    ],
)
async def test_the_router_login_is_refused(stores: DatabaseUrls, statement: str) -> None:
    await refused(stores.router, statement)


@pytest.mark.second_ring
def test_no_function_of_the_ledger_is_dropped_since_months_can_be_detached() -> None:
    """The table of a detached month keeps its constraints, and with them the functions that these call: a migration
    that drops one would fail on every store that has such a month."""
    folder = assets.folder("migrations") / "ledger"
    later = [path for path in folder.glob("*.sql") if path.name > "0016"]
    assert later
    assert [path.name for path in later if "DROP FUNCTION" in path.read_text()] == []


@pytest.mark.second_ring
async def test_group_roles_cannot_log_in(postgres: PostgresForTests) -> None:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        rows = await connection.fetch(
            "SELECT rolname, rolcanlogin, rolsuper FROM pg_roles WHERE rolname = ANY($1)", list(GROUP_ROLES)
        )
    finally:
        await connection.close()
    assert {row["rolname"] for row in rows} == set(GROUP_ROLES)
    assert not any(row["rolcanlogin"] or row["rolsuper"] for row in rows)


async def _as_owner(postgres: PostgresForTests, stores: DatabaseUrls, statement: str) -> None:
    await postgres.execute(statement, stores.migration.rpartition("/")[2])
