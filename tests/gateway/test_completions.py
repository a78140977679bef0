"""Completions: at most once, in the order of the contract, whatever races with them or breaks under them."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.endpoints import answering, waiting_for
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.publication import Provider, Scene, document_of, publication_scene
from tests.support.waiting import becomes_true


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest.mark.rows("PUB-11")
async def test_a_challenge_that_succeeded_is_reused_and_the_binding_stays_as_it_is(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.serving_challenge(binding)
    verified = document_of(await scene.alice.complete(challenge), 200, "endpoint-binding/1")
    scene.clock.advance(3600)  # reuse is told before expiry
    require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_REUSED", "2")
    assert await scene.alice.binding(binding) == verified
    assert scene.agent.connections == 1


@pytest.mark.rows("PUB-18")
async def test_a_verified_binding_takes_no_new_challenge_and_completes_no_other_open_one(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    other = await scene.alice.challenge(binding)
    verified = await scene.alice.verify_binding(binding, scene.agent)
    scene.agent.serve(other["challengeId"], other["proof"])
    path = f"/v1/providers/acme/endpoint-bindings/{binding['bindingId']}/challenges"
    require_error(await scene.alice.post(path), 409, "CONFLICT", "2")
    require_error(await scene.alice.complete(other), 409, "CONFLICT", "2")
    scene.clock.advance(3600)  # also when it has expired: the state of the Binding is looked at first
    require_error(await scene.alice.complete(other), 409, "CONFLICT", "2")
    assert await scene.alice.binding(binding) == verified
    assert scene.agent.connections == 1


@pytest.mark.rows("PUB-18")
async def test_of_a_hundred_completions_of_one_challenge_at_once_one_fetches_and_succeeds(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.serving_challenge(binding)
    replies = await all_answered([partial(scene.alice.complete, challenge)] * 100)
    assert sorted(reply.status for reply in replies) == [200] + [409] * 99
    for reply in replies:
        if reply.status != 200:
            require_error(reply, 409, "CHALLENGE_REUSED", "2")
    assert scene.agent.connections == 1


@pytest.mark.rows("PUB-18")
async def test_of_sixty_open_challenges_completed_at_once_one_wins_and_no_failure_overwrites_it(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    right = [await scene.serving_challenge(binding) for _ in range(30)]
    wrong = [await scene.alice.challenge(binding) for _ in range(30)]
    challenges = [each for pair in zip(right, wrong, strict=True) for each in pair]
    replies = await all_answered(partial(scene.alice.complete, each) for each in challenges)
    succeeded = [reply for reply in replies if reply.status == 200]
    assert len(succeeded) == 1
    for reply, is_right in zip(replies, [True, False] * 30, strict=True):
        if reply.status == 409:
            require_error(reply, 409, "CONFLICT", "2")
        elif reply.status != 200:
            assert not is_right
            require_error(reply, 400, "WRONG_PROOF", "2")
    assert await scene.alice.binding(binding) == document_of(succeeded[0], 200, "endpoint-binding/1")


@pytest.mark.rows("PUB-18")
async def test_a_failure_that_comes_after_a_concurrent_success_is_a_conflict(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    slow, quick = await scene.alice.challenge(binding), await scene.alice.challenge(binding)
    late = asyncio.Event()
    scene.agent.behave = waiting_for(late, answering(b"wrong"))
    completion = asyncio.create_task(scene.alice.complete(slow))
    await scene.agent.visited.wait()
    scene.agent.behave = None
    scene.agent.serve(quick["challengeId"], quick["proof"])
    verified = document_of(await scene.alice.complete(quick), 200, "endpoint-binding/1")
    late.set()
    require_error(await completion, 409, "CONFLICT", "2")
    assert await scene.alice.binding(binding) == verified


@pytest.mark.rows("PUB-19")
async def test_the_checks_of_a_completion_come_in_the_order_of_the_contract(scene: Scene) -> None:
    alice, bob = scene.alice, scene.bob
    binding = await alice.new_binding(scene.agent.url)
    challenge = await alice.challenge(binding)
    scene.clock.advance(3600)  # every call below would also find it expired
    other = await bob.new_binding(scene.agent.url, "globex:agent")

    def of(each: Provider, provider_id: str) -> Provider:
        return Provider(each.unit, each.token, each.principal, provider_id)

    require_error(await of(bob, "-bad").complete(challenge), 400, "VALIDATION_ERROR", "2")
    require_error(await of(bob, "nobody").complete(challenge), 404, "NOT_FOUND", "2")
    require_error(await of(bob, "acme").complete(challenge), 403, "FORBIDDEN", "2")
    require_error(await of(bob, "acme").complete({**challenge, "bindingId": "bind_unknown"}), 403, "FORBIDDEN", "2")
    require_error(await alice.complete({**challenge, "bindingId": other["bindingId"]}), 404, "NOT_FOUND", "2")
    require_error(await alice.complete({**challenge, "challengeId": "chal_unknown"}), 404, "NOT_FOUND", "2")
    second = document_of(await alice.bind(scene.agent.url), 201, "endpoint-binding/1")
    require_error(await alice.complete({**challenge, "bindingId": second["bindingId"]}), 404, "NOT_FOUND", "2")
    assert (await alice.binding(binding))["verificationStatus"] == "pending"
    require_error(await alice.complete(challenge), 409, "CHALLENGE_EXPIRED", "2")


async def test_a_caller_who_leaves_during_the_fetch_does_not_stop_the_completion(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.alice.challenge(binding)
    go_on = asyncio.Event()
    scene.agent.behave = waiting_for(go_on, answering(challenge["proof"].encode()))
    completion = asyncio.create_task(scene.alice.complete(challenge))
    await scene.agent.visited.wait()
    completion.cancel()
    await asyncio.wait({completion})
    go_on.set()

    async def is_verified() -> bool:
        return "verifiedAt" in await scene.alice.binding(binding)

    await becomes_true(is_verified)


@pytest.mark.parametrize("when", ["before the claim", "after the claim"])
async def test_a_store_that_dies_is_a_dependency_error(scene: Scene, postgres: PostgresForTests, when: str) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.serving_challenge(binding)
    database = scene.stores.migration.rpartition("/")[2]
    if when == "before the claim":
        await postgres.drop(database)
        require_error(await scene.alice.complete(challenge), 503, "DEPENDENCY_ERROR", "2")
        assert scene.agent.connections == 0
        return
    go_on = asyncio.Event()
    scene.agent.behave = waiting_for(go_on, answering(challenge["proof"].encode()))
    completion = asyncio.create_task(scene.alice.complete(challenge))
    await scene.agent.visited.wait()
    await postgres.drop(database)
    go_on.set()
    require_error(await completion, 503, "DEPENDENCY_ERROR", "2")
