"""What the store itself refuses: the facts of publication change by no statement of any login."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.publication import Scene, publication_scene

pytestmark = pytest.mark.second_ring

FORBIDDEN_CHANGES = [
    *(
        f"UPDATE registry.release SET {column} = {value}"
        for column, value in {
            "release_id": "'rel_x'",
            "provider_id": "'globex'",
            "agent_id": "'x'",
            "version": "'9.9.9'",
            "card_digest": "repeat('0', 64)",
            "binding_id": "'bind_x'",
            "endpoint_origin": "'https://evil.example'",
            "endpoint_path": "'/evil'",
            "method": "'other'",
            "evidence_digest": "repeat('0', 64)",
            "created_at": "now()",
            "verified_at": "now()",
            "published_at": "now()",
            "suspended_at": "now()",
            "suspended_by": "'operator'",
            "state": "'published'",
        }.items()
    ),
    "UPDATE registry.release SET evidence_digest = NULL",
    "UPDATE registry.release SET state = 'verified', published_at = NULL, suspended_at = NULL",
    "UPDATE registry.release SET state = 'revoked', revoked_at = now(), published_at = NULL",
    "UPDATE registry.release SET state = 'revoked', revoked_at = now(), suspended_by = 'operator'",
    "DELETE FROM registry.release",
    "TRUNCATE registry.release CASCADE",
    "UPDATE registry.binding SET endpoint_origin = 'https://evil.example'",
    "UPDATE registry.binding SET status = 'pending', evidence_digest = NULL, verified_at = NULL",
    "UPDATE registry.binding SET evidence_digest = repeat('0', 64)",
    "DELETE FROM registry.binding",
    "UPDATE registry.challenge SET used_at = NULL",
    "UPDATE registry.challenge SET used_at = now()",
    "UPDATE registry.challenge SET proof_sha256 = sha256('x')",
    "UPDATE registry.challenge SET expires_at = now() + interval '1 year'",
    "DELETE FROM registry.challenge",
    "UPDATE registry.evidence SET digest = repeat('0', 64)",
    "UPDATE registry.provider SET owner_id = 'bob'",
    "DELETE FROM registry.provider",
    "UPDATE registry.change SET state = 'published'",
    "DELETE FROM registry.change",
    "TRUNCATE registry.change",
]


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest.mark.rows("PUB-28")
async def test_the_facts_of_a_release_are_the_same_after_suspension_and_the_store_refuses_to_change_them(
    scene: Scene, postgres: PostgresForTests
) -> None:
    release = await scene.new_release()
    published = await scene.alice.move("publish", release)
    suspended = await scene.alice.move("suspend", release)
    changed = {"state", "updatedAt", "suspendedAt", "suspendedBy"}
    assert {name for name in suspended if suspended.get(name) != published.get(name)} == changed
    before = await stored_facts(scene.stores)
    superuser = postgres.url(scene.stores.migration.rpartition("/")[2])
    for url in (scene.stores.control_plane, scene.stores.router, scene.stores.migration, superuser):
        connection = await asyncpg.connect(url)
        for statement in FORBIDDEN_CHANGES:
            with pytest.raises((asyncpg.RaiseError, asyncpg.InsufficientPrivilegeError)):
                await connection.execute(statement)
            with pytest.raises((asyncpg.RaiseError, asyncpg.InsufficientPrivilegeError)):
                await connection.execute(f"SET session_replication_role = replica; {statement}")
        await connection.close()
    assert await stored_facts(scene.stores) == before
    assert await scene.alice.release(release) == suspended


async def stored_facts(stores: DatabaseUrls) -> list[str]:
    connection = await asyncpg.connect(stores.control_plane)
    tables = ("release", "binding", "challenge", "evidence", "provider", "change")
    rows = [str(row) for table in tables for row in await connection.fetch(f"SELECT * FROM registry.{table}")]
    await connection.close()
    return rows


@pytest.mark.rows("PUB-28")
async def test_the_store_refuses_every_transition_outside_the_table(scene: Scene, postgres: PostgresForTests) -> None:
    allowed = {
        *(("pending_verification", "verified"), ("verified", "published"), ("verified", "suspended")),
        *(("verified", "revoked"), ("published", "suspended"), ("published", "revoked"), ("suspended", "revoked")),
    }
    known = {"verified": await scene.new_release()}
    for act, state in (("publish", "published"), ("suspend", "suspended"), ("revoke", "revoked")):
        known[state] = await scene.alice.move(act, await scene.new_release())
    known["pending_verification"] = await scene.alice.new_release(await scene.alice.new_binding(scene.agent.url))
    connection = await asyncpg.connect(postgres.url(scene.stores.migration.rpartition("/")[2]))
    for source, release in known.items():
        for target in (*known, "draft"):
            stamp = {"pending_verification": "updated_at", "draft": "updated_at"}.get(target, f"{target}_at")
            statement = (
                f"UPDATE registry.release SET state = '{target}', {stamp} = coalesce({stamp}, now())"
                f"{', suspended_by = coalesce(suspended_by, $$provider$$)' if target == 'suspended' else ''},"
                " evidence_digest = coalesce(evidence_digest, repeat('0', 64)) WHERE release_id = $1"
            )
            transaction = connection.transaction()
            await transaction.start()
            if (source, target) in allowed:
                await connection.execute(statement, release["releaseId"])
            else:
                with pytest.raises((asyncpg.RaiseError, asyncpg.CheckViolationError)):
                    await connection.execute(statement, release["releaseId"])
            await transaction.rollback()
    await connection.close()


@pytest.mark.rows("PUB-28")
async def test_a_release_whose_binding_bears_other_evidence_is_not_published(
    scene: Scene, postgres: PostgresForTests
) -> None:
    """The store forbids such a row; it is written behind its guards, as a restored or edited store may hold it."""
    release = await scene.new_release()
    connection = await asyncpg.connect(postgres.url(scene.stores.migration.rpartition("/")[2]))
    await connection.execute("ALTER TABLE registry.binding DISABLE TRIGGER ALL")
    other = "UPDATE registry.binding SET evidence_digest = repeat('0', 64) WHERE binding_id = $1"
    await connection.execute(other, release["endpointBindingId"])
    await connection.close()
    before = await stored_facts(scene.stores)
    reply = await scene.alice.post(f"/v1/releases/{release['releaseId']}/publish")
    require_error(reply, 409, "CONFLICT", "2")
    assert await stored_facts(scene.stores) == before
