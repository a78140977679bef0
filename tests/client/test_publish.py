"""`publish` of both clients: each step once, from wherever the platform is, by the caller's own rules."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from aop.client import (
    CardChanged,
    CardRegistered,
    ChangedCard,
    Client,
    EndpointBound,
    PlatformError,
    ProofNeeded,
    ProofNotServed,
    ProofServed,
    PublishStep,
    PublishStopped,
    ReleasePublished,
    ServeProof,
    SyncClient,
    proof_folder,
)
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import IssuedChallenge
from tests.support.agent import PROOF_PATH
from tests.support.loop import Platform, agent_card

pytestmark = pytest.mark.asyncio(loop_scope="module")

NUMBERS = count(1)
ALL_STEPS = [
    "CardRegistered",
    "EndpointBound",
    "ChallengeCreated",
    "ProofServed",
    "EndpointProved",
    "ReleaseCreated",
    "ReleasePublished",
]


def a_card(platform: Platform, **members: Any) -> dict[str, Any]:
    agent_id = f"alice:published-{next(NUMBERS)}"
    return {**agent_card(platform.agent, agent_id=agent_id), "owner": {"id": "alice", "displayName": "A"}, **members}


def served_by(platform: Platform) -> ServeProof:
    @contextmanager
    def serve(challenge: IssuedChallenge) -> Iterator[None]:
        platform.agent.proofs[PROOF_PATH + challenge.challenge_id] = challenge.proof
        try:
            yield
        finally:
            del platform.agent.proofs[PROOF_PATH + challenge.challenge_id]

    return serve


def names(steps: list[PublishStep]) -> list[str]:
    return [type(step).__name__ for step in steps]


async def test_a_card_becomes_a_published_release_and_each_step_is_handed_over(
    client: Client, platform: Platform
) -> None:
    steps: list[PublishStep] = []
    card = a_card(platform)
    release = await client.publish(card, proofs=served_by(platform), on_step=steps.append)
    assert names(steps) == ALL_STEPS
    assert steps[-1] == ReleasePublished(release)
    assert (release.agent_id, release.provider_id, release.state) == (card["agentId"], "alice", "published")
    assert platform.agent.proofs == {}


async def test_repeated_it_does_nothing_again_and_needs_no_proof(client: Client, platform: Platform) -> None:
    card, steps = a_card(platform), list[PublishStep]()
    first = await client.publish(card, proofs=served_by(platform))
    assert await client.publish(card, on_step=steps.append) == first
    found = [(type(step), getattr(step, "already", None)) for step in steps]
    assert found == [(CardRegistered, True), (ReleasePublished, True)]


async def test_a_proof_that_is_not_served_leaves_the_challenge_unused_and_the_next_run_goes_on(
    client: Client, platform: Platform, tmp_path: Path
) -> None:
    card, steps = a_card(platform), list[PublishStep]()
    with pytest.raises(ProofNotServed) as failed:
        await client.publish(card, proofs=proof_folder(tmp_path), wait_seconds=0.3)
    assert "status 404" in failed.value.problem
    assert os.listdir(tmp_path) == []
    await client.publish(card, proofs=served_by(platform), on_step=steps.append)
    assert names(steps) == ALL_STEPS
    bound = steps[1]
    assert isinstance(bound, EndpointBound)
    assert (bound.already, bound.binding.verification_status) == (True, "pending")


async def test_without_waiting_the_platform_is_asked_at_once(
    client: Client, platform: Platform, tmp_path: Path
) -> None:
    steps: list[PublishStep] = []
    with pytest.raises(PlatformError) as refused:
        await client.publish(a_card(platform), proofs=proof_folder(tmp_path), wait_seconds=0, on_step=steps.append)
    assert refused.value.code is ErrorCode.WRONG_PROOF
    assert not [step for step in steps if isinstance(step, ProofServed)]


async def test_without_a_way_to_serve_a_proof_no_challenge_is_created(client: Client, platform: Platform) -> None:
    steps: list[PublishStep] = []
    with pytest.raises(ProofNeeded):
        await client.publish(a_card(platform), on_step=steps.append)
    assert names(steps) == ALL_STEPS[:2]


async def test_a_changed_card_is_refused_or_the_registered_one_is_kept(client: Client, platform: Platform) -> None:
    card, steps = a_card(platform), list[PublishStep]()
    release = await client.publish(card, proofs=served_by(platform))
    changed = {**card, "description": "Something else."}
    with pytest.raises(CardChanged) as refused:
        await client.publish(changed)
    assert "raise `version`" in refused.value.recovery.action
    assert await client.publish(changed, changed=ChangedCard.KEEP, on_step=steps.append) == release
    assert isinstance(steps[0], CardRegistered)
    assert steps[0].changed


async def test_what_was_taken_out_of_use_is_not_published_again(client: Client, platform: Platform) -> None:
    revoked, disabled = a_card(platform), a_card(platform)
    release = await client.publish(revoked, proofs=served_by(platform))
    await client.publish(disabled, proofs=served_by(platform))
    await client.revoke_release(release.release_id)
    await client.disable_agent_card(disabled["agentId"], disabled["version"])
    for card, code in ((revoked, ErrorCode.AGENT_RELEASE_REVOKED), (disabled, ErrorCode.AGENT_DISABLED)):
        with pytest.raises(PublishStopped) as stopped:
            await client.publish(card)
        assert (stopped.value.code, stopped.value.entry.agent_id) == (code, card["agentId"])


async def test_a_card_that_breaks_the_rules_is_refused_by_the_platform(client: Client, platform: Platform) -> None:
    card = a_card(platform)
    del card["agentId"]
    with pytest.raises(PlatformError) as refused:
        await client.publish(card)
    assert refused.value.code is ErrorCode.VALIDATION_ERROR
    assert [violation.rule for violation in refused.value.violations] == ["required"]


async def test_the_synchronous_client_hands_over_the_steps_in_the_callers_thread(platform: Platform) -> None:
    threads, steps = set[int](), list[PublishStep]()

    def note(step: PublishStep) -> None:
        threads.add(threading.get_ident())
        steps.append(step)

    def act() -> tuple[int, str]:
        with SyncClient(platform.gateway.origin, platform.token) as client:
            release = client.publish(a_card(platform), proofs=served_by(platform), on_step=note)
            return threading.get_ident(), client.read_release(release.release_id).state

    thread, state = await asyncio.to_thread(act)
    assert (threads, state, names(steps)) == ({thread}, "published", ALL_STEPS)


async def test_a_caller_that_fails_between_two_steps_leaves_no_proof(platform: Platform) -> None:
    def fail(step: PublishStep) -> None:
        if isinstance(step, ProofServed):
            raise LookupError("the caller's own")

    def act() -> None:
        with SyncClient(platform.gateway.origin, platform.token) as client:
            client.publish(a_card(platform), proofs=served_by(platform), on_step=fail)

    with pytest.raises(LookupError):
        await asyncio.to_thread(act)
    assert platform.agent.proofs == {}
