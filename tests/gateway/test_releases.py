"""Releases: how they come about, what they copy, and who may read and move them."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.endpoints import answering
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.publication import Provider, Scene, document_of, publication_scene

ACTS = ("verify", "publish", "suspend", "revoke")


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest.mark.rows("PUB-20")
async def test_a_release_of_a_pending_binding_waits_for_verification_without_evidence(scene: Scene) -> None:
    entry = await scene.alice.register(scene.agent.url)
    binding = document_of(await scene.alice.bind(scene.agent.url), 201, "endpoint-binding/1")
    release = await scene.alice.new_release(binding)
    assert release.pop("releaseId").startswith("rel_")
    assert release.pop("createdAt") == release.pop("updatedAt")
    assert release == {
        "providerId": "acme",
        "agentId": "acme:agent",
        "version": "1.0.0",
        "cardDigest": entry["cardDigest"],
        "endpointBindingId": binding["bindingId"],
        "endpointOrigin": scene.agent.origin,
        "endpointPath": "/a2a",
        "verificationMethod": "http_well_known",
        "state": "pending_verification",
    }


@pytest.mark.rows("PUB-20")
async def test_a_release_of_a_verified_binding_is_verified_with_its_evidence_copied(scene: Scene) -> None:
    binding = await scene.alice.new_verified_binding(scene.agent)
    scene.clock.advance(60)
    release = await scene.alice.new_release(binding)
    assert release["state"] == "verified"
    assert release["verificationEvidenceDigest"] == binding["verificationEvidenceDigest"]
    assert release["verifiedAt"] == binding["verifiedAt"] < release["createdAt"]
    entry = await scene.alice.card("acme:agent")
    assert entry["release"] == {"releaseId": release["releaseId"], "state": "verified"}
    assert (entry["publicationStatus"], entry["installable"]) == ("draft", False)


@pytest.mark.rows("PUB-21")
async def test_the_checks_of_a_creation_come_in_the_order_of_the_contract(scene: Scene) -> None:
    alice, bob = scene.alice, scene.bob
    binding = await alice.new_binding(scene.agent.url)
    other_version = await alice.new_binding(scene.agent.url, version="1.1.0")
    foreign = await bob.new_binding(scene.agent.url, "globex:agent")
    nobody = Provider(scene.unit, alice.token, "alice", "nobody")
    require_error(await nobody.request_release(foreign), 404, "NOT_FOUND", "2")
    intruder = Provider(scene.unit, alice.token, "alice", "globex")
    require_error(await intruder.request_release(foreign), 403, "FORBIDDEN", "2")
    require_error(await intruder.request_release(foreign, endpointBindingId="bind_unknown"), 403, "FORBIDDEN", "2")
    require_error(await alice.request_release(foreign), 404, "NOT_FOUND", "2")
    require_error(await alice.request_release(binding, endpointBindingId="bind_unknown"), 404, "NOT_FOUND", "2")
    mismatches = (
        await alice.request_release(binding, endpointBindingId=other_version["bindingId"]),
        await alice.request_release(binding, version="9.9.9"),  # also unknown: the mismatch is told first
        await alice.request_release({**binding, "agentId": "acme:unknown"}),
    )
    for reply in mismatches:
        require_error(reply, 400, "VALIDATION_ERROR", "2")
        assert reply.json["violations"] == [{"pointer": "/endpointBindingId", "rule": "binding_mismatch"}]
    document_of(await alice.request_release(binding), 201, "release/2")
    require_error(await alice.request_release(binding), 409, "CONFLICT", "2")


@pytest.mark.rows("PUB-21")
async def test_a_failed_binding_makes_no_release_and_a_second_binding_no_second_one(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    scene.agent.behave = answering(b"wrong")
    require_error(await scene.alice.complete(await scene.alice.challenge(binding)), 400, "WRONG_PROOF", "2")
    require_error(await scene.alice.request_release(binding), 409, "CONFLICT", "2")
    scene.agent.behave = None
    await scene.alice.verify_binding(binding, scene.agent)
    release = await scene.alice.new_release(binding)
    second = document_of(await scene.alice.bind(scene.agent.url), 201, "endpoint-binding/1")
    require_error(await scene.alice.request_release(second), 409, "CONFLICT", "2")
    await scene.alice.move("revoke", release)  # one per version, ever
    require_error(await scene.alice.request_release(second), 409, "CONFLICT", "2")


@pytest.mark.rows("PUB-22")
async def test_a_pending_release_is_verified_once_its_binding_is(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    pending = await scene.alice.new_release(binding)
    require_error(await scene.alice.act("verify", pending), 409, "CONFLICT", "2")
    require_error(await scene.alice.act("publish", pending), 409, "CONFLICT", "2")
    assert await scene.alice.release(pending) == pending
    proven = await scene.alice.verify_binding(binding, scene.agent)
    require_error(await scene.alice.act("publish", pending), 409, "CONFLICT", "2")
    assert await scene.alice.release(pending) == pending
    verified = await scene.alice.move("verify", pending)
    assert verified["state"] == "verified"
    assert verified["verificationEvidenceDigest"] == proven["verificationEvidenceDigest"]
    assert verified["verifiedAt"] == verified["updatedAt"] >= proven["verifiedAt"]


@pytest.mark.rows("PUB-23")
async def test_publishing_a_release_publishes_its_draft_card_in_the_same_moment(scene: Scene) -> None:
    release = await scene.new_release()
    published = await scene.alice.move("publish", release)
    assert (published["state"], published["publishedAt"]) == ("published", published["updatedAt"])
    entry = await scene.alice.card(release["agentId"])
    assert (entry["publicationStatus"], entry["installable"]) == ("published", True)
    assert entry["publishedAt"] == published["publishedAt"]
    assert entry["release"] == {"releaseId": release["releaseId"], "state": "published"}
    found = (await scene.bob.get("/v1/agents?installable=true")).json["items"]
    assert [item["agentId"] for item in found] == [release["agentId"]]


@pytest.mark.rows("PUB-23")
async def test_a_card_that_was_published_before_keeps_its_time(scene: Scene) -> None:
    release = await scene.new_release()
    path = f"/v1/agents/{release['agentId']}/versions/1.0.0/publish"
    before = document_of(await scene.alice.post(path), 200, "catalog-entry/1")
    scene.clock.advance(60)
    published = await scene.alice.move("publish", release)
    entry = await scene.alice.card(release["agentId"])
    assert entry["publishedAt"] == before["publishedAt"] < published["publishedAt"]
    connection = await asyncpg.connect(scene.stores.control_plane)
    assert await connection.fetchval("SELECT publication FROM registry.card") == 2  # the next number, all the same
    await connection.close()


@pytest.mark.rows("PUB-24")
async def test_the_release_of_a_disabled_card_is_not_published(scene: Scene) -> None:
    release = await scene.new_release()
    disabled = await scene.alice.disable(release["agentId"])
    require_error(await scene.alice.act("publish", release), 409, "CONFLICT", "2")
    assert await scene.alice.release(release) == release
    entry = await scene.alice.card(release["agentId"])
    assert (entry["publicationStatus"], entry["disabledAt"]) == ("disabled", disabled["disabledAt"])
    assert "publishedAt" not in entry


@pytest.mark.rows("PUB-19")
async def test_only_the_owner_acts_and_others_read_a_release_while_it_is_published(scene: Scene) -> None:
    release = await scene.new_release()
    path = f"/v1/releases/{release['releaseId']}"
    for expected in ("verified", "published", "suspended", "revoked"):
        if expected != "verified":
            await scene.alice.move(
                {"published": "publish", "suspended": "suspend", "revoked": "revoke"}[expected], release
            )
        assert (await scene.alice.release(release))["state"] == expected
        reply = await scene.bob.get(path)
        if expected == "published":
            assert document_of(reply, 200, "release/2") == await scene.alice.release(release)
        else:
            require_error(reply, 403, "FORBIDDEN", "2")
        for act in ACTS:  # rights come before the state
            require_error(await scene.bob.act(act, release), 403, "FORBIDDEN", "2")
    for act in ACTS:
        require_error(await scene.alice.post(f"/v1/releases/rel_unknown/{act}"), 404, "NOT_FOUND", "2")
        require_error(await scene.unit.post(f"{path}/{act}"), 401, "UNAUTHENTICATED", "2")
    require_error(await scene.bob.get("/v1/releases/rel_unknown"), 404, "NOT_FOUND", "2")
    require_error(await scene.bob.get("/v1/releases/-"), 400, "VALIDATION_ERROR", "2")


@pytest.mark.rows("PUB-29")
async def test_after_a_revocation_a_new_version_runs_the_whole_way_and_the_old_release_stays_revoked(
    scene: Scene,
) -> None:
    first = await scene.new_release()
    await scene.alice.move("publish", first)
    revoked = await scene.alice.move("revoke", first)
    binding = await scene.alice.new_verified_binding(scene.agent, first["agentId"], "1.0.1")
    second = await scene.alice.move("publish", await scene.alice.new_release(binding))
    assert (second["state"], second["version"]) == ("published", "1.0.1")
    assert await scene.alice.release(first) == revoked
    overview = (await scene.bob.get(f"/v1/agents/{first['agentId']}")).json["versions"]
    assert {entry["version"]: entry["installable"] for entry in overview} == {"1.0.0": False, "1.0.1": True}


async def test_whatever_body_is_sent_with_a_transition_is_ignored(scene: Scene) -> None:
    release = await scene.new_release()
    reply = await scene.unit.post(
        f"/v1/releases/{release['releaseId']}/publish",
        b"\xff not json",
        token=scene.alice.token,
        headers=[(b"content-type", b"application/x-nothing")],
    )
    assert document_of(reply, 200, "release/2")["state"] == "published"


async def test_a_dead_store_is_a_dependency_error_for_every_release_call(
    scene: Scene, postgres: PostgresForTests
) -> None:
    release = await scene.new_release()
    await postgres.drop(scene.stores.migration.rpartition("/")[2])
    require_error(await scene.alice.get(f"/v1/releases/{release['releaseId']}"), 503, "DEPENDENCY_ERROR", "2")
    for act in ACTS:
        require_error(await scene.alice.act(act, release), 503, "DEPENDENCY_ERROR", "2")
