"""Challenges: a proof shown once, completed at most once and in time, whatever races with it."""

import asyncio
import hashlib
import io
import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio
import rfc8785

from aop.base.clock import from_text
from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.endpoints import answering, waiting_for
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.publication import Scene, document_of, publication_scene
from tests.support.waiting import promptly


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest.mark.rows("PUB-06")
async def test_a_challenge_has_five_members_and_600_seconds_and_its_url_does_not_hold_the_proof(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    now = scene.clock()
    scene.clock.stop(now)
    challenge = await scene.alice.challenge(binding)
    assert challenge.keys() == {"challengeId", "bindingId", "challengeUrl", "proof", "expiresAt"}
    assert challenge["bindingId"] == binding["bindingId"]
    assert re.fullmatch(r"chal_[0-9a-f]{32}", challenge["challengeId"])
    assert re.fullmatch(r"[0-9a-f]{64}", challenge["proof"])
    assert from_text(challenge["expiresAt"]) == now + timedelta(seconds=600)
    # The path of the endpoint plays no part in it.
    path = "/.well-known/platform/challenges/" + challenge["challengeId"]
    assert challenge["challengeUrl"] == scene.agent.origin + path
    assert await scene.alice.binding(binding) == binding
    assert (scene.names.queries, scene.agent.connections) == ([], 0)


async def test_every_challenge_has_its_own_id_and_proof_and_the_lifetime_that_is_configured(
    stores: DatabaseUrls,
) -> None:
    async with publication_scene(stores, PLATFORM_ENDPOINT_CHALLENGE_TTL_SECONDS="61") as scene:
        binding = await scene.alice.new_binding(scene.agent.url)
        now = scene.clock()
        scene.clock.stop(now)
        issued = [await scene.alice.challenge(binding) for _ in range(5)]
        assert {from_text(each["expiresAt"]) for each in issued} == {now + timedelta(seconds=61)}
        assert len({each["proof"] for each in issued}) == len({each["challengeId"] for each in issued}) == 5


@pytest.mark.rows("PUB-07")
async def test_a_proof_appears_nowhere_after_its_issue_and_only_its_hash_is_stored(
    stores: DatabaseUrls, postgres: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(log))
    async with publication_scene(stores, PLATFORM_LOG_LEVEL="debug") as scene:
        proofs, said = await all_that_is_said_of_proofs(scene)
        stored = await everything_stored(postgres, stores)
    assert log.getvalue().count(b'"event":"request"') > 10
    for proof in proofs:
        for form in (proof.encode(), bytes.fromhex(proof), proof.encode().hex().encode()):
            assert form not in said
            assert form not in log.getvalue()
            assert form not in stored
        assert hashlib.sha256(proof.encode()).hexdigest().encode() in stored


async def all_that_is_said_of_proofs(scene: Scene) -> tuple[list[str], bytes]:
    """The proofs of a wrong and of a right completion, and every later answer up to a published Release."""
    alice = scene.alice
    binding = await alice.new_binding(scene.agent.url)
    wrong, right = await alice.challenge(binding), await scene.serving_challenge(binding)
    scene.agent.serve(wrong["challengeId"], right["proof"])
    replies = [await alice.complete(each) for each in (wrong, right, right)]
    assert [reply.status for reply in replies] == [400, 200, 409]
    release = await alice.new_release(document_of(replies[1], 200, "endpoint-binding/1"))
    await alice.move("publish", release)
    for path in (
        f"/v1/providers/acme/endpoint-bindings/{binding['bindingId']}",
        "/v1/providers/acme/endpoint-bindings",
        "/v1/providers/acme/releases",
        f"/v1/releases/{release['releaseId']}",
        "/v1/agents/acme:agent",
        "/metrics",
    ):
        replies.append(await alice.get(path))
    assert {reply.status for reply in replies[3:]} == {200}
    said = b"".join(reply.body + repr(reply.answer.headers).encode() for reply in replies)
    return [wrong["proof"], right["proof"]], said


async def everything_stored(postgres: PostgresForTests, stores: DatabaseUrls) -> bytes:
    """Every column of every row of every table as text, bytes as hex."""
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    try:
        tables = await connection.fetch(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        rows = [row for table in tables for row in await connection.fetch(f"SELECT * FROM {table['name']}")]
    finally:
        await connection.close()
    assert len(tables) > 10
    values = [value for row in rows for value in row.values()]
    texts = [
        value.hex().encode() + b" " + value if isinstance(value, bytes) else str(value).encode() for value in values
    ]
    return b"\n".join(texts)


@pytest.mark.rows("PUB-08")
async def test_the_exact_proof_verifies_the_binding_with_a_digest_of_the_evidence(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.serving_challenge(binding)
    verified = document_of(await scene.alice.complete(challenge), 200, "endpoint-binding/1")
    assert verified["verificationStatus"] == "verified"
    evidence = {
        "bindingId": binding["bindingId"],
        "challengeId": challenge["challengeId"],
        "endpointOrigin": scene.agent.origin,
        "method": "http_well_known",
        "proofSha256": hashlib.sha256(challenge["proof"].encode()).hexdigest(),
        "verifiedAt": verified["verifiedAt"],
    }
    assert document("endpoint-evidence/1").violations(evidence) == ()
    assert verified["verificationEvidenceDigest"] == hashlib.sha256(rfc8785.dumps(evidence)).hexdigest()
    assert verified["updatedAt"] == verified["verifiedAt"]
    unchanged = ("bindingId", "providerId", "agentId", "version", "endpoint", "method", "createdAt")
    assert [verified[name] for name in unchanged] == [binding[name] for name in unchanged]
    assert await scene.alice.binding(binding) == verified
    connection = await asyncpg.connect(scene.stores.control_plane)
    row = await connection.fetchrow("SELECT * FROM registry.evidence")
    await connection.close()
    assert (row["digest"], row["proof_sha256"].hex()) == (
        verified["verificationEvidenceDigest"],
        evidence["proofSha256"],
    )


@pytest.mark.rows("PUB-10")
@pytest.mark.parametrize("late_by", [0.0, 0.000001, 3600.0])
async def test_at_or_after_its_expiry_a_challenge_fails_the_binding_and_nothing_is_fetched(
    scene: Scene, late_by: float
) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.serving_challenge(binding)
    scene.clock.stop(from_text(challenge["expiresAt"]) + timedelta(seconds=late_by))
    for _ in range(2):  # it stays unused, so that repeating it says the same
        require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_EXPIRED", "2")
    failed = await scene.alice.binding(binding)
    assert (failed["verificationStatus"], failed["verificationFailureCode"]) == ("failed", "challenge_expired")
    assert (scene.names.queries, scene.agent.connections) == ([], 0)
    connection = await asyncpg.connect(scene.stores.control_plane)
    assert await connection.fetchval("SELECT used_at FROM registry.challenge") is None
    await connection.close()


@pytest.mark.rows("PUB-10")
async def test_one_microsecond_before_its_expiry_a_challenge_still_counts(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.alice.challenge(binding)
    scene.clock.stop(from_text(challenge["expiresAt"]) - timedelta(microseconds=1))
    # The fetch may not outlive the Challenge, and no network answers within a microsecond.
    reply = await scene.alice.complete(challenge)
    require_error(reply, 503, "ENDPOINT_UNAVAILABLE", "2")
    require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_REUSED", "2")


@pytest.mark.rows("PUB-10")
@pytest.mark.parametrize("right", [True, False])
async def test_an_expiry_that_passes_during_the_fetch_wins_over_whatever_was_served(scene: Scene, right: bool) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.alice.challenge(binding)
    go_on = asyncio.Event()
    body = challenge["proof"].encode() if right else b"something else"
    scene.agent.behave = waiting_for(go_on, answering(body))
    completion = asyncio.create_task(scene.alice.complete(challenge))
    await scene.agent.visited.wait()
    scene.clock.advance(600)
    go_on.set()
    require_error(await completion, 409, "CHALLENGE_EXPIRED", "2")
    failed = await scene.alice.binding(binding)
    assert (failed["verificationStatus"], failed["verificationFailureCode"]) == ("failed", "challenge_expired")
    require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_REUSED", "2")


async def test_the_fetch_ends_when_the_challenge_does_although_the_time_limit_is_longer(stores: DatabaseUrls) -> None:
    async with publication_scene(stores, PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS="60000") as scene:
        binding = await scene.alice.new_binding(scene.agent.url)
        challenge = await scene.alice.challenge(binding)
        scene.agent.behave = waiting_for(asyncio.Event(), answering(b""))
        scene.clock.advance(599.8)
        async with promptly(5):
            require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_EXPIRED", "2")


@pytest.mark.rows("PUB-19")
async def test_a_challenge_is_created_by_the_provider_of_the_binding_only(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    path = f"/v1/providers/acme/endpoint-bindings/{binding['bindingId']}/challenges"
    require_error(await scene.bob.post(path), 403, "FORBIDDEN", "2")
    require_error(await scene.bob.post(path.replace("acme", "nobody")), 404, "NOT_FOUND", "2")
    require_error(await scene.alice.post(path.replace("bind_", "bind_x")), 404, "NOT_FOUND", "2")
    require_error(await scene.unit.post(path), 401, "UNAUTHENTICATED", "2")


async def test_whatever_body_is_sent_with_challenge_calls_is_ignored(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    path = f"/v1/providers/acme/endpoint-bindings/{binding['bindingId']}/challenges"
    headers = [(b"content-type", b"text/plain")]
    reply = await scene.unit.post(path, b'{"proof": broken', token=scene.alice.token, headers=headers)
    challenge = document_of(reply, 201, "challenge/1")
    scene.agent.serve(challenge["challengeId"], challenge["proof"])
    body = json.dumps({"proof": "mine"}).encode()
    reply = await scene.unit.post(f"{path}/{challenge['challengeId']}/complete", body, token=scene.alice.token)
    document_of(reply, 200, "endpoint-binding/1")
