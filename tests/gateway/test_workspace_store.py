"""The store guards Workspaces, callers and Installations against every login; and what is remembered of Cards."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from aop.base.recent import RecentlyUsed
from aop.cards.summary import CardSummary, SkillSummary, read_summary
from aop.contracts.card import Limits
from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.second_ring

INSTALLATION = (
    "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"
    " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at, updated_at)"
    " VALUES ('{}', 'space', '{}', '*', '1.0.0', 'rel_1', repeat('0', 64), '{{a}}', '2030-01-01Z', '2030-01-01Z')"
)
CALLER = (
    "INSERT INTO workspace.caller (workspace_id, principal_id, added_at, added_by, workspace_created_at)"
    " VALUES ('space', '{}', '2030-01-02Z', 'alice', '2030-01-01Z')"
)
REMOVED = "UPDATE workspace.caller SET removed_at = '2030-01-03Z' WHERE principal_id = 'former'"
NEXT = "updated_at = updated_at + interval '1 second'"
UNINSTALL = f"status = 'uninstalled', {NEXT}, uninstalled_at = updated_at + interval '1 second'"
ENDED = f"UPDATE workspace.installation SET {UNINSTALL} WHERE installation_id = 'ended'"

# Refused to the Control Plane's own login by its rights, or by a guard.
NO_RIGHT = [
    "UPDATE workspace.workspace SET owner_id = 'bob'",
    "UPDATE workspace.workspace SET updated_at = now()",
    "DELETE FROM workspace.workspace",
    "TRUNCATE workspace.workspace CASCADE",
    "DELETE FROM workspace.caller",
    "TRUNCATE workspace.caller",
    *(
        f"UPDATE workspace.caller SET {column} = {column}"
        for column in ("workspace_id", "principal_id", "added_at", "added_by", "workspace_created_at")
    ),
    CALLER.format("x").replace("added_by,", "added_by, removed_at,").replace("'alice',", "'alice', '2031-01-01Z',"),
    "DROP INDEX workspace.caller_current",
    "DELETE FROM workspace.installation",
    "TRUNCATE workspace.installation",
    *(
        f"UPDATE workspace.installation SET {column} = {column}"
        for column in (
            "installation_id",
            "workspace_id",
            "agent_id",
            "version_constraint",
            "installed_version",
            "installed_release_id",
            "installed_card_digest",
            "accepted_permissions",
            "installed_at",
        )
    ),
    "INSERT INTO workspace.installation (installation_id, status) VALUES ('x', 'uninstalled')",
    "INSERT INTO workspace.installation (installation_id, uninstalled_at) VALUES ('x', now())",
    "ALTER TABLE workspace.installation DISABLE TRIGGER ALL",
    "DROP INDEX workspace.installation_current",
    "INSERT INTO workspace.schema_version VALUES (99, 'x', 'y')",
]
# Refused to every login, the superuser's too.
GUARDED = [
    "UPDATE workspace.workspace SET owner_id = 'bob'",
    "DELETE FROM workspace.workspace",
    "TRUNCATE workspace.workspace CASCADE",
    "DELETE FROM workspace.installation",
    "TRUNCATE workspace.installation",
    "DELETE FROM workspace.caller",
    "TRUNCATE workspace.caller",
    "UPDATE workspace.caller SET removed_at = '2030-01-02Z' WHERE principal_id = 'current'",
    "UPDATE workspace.caller SET removed_at = NULL WHERE principal_id = 'former'",
    "UPDATE workspace.caller SET removed_at = '2030-01-04Z' WHERE principal_id = 'former'",
    *(
        f"UPDATE workspace.caller SET removed_at = '2030-01-03Z', {change} WHERE principal_id = 'current'"
        for change in (
            "principal_id = 'other'",
            "added_at = '2030-01-01Z'",
            "added_by = 'bob'",
            "workspace_created_at = '2029-01-01Z'",
        )
    ),
    CALLER.format("current"),
    CALLER.format("alice"),
    CALLER.format("x").replace("'space'", "'nowhere'"),
    CALLER.format("x").replace("'alice'", "'bob'"),
    CALLER.format("x").replace("'2030-01-01Z')", "'2030-01-02Z')"),
    CALLER.format("x").replace("added_by,", "added_by, removed_at,").replace("'alice',", "'alice', '2031-01-01Z',"),
    f"UPDATE workspace.installation SET {NEXT}",
    "UPDATE workspace.installation SET status = 'disabled'",
    "UPDATE workspace.installation SET status = 'disabled', updated_at = '2020-01-01Z'",
    f"UPDATE workspace.installation SET status = 'enabled', {NEXT}",
    f"UPDATE workspace.installation SET status = 'paused', {NEXT}",
    f"UPDATE workspace.installation SET status = 'uninstalled', {NEXT}",
    f"UPDATE workspace.installation SET status = 'disabled', {NEXT}, uninstalled_at = now() WHERE status = 'enabled'",
    f"UPDATE workspace.installation SET status = 'enabled', {NEXT}, uninstalled_at = NULL"
    " WHERE installation_id = 'ended'",
    f"UPDATE workspace.installation SET {UNINSTALL} WHERE installation_id = 'ended'",
    f"UPDATE workspace.installation SET status = 'disabled', {NEXT}, replaced_by = 'now' WHERE status = 'enabled'",
    f"UPDATE workspace.installation SET {UNINSTALL}, replaced_by = 'now' WHERE installation_id = 'ended'",
    f"UPDATE workspace.installation SET {UNINSTALL}, replaced_by = 'nowhere' WHERE installation_id = 'now'",
    *(
        f"UPDATE workspace.installation SET status = 'disabled', {NEXT}, {change} WHERE installation_id = 'now'"
        for change in (
            "installation_id = 'other'",
            "agent_id = 'other'",
            "version_constraint = '1.0.0'",
            "installed_version = '2.0.0'",
            "installed_release_id = 'rel_2'",
            "installed_card_digest = repeat('1', 64)",
            "accepted_permissions = '{a,b}'",
            "installed_at = '2029-01-01Z'",
        )
    ),
    INSTALLATION.format("second", "agent"),
    INSTALLATION.format("now", "other"),
    INSTALLATION.format("x", "x").replace("'space'", "'nowhere'"),
    INSTALLATION.format("x", "x").replace("{a}", "{a,NULL}"),
    INSTALLATION.format("x", "x").replace("repeat('0', 64)", "'0'"),
    INSTALLATION.format("x", "x").replace("'2030-01-01Z')", "'2031-01-01Z')"),
    INSTALLATION.format("x", "x").replace("'2030-01-01Z')", "'2029-01-01Z')"),
    INSTALLATION.format("x", "x").replace("updated_at)", "updated_at, status)").replace("Z')", "Z', 'disabled')"),
    "INSERT INTO workspace.workspace VALUES ('space', 'bob', now(), now())",
    "INSERT INTO workspace.workspace VALUES ('x', 'bob', '2030-01-01Z', '2029-01-01Z')",
]
REFUSED = (asyncpg.InsufficientPrivilegeError, asyncpg.RaiseError, asyncpg.IntegrityConstraintViolationError)


@pytest_asyncio.fixture
async def filled(stores: DatabaseUrls) -> AsyncIterator[DatabaseUrls]:
    """A Workspace with a current and an ended Installation, and callers, written with the Control Plane's rights."""
    connection = await asyncpg.connect(stores.control_plane)
    try:
        await connection.execute(
            "INSERT INTO workspace.workspace VALUES ('space', 'alice', '2030-01-01Z', '2030-01-01Z')"
        )
        for identity in ("ended", "now"):
            await connection.execute(INSTALLATION.format(identity, "agent"))
            if identity == "ended":
                await connection.execute(ENDED)
        for principal in ("former", "current"):
            await connection.execute(CALLER.format(principal))
        await connection.execute(REMOVED)
        yield stores
    finally:
        await connection.close()


