"""The Catalog and its store: what happens when the store fails, and what the store itself refuses to change."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from aop.local.state import DatabaseUrls
from tests.support.cards import a_card, count_cards
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit
from tests.support.waiting import generous, patience

pytestmark = pytest.mark.second_ring

AGENT = "/v1/agents/acme:summarizer"
VERSION = f"{AGENT}/versions/1.0.0"
READS = (AGENT, VERSION, "/v1/providers/acme/agents", "/v1/agents/acme:unknown", f"{AGENT}/versions/9.9.9")
WRITES = (f"{VERSION}/publish", f"{VERSION}/disable")
UNIT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"


@pytest.fixture
def limits() -> dict[str, str]:
    """Statements that take longer are given up: soon, but not because the machine is busy."""
    return {"PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS": str(round(generous(0.3) * 1000))}


def name_of(stores: DatabaseUrls) -> str:
    return stores.migration.rpartition("/")[2]


async def all_fail(gateway: RunningUnit, token: str) -> None:
    replies = await asyncio.gather(
        *(gateway.get(path, token=token) for path in READS),
        *(gateway.post(path, token=token) for path in WRITES),
        gateway.post("/v1/agents", a_card(version="2.0.0"), token=token),
    )
    for reply in replies:
        require_error(reply, 503, "DEPENDENCY_ERROR", "2", "store_unavailable")
        assert reply.json.keys() == {"code", "message", "reason", "traceId"}


@pytest.mark.rows("CAT-29")
async def test_a_store_that_is_gone_is_a_dependency_error_on_every_call(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    await postgres.drop(name_of(stores))
    await all_fail(gateway, alice)


@pytest.mark.rows("CAT-29")
@pytest.mark.parametrize(
    "fault",
    [
        "REVOKE ALL ON registry.card FROM aop_control_plane",
        "ALTER TABLE registry.card RENAME TO mislaid",
        "ALTER TABLE registry.card RENAME COLUMN digest TO mislaid",
    ],
)
async def test_a_catalog_that_cannot_be_read_is_a_dependency_error_although_the_caller_is_known(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests, fault: str
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    await postgres.execute(fault, name_of(stores))
    for path in (VERSION, AGENT, "/v1/providers/acme/agents"):
        require_error(await gateway.get(path, token=alice), 503, "DEPENDENCY_ERROR", "2")


@asynccontextmanager
async def slow_cards(stores: DatabaseUrls, postgres: PostgresForTests) -> AsyncIterator[None]:
    """While it lasts, every look at a Card takes the unit's login a minute."""
    database = name_of(stores)
    await postgres.execute("CREATE POLICY slow ON registry.card USING (pg_catalog.pg_sleep(60) IS NULL)", database)
    await postgres.execute("ALTER TABLE registry.card ENABLE ROW LEVEL SECURITY", database)
    yield
    await postgres.execute("ALTER TABLE registry.card DISABLE ROW LEVEL SECURITY", database)


