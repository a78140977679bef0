"""Concurrent acts on Releases: one winner, or an order of the calls that explains every answer and the change feed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.locks import waiting_for_a_lock
from tests.support.postgres import PostgresForTests
from tests.support.publication import Json, Scene, document_of, publication_scene
from tests.support.units import Reply
from tests.support.waiting import patience

pytestmark = pytest.mark.second_ring


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@dataclass
class Model:
    """A verified Release of a draft Card, and what each act makes of them, one after the other."""

    release: str = "verified"
    card: str = "draft"
    feed: list[str] = field(default_factory=list)

    def act(self, act: str) -> int:
        if act == "disable":
            if self.card != "disabled":
                self.card = "disabled"
                self.feed.append(self.watched)
            return 200
        sources, target = {
            "publish": ({"verified"}, "published"),
            "suspend": ({"verified", "published"}, "suspended"),
            "revoke": ({"verified", "published", "suspended"}, "revoked"),
        }[act]
        if self.release not in sources or (act == "publish" and self.card == "disabled"):
            return 409
        self.release = target
        if act == "publish":
            self.card = "published"
        self.feed.append(self.watched)
        return 200

    @property
    def watched(self) -> str:
        if self.release in {"suspended", "revoked"}:
            return self.release
        return "disabled" if self.card == "disabled" else self.release


def explanations(acts: Sequence[str]) -> set[tuple[object, ...]]:
    """Every result that some order of the acts has: answers by position, end states, feed."""
    found: set[tuple[object, ...]] = set()
    for order in permutations(range(len(acts))):
        model = Model()
        answers = {index: model.act(acts[index]) for index in order}
        by_position = tuple(answers[index] for index in range(len(acts)))
        found.add((by_position, model.release, model.card, tuple(model.feed)))
    return found


async def feed_of(stores: DatabaseUrls, release: Json) -> tuple[str, ...]:
    connection = await asyncpg.connect(stores.control_plane)
    rows = await connection.fetch(
        "SELECT state FROM registry.change WHERE release_id = $1 ORDER BY revision", release["releaseId"]
    )
    await connection.close()
    return tuple(row["state"] for row in rows)


async def act(scene: Scene, act: str, release: Json) -> Reply:
    if act == "disable":
        return await scene.alice.post(f"/v1/agents/{release['agentId']}/versions/1.0.0/disable")
    return await scene.alice.act(act, release)


@pytest.mark.rows("PUB-25")
async def test_of_sixty_publishes_at_once_one_wins(scene: Scene) -> None:
    release = await scene.new_release()
    replies = await all_answered([partial(scene.alice.act, "publish", release)] * 60)
    assert sorted(reply.status for reply in replies) == [200] + [409] * 59
    for reply in replies:
        if reply.status == 200:
            assert document_of(reply, 200, "release/2") == await scene.alice.release(release)
        else:
            require_error(reply, 409, "CONFLICT", "2")
    require_error(await scene.alice.act("publish", release), 409, "CONFLICT", "2")
    assert await feed_of(scene.stores, release) == ("published",)


async def test_of_fifty_creations_of_one_release_at_once_one_wins(scene: Scene) -> None:
    first = await scene.alice.new_verified_binding(scene.agent)
    second = document_of(await scene.alice.bind(scene.agent.url), 201, "endpoint-binding/1")
    replies = await all_answered(partial(scene.alice.request_release, each) for each in [first, second] * 25)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 49


@pytest.mark.parametrize(
    "acts",
    [
        ["publish", "suspend", "revoke", "disable"],
        ["publish", "publish", "disable", "disable"],
        ["publish", "suspend", "suspend", "revoke", "revoke"],
    ],
    ids=" ".join,
)
async def test_acts_sent_at_once_have_a_result_that_some_order_of_them_explains(
    scene: Scene, acts: Sequence[str]
) -> None:
    possible = explanations(acts)
    releases = [await scene.new_release() for _ in range(12)]

    async def outcome(release: Json) -> tuple[object, ...]:
        replies = await asyncio.gather(*(act(scene, each, release) for each in acts))
        for reply in replies:
            if reply.status != 200:
                require_error(reply, 409, "CONFLICT", "2")
        state = (await scene.alice.release(release))["state"]
        card = (await scene.alice.card(release["agentId"]))["publicationStatus"]
        return tuple(reply.status for reply in replies), state, card, await feed_of(scene.stores, release)

    assert set(await asyncio.gather(*map(outcome, releases))) <= possible


async def test_whoever_disables_a_card_waits_for_its_release_before_touching_its_words(
    scene: Scene, postgres: PostgresForTests
) -> None:
    """Whoever revokes or suspends has locked the Release and comes to the words next."""
    release = await scene.new_release()
    await scene.alice.act("publish", release)
    database, key = scene.stores.migration, (release["agentId"], release["version"])
    revoking = await asyncpg.connect(database)
    try:
        async with revoking.transaction():
            await revoking.execute("SET LOCAL ROLE aop_owner")
            await revoking.execute(
                "SELECT FROM registry.release WHERE release_id = $1 FOR NO KEY UPDATE", release["releaseId"]
            )
            disabling = asyncio.create_task(act(scene, "disable", release))
            await waiting_for_a_lock(postgres, scene.stores)
            removed = "DELETE FROM registry.indexed_version WHERE (agent_id, version) = ($1, $2)"
            async with patience():
                assert await revoking.execute(removed, *key) == "DELETE 1"
        assert (await disabling).status == 200
    finally:
        await revoking.close()


async def test_a_release_created_while_its_card_is_disabled_leaves_a_feed_that_says_disabled(scene: Scene) -> None:
    bindings = [await scene.alice.new_binding(scene.agent.url, f"acme:agent-{scene.numbers()}") for _ in range(20)]

    async def create_and_disable(binding: Json) -> Json:
        path = f"/v1/agents/{binding['agentId']}/versions/1.0.0/disable"
        created, disabled = await all_answered(
            [partial(scene.alice.request_release, binding), partial(scene.alice.post, path)]
        )
        assert disabled.status == 200
        return document_of(created, 201, "release/2")

    for release in await asyncio.gather(*(create_and_disable(binding) for binding in bindings)):
        assert await feed_of(scene.stores, release) == ("disabled",)


async def test_a_verification_and_the_proof_it_waits_for_may_race(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    release = await scene.alice.new_release(binding)
    challenge = await scene.alice.challenge(binding)
    scene.agent.serve(challenge["challengeId"], challenge["proof"])
    completion = asyncio.create_task(scene.alice.complete(challenge))
    async with patience():
        while (reply := await scene.alice.act("verify", release)).status != 200:
            require_error(reply, 409, "CONFLICT", "2")
    proven = document_of(await completion, 200, "endpoint-binding/1")
    verified = document_of(reply, 200, "release/2")
    assert verified["verificationEvidenceDigest"] == proven["verificationEvidenceDigest"]
    assert verified["verifiedAt"] >= proven["verifiedAt"]


async def test_the_whole_feed_is_numbered_without_gap_under_many_acts_at_once(scene: Scene) -> None:
    releases = [await scene.new_release() for _ in range(20)]
    await asyncio.gather(
        *(act(scene, each, release) for release in releases for each in ("publish", "suspend", "disable"))
    )
    connection = await asyncpg.connect(scene.stores.control_plane)
    revisions = [row["revision"] for row in await connection.fetch("SELECT revision FROM registry.change ORDER BY 1")]
    current = await connection.fetchval("SELECT value FROM registry.counter WHERE name = 'topology'")
    last = await connection.fetch(
        "SELECT DISTINCT ON (release_id) release_id, state FROM registry.change ORDER BY release_id, revision DESC"
    )
    watched = await connection.fetch("SELECT release_id, state FROM registry.watched_release ORDER BY release_id")
    await connection.close()
    assert revisions == list(range(1, current + 1))
    assert [tuple(row) for row in last] == [tuple(row) for row in watched]