async def contents(connection: asyncpg.Connection) -> list[object]:
    rows = await connection.fetch("SELECT w::text FROM workspace.workspace AS w ORDER BY 1")
    for table in ("installation", "caller"):
        rows += await connection.fetch(f"SELECT t::text FROM workspace.{table} AS t ORDER BY 1")
    return list(rows)


@pytest.mark.rows("WS-22")
async def test_the_control_plane_login_may_not_write_what_never_changes(filled: DatabaseUrls) -> None:
    connection = await asyncpg.connect(filled.control_plane)
    try:
        before = await contents(connection)
        for statement in NO_RIGHT:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
        for statement in GUARDED:
            with pytest.raises(REFUSED):
                await connection.execute(statement)
        assert await contents(connection) == before
    finally:
        await connection.close()


async def test_the_guards_hold_against_the_owner_and_the_superuser(
    postgres: PostgresForTests, filled: DatabaseUrls
) -> None:
    superuser = postgres.url(filled.migration.rpartition("/")[2])
    for url, before in (
        (filled.migration, "SET ROLE aop_owner"),
        (superuser, "SET session_replication_role = replica"),
    ):
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(before)
            kept = await contents(connection)
            for statement in GUARDED:
                # Foreign keys are triggers of PostgreSQL's own, which a replica does not run.
                if "nowhere" in statement and "replica" in before:
                    continue
                with pytest.raises(REFUSED):
                    await connection.execute(statement)
            assert await contents(connection) == kept
        finally:
            await connection.close()