@pytest.mark.rows("CAT-29")
async def test_a_slow_store_is_given_up_within_the_statement_timeout_and_used_again_afterwards(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    async with slow_cards(stores, postgres), patience():
        paths = (VERSION, AGENT, "/v1/providers/acme/agents")
        for reply in await asyncio.gather(*(gateway.get(path, token=alice) for path in paths)):
            require_error(reply, 503, "DEPENDENCY_ERROR", "2")
        assert (await gateway.get("/livez")).status == 200
    assert (await gateway.get(VERSION, token=alice)).status == 200


@pytest.mark.rows("CAT-29")
async def test_a_lock_held_elsewhere_is_waited_for_briefly_only(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    connection = await asyncpg.connect(stores.migration)
    try:
        async with connection.transaction(), patience():
            await connection.execute("SET LOCAL ROLE aop_owner")
            await connection.execute("LOCK TABLE registry.card IN ACCESS EXCLUSIVE MODE")
            await all_fail_but_unknown(gateway, alice)
    finally:
        await connection.close()
    assert (await gateway.post(f"{VERSION}/publish", token=alice)).status == 200


async def all_fail_but_unknown(gateway: RunningUnit, token: str) -> None:
    replies = await asyncio.gather(
        gateway.get(VERSION, token=token),
        gateway.get(AGENT, token=token),
        gateway.post(f"{VERSION}/publish", token=token),
    )
    for reply in replies:
        require_error(reply, 503, "DEPENDENCY_ERROR", "2")


@pytest.mark.rows("CAT-29")
@pytest.mark.parametrize("limits", [{}])  # the restart ends the statements, and no limit before it
async def test_a_store_restarted_in_the_middle_of_a_call_fails_that_call_only(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    async with slow_cards(stores, postgres), asyncio.TaskGroup() as group:
        calls = [group.create_task(gateway.get(path, token=alice)) for path in (VERSION, AGENT)]
        calls.append(group.create_task(gateway.post(f"{VERSION}/publish", token=alice)))
        await _sleeping(postgres, stores, len(calls))
        await postgres.execute(UNIT.format(name_of(stores)))
        for call in calls:
            require_error(await call, 503, "DEPENDENCY_ERROR", "2")
    found = await gateway.get(VERSION, token=alice)
    assert (found.status, found.header("x-platform-publication-status")) == (200, "draft")


async def _sleeping(postgres: PostgresForTests, stores: DatabaseUrls, calls: int) -> None:
    connection = await asyncpg.connect(postgres.url("postgres"))
    question = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'"
    try:
        async with patience():
            while await connection.fetchval(question, name_of(stores)) < calls:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        await connection.close()


async def test_idle_connections_killed_by_a_restart_cost_no_more_than_a_dependency_error(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    await asyncio.gather(*(gateway.get(VERSION, token=alice) for _ in range(30)))
    await postgres.execute(UNIT.format(name_of(stores)))
    replies = [await gateway.get(VERSION, token=alice) for _ in range(30)]
    assert {reply.status for reply in replies} <= {200, 503}
    assert replies[-1].status == 200


OF_CARD = (
    "document = document || '\\x20', digest = encode(sha256(document || '\\x20'), 'hex')",
    "digest = repeat('0', 64)",
    "owner_id = 'bob'",
    "version = '9.9.9'",
    "agent_id = 'acme:other'",
    "registered_at = now()",
    "precedence = 'x'",
    "folded_name = 'x'",
    "folded_text = 'x'",
    "skill_ids = '{}'",
    "published_at = now()",
    "published_at = NULL",
    "publication = NULL",
    "status = 'draft', published_at = NULL, publication = NULL",
    "status = 'revoked'",
    "status = 'disabled'",
)
IMMUTABLE = (
    # A published version may still be disabled, so nothing but the fact itself stands in the way here.
    *(f"UPDATE registry.card SET {change} WHERE status = 'published'" for change in OF_CARD),
    "UPDATE registry.card SET status = 'published', disabled_at = NULL WHERE status = 'disabled'",
    "UPDATE registry.card SET disabled_at = now() WHERE status = 'disabled'",
    "UPDATE registry.card SET status = status WHERE status = 'draft'",
    "UPDATE registry.card SET status = 'published', published_at = now() WHERE status = 'draft'",
    "DELETE FROM registry.card",
    "TRUNCATE registry.card CASCADE",
    "UPDATE registry.agent SET owner_id = 'bob'",
    "UPDATE registry.agent SET public_agent_id = 'agt_00000000000000000000000000000000'",
    "UPDATE registry.agent SET agent_id = 'acme:other'",
    "DELETE FROM registry.agent",
    "TRUNCATE registry.agent CASCADE",
    "INSERT INTO registry.card SELECT * FROM registry.card",
    "INSERT INTO registry.agent SELECT * FROM registry.agent",
)
REFUSED = (asyncpg.InsufficientPrivilegeError, asyncpg.RaiseError, asyncpg.IntegrityConstraintViolationError)


async def test_no_login_can_change_a_registered_fact(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    for version, act in (("1.0.0", None), ("2.0.0", "publish"), ("3.0.0", "disable")):
        await gateway.post("/v1/agents", a_card(version=version), token=alice)
        if act is not None:
            await gateway.post(f"{AGENT}/versions/{version}/{act}", token=alice)
    superuser = postgres.url(name_of(stores))
    roles: dict[str, tuple[str, Sequence[str]]] = {
        "control plane": (stores.control_plane, ()),
        "router": (stores.router, ()),
        "owner": (stores.migration, ("SET ROLE aop_owner",)),
        "superuser": (superuser, ()),
        "superuser as replica": (superuser, ("SET session_replication_role = 'replica'",)),
    }
    before = await _facts(superuser)
    for role, (url, preparation) in roles.items():
        assert await _taken(url, preparation, IMMUTABLE) == [], role
    assert await _facts(superuser) == before
    assert await count_cards(stores) == (1, 3)


async def _taken(url: str, preparation: Sequence[str], statements: Sequence[str]) -> list[str]:
    """The statements the store did not refuse."""
    connection = await asyncpg.connect(url)
    taken = []
    try:
        for step in preparation:
            await connection.execute(step)
        for statement in statements:
            try:
                await connection.execute(statement)
                taken.append(statement)
            except REFUSED:
                continue
    finally:
        await connection.close()
    return taken


async def _facts(url: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return [
            *await connection.fetch("SELECT * FROM registry.agent ORDER BY agent_id"),
            *await connection.fetch("SELECT * FROM registry.card ORDER BY agent_id, version"),
        ]
    finally:
        await connection.close()
