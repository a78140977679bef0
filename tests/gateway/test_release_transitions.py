"""Every act on a Release in every state it can be in: where it leads, what it stamps, what stays."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.publication import Json, Scene, document_of, publication_scene

FACTS = (
    *("releaseId", "providerId", "agentId", "version", "cardDigest", "endpointBindingId", "endpointOrigin"),
    *("endpointPath", "verificationMethod", "createdAt"),
)
STAMPS = {"verify": "verifiedAt", "publish": "publishedAt", "suspend": "suspendedAt", "revoke": "revokedAt"}


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@dataclass(frozen=True)
class Situation:
    """How a Release comes into a situation, and where each act leads from there; what is not named is refused."""

    binding: str
    acts: Sequence[str]
    leads: dict[str, str]


WITHDRAW = {"suspend": "suspended", "revoke": "revoked"}
TRANSITIONS = {
    "pending_verification, Binding pending": Situation("pending", [], {}),
    "pending_verification, Binding failed": Situation("failed", [], {}),
    "pending_verification, Binding verified": Situation("later", [], {"verify": "verified"}),
    "pending_verification, Binding verified, Card disabled": Situation("later", ["disable"], {"verify": "verified"}),
    "verified": Situation("verified", [], {"publish": "published", **WITHDRAW}),
    "verified after verify": Situation("later", ["verify"], {"publish": "published", **WITHDRAW}),
    "verified, Card disabled": Situation("verified", ["disable"], WITHDRAW),
    "published": Situation("verified", ["publish"], WITHDRAW),
    "published, Card disabled": Situation("verified", ["publish", "disable"], WITHDRAW),
    "suspended": Situation("verified", ["publish", "suspend"], {"revoke": "revoked"}),
    "suspended from verified": Situation("verified", ["suspend"], {"revoke": "revoked"}),
    "suspended, Card disabled": Situation("verified", ["suspend", "disable"], {"revoke": "revoked"}),
    "revoked": Situation("verified", ["publish", "suspend", "revoke"], {}),
    "revoked from published": Situation("verified", ["publish", "revoke"], {}),
    "revoked from verified": Situation("verified", ["revoke"], {}),
    "revoked, Card disabled": Situation("verified", ["revoke", "disable"], {}),
}


async def brought_to(scene: Scene, situation: Situation) -> Json:
    agent_id = f"acme:agent-{scene.numbers()}"
    binding = await scene.alice.new_binding(scene.agent.url, agent_id)
    if situation.binding == "verified":
        await scene.alice.verify_binding(binding, scene.agent)
    release = await scene.alice.new_release(binding)
    if situation.binding == "later":
        await scene.alice.verify_binding(binding, scene.agent)
    elif situation.binding == "failed":
        reply = await scene.alice.complete(await scene.alice.challenge(binding))
        require_error(reply, 400, "WRONG_PROOF", "2")
    for act in situation.acts:
        if act == "disable":
            await scene.alice.disable(agent_id)
        else:
            await scene.alice.move(act, release)
    return await scene.alice.release(release)


@pytest.mark.rows("PUB-22", "PUB-25", "PUB-26", "PUB-27")
@pytest.mark.parametrize("name", TRANSITIONS)
async def test_every_act_in_every_state_leads_where_the_contract_says(scene: Scene, name: str) -> None:
    situation = TRANSITIONS[name]
    for act, stamp in STAMPS.items():
        before = await brought_to(scene, situation)
        assert before["state"] == re.split("[, ]", name, maxsplit=1)[0]
        card = await scene.alice.card(before["agentId"])
        scene.clock.advance(1)
        reply = await scene.alice.act(act, before)
        if act not in situation.leads:
            require_error(reply, 409, "CONFLICT", "2")
            assert await scene.alice.release(before) == before
            continue
        after = document_of(reply, 200, "release/2")
        assert after["state"] == situation.leads[act]
        assert [after[fact] for fact in FACTS] == [before[fact] for fact in FACTS]
        assert after[stamp] == after["updatedAt"] > before["updatedAt"]
        assert after.get("suspendedBy") == ("provider" if "suspendedAt" in after else None)
        for other in {*STAMPS.values()} - {stamp}:  # earlier times are kept, others stay empty
            assert after.get(other) == before.get(other)
        assert await scene.alice.release(before) == after
        if act != "publish":
            unchanged = ("publicationStatus", "publishedAt", "disabledAt")
            now = await scene.alice.card(before["agentId"])
            assert [now.get(each) for each in unchanged] == [card.get(each) for each in unchanged]