async def test_the_router_login_sees_nothing_of_workspaces(filled: DatabaseUrls) -> None:
    connection = await asyncpg.connect(filled.router)
    try:
        for statement in ("SELECT FROM workspace.workspace", "SELECT FROM workspace.installation", *NO_RIGHT[:6]):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()


@pytest.mark.rows("WS-16", "WS-18")
async def test_the_moves_of_the_lifecycle_are_let_through(filled: DatabaseUrls) -> None:
    connection = await asyncpg.connect(filled.control_plane)
    try:
        for status in ("disabled", "enabled", "disabled"):
            done = await connection.execute(
                f"UPDATE workspace.installation SET status = '{status}', {NEXT} WHERE installation_id = 'now'"
            )
            assert done == "UPDATE 1"
        done = await connection.execute(f"UPDATE workspace.installation SET {UNINSTALL} WHERE installation_id = 'now'")
        assert done == "UPDATE 1"
        await connection.execute(INSTALLATION.format("third", "agent"))
    finally:
        await connection.close()


LIMITS = Limits(timeout_ms=1, max_input_bytes=2, max_output_bytes=3, streaming=True)


def test_what_a_card_says_in_short_is_read_from_its_bytes() -> None:
    document = (
        b'{"limits":{"maxInputBytes":2,"maxOutputBytes":3,"streaming":true,"timeoutMs":1},"name":"x",'
        b'"permissions":[{"description":"","id":"a"},{"description":"","id":"b"}],"skills":['
        b'{"id":"s","inputSchema":{"id":[1e400]},"name":"S","requiredPermissions":["a"]},'
        b'{"id":"t","name":"T","requiredPermissions":[]}]}'
    )
    assert read_summary(document) == CardSummary(
        "x",
        LIMITS,
        frozenset({"a", "b"}),
        {"s": SkillSummary("S", frozenset({"a"})), "t": SkillSummary("T", frozenset())},
    )


def test_remembered_summaries_stay_within_a_fixed_amount_of_memory() -> None:
    def summary(size: int) -> CardSummary:
        return CardSummary("", LIMITS, frozenset(f"permission-{number:04}" for number in range(size)), {})

    one = summary(10).weight
    remembered: RecentlyUsed[str, CardSummary] = RecentlyUsed(3 * one)

    def keep(digest: str, size: int) -> None:
        remembered.keep(digest, summary(size), summary(size).weight)

    for digest in ("a", "b", "c"):
        keep(digest, 10)
    assert remembered.find("a") is not None  # now "b" is the one unused for longest
    keep("d", 10)
    assert [remembered.find(digest) is not None for digest in "abcd"] == [True, False, True, True]
    keep("huge", 100)
    keep("a", 10)
    assert [remembered.find(digest) is not None for digest in ("a", "c", "d", "huge")] == [True, True, True, False]
    keep("large", 25)
    assert [remembered.find(digest) is not None for digest in ("a", "c", "d", "large")] == [False, False, False, True]
