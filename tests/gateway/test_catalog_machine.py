"""Random lives of Cards, Bindings, Challenges and Releases over HTTP, alone and at once, against a model."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest_asyncio

from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.cards import a_card
from tests.support.errors import require_error
from tests.support.lifecycle_model import Model, Outcome, Step, explanations, narrowed
from tests.support.lifecycle_steps import PRINCIPALS, VERSIONS, Imagination
from tests.support.publication import Json, Scene, publication_scene
from tests.support.units import Reply

SEEDS = 8
ROUNDS = 80
AUDIT_EVERY = 16
CHALLENGE_SECONDS = 601
DOCUMENTS = {
    **dict.fromkeys(("register", "publish_card", "disable_card"), "catalog-entry/1"),
    **dict.fromkeys(("bind", "read_binding", "complete"), "endpoint-binding/1"),
    **dict.fromkeys(("release", "move", "read_release"), "release/1"),
    "challenge": "challenge/1",
    "read_card": "agent-card/0.2",
}


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@dataclass
class Calls:
    """Turns steps into HTTP calls and answers into outcomes; knows the identifiers that symbols stand for."""

    scene: Scene
    ids: dict[str, str] = field(default_factory=dict)

    async def send(self, step: Step) -> Outcome:
        if step.kind == "pass_time":
            self.scene.clock.advance(CHALLENGE_SECONDS)
            return 200, ""
        method, path, body = getattr(self, f"_{step.kind}")(*step.target)
        token = {"alice": self.scene.alice, "bob": self.scene.bob}[step.who].token
        if step.kind == "register":
            body = a_card(agent_id=step.target[0], version=step.target[1], owner=step.who, endpoint=body)
        return self._outcome(step, await self.scene.unit.ask(method, path, body, token=token))

    def _outcome(self, step: Step, reply: Reply) -> Outcome:
        if reply.status >= 400:
            require_error(reply, reply.status, reply.code, "2")
            return reply.status, reply.code
        answer: Json = reply.json
        assert document(DOCUMENTS[step.kind]).violations(answer) == ()
        if step.kind in {"bind", "challenge", "release"}:
            made = {"bind": "bindingId", "challenge": "challengeId", "release": "releaseId"}[step.kind]
            self.ids[step.target[0]] = answer[made]
        if step.kind == "challenge":
            right = step.target[-1] == "right"
            self.scene.agent.serve(answer["challengeId"], answer["proof"] if right else "0" * 64)
            return reply.status, ""
        return reply.status, reply.header("x-platform-publication-status") or _state(answer)

    def _register(self, _: str, __: str) -> tuple[str, str, object]:
        return "POST", "/v1/agents", self.scene.agent.url

    def _publish_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "POST", f"/v1/agents/{agent}/versions/{version}/publish", None

    def _disable_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "POST", f"/v1/agents/{agent}/versions/{version}/disable", None

    def _read_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "GET", f"/v1/agents/{agent}/versions/{version}", None

    def _bind(self, _: str, provider: str, agent: str, version: str, endpoint: str) -> tuple[str, str, object]:
        url = self.scene.agent.url if endpoint == "right" else self.scene.agent.url + "/other"
        body = {"endpoint": url, "method": "http_well_known", "version": version}
        return "POST", f"/v1/providers/{provider}/agents/{agent}/endpoint-bindings", body

    def _read_binding(self, provider: str, binding: str) -> tuple[str, str, object]:
        return "GET", f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}", None

    def _challenge(self, _: str, provider: str, binding: str, __: str) -> tuple[str, str, object]:
        return "POST", f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}/challenges", None

    def _complete(self, provider: str, binding: str, challenge: str) -> tuple[str, str, object]:
        path = f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}"
        return "POST", f"{path}/challenges/{self._id(challenge)}/complete", None

    def _release(self, _: str, provider: str, agent: str, version: str, binding: str) -> tuple[str, str, object]:
        body = {"version": version, "endpointBindingId": self._id(binding)}
        return "POST", f"/v1/providers/{provider}/agents/{agent}/releases", body

    def _move(self, verb: str, release: str) -> tuple[str, str, object]:
        return "POST", f"/v1/releases/{self._id(release)}/{verb}", None

    def _read_release(self, release: str) -> tuple[str, str, object]:
        return "GET", f"/v1/releases/{self._id(release)}", None

    def _id(self, symbol: str) -> str:
        return self.ids.get(symbol, "none_such")


def _state(answer: Json) -> str:
    """What the answer shows of the state, as the model words it."""
    if "publicationStatus" in answer:
        release = None if answer["release"] is None else answer["release"]["state"]
        return f"{answer['publicationStatus']} {release} {answer['installable']}"
    if "verificationStatus" in answer:
        failure = answer.get("verificationFailureCode")
        return str(answer["verificationStatus"]) + (f" {failure}" if failure else "")
    return str(answer["state"])


async def test_every_answer_is_the_models_and_calls_at_once_have_an_order_that_explains_them(scene: Scene) -> None:
    calls, seen = Calls(scene), set[tuple[str, Outcome]]()
    for seed in range(SEEDS):
        await _live(calls, Imagination(random.Random(seed), f"life-{seed}"), seen)
    reached = {kind: {outcome for seen_kind, outcome in seen if seen_kind == kind} for kind, _ in seen}
    assert {(200, "published"), (200, "suspended"), (200, "revoked"), (200, "verified")} <= reached["move"]
    assert {"CHALLENGE_REUSED", "CHALLENGE_EXPIRED", "CONFLICT", "WRONG_PROOF"} <= {
        word for _, word in reached["complete"]
    }
    assert {(201, "pending_verification"), (201, "verified"), (409, "CONFLICT")} <= reached["release"]


async def _live(calls: Calls, imagination: Imagination, seen: set[tuple[str, Outcome]]) -> None:
    candidates: Sequence[Model] = [Model()]
    chance = imagination.chance
    for number in range(1, ROUNDS + 1):
        believed = chance.choice(candidates)
        steps = [imagination.step(believed)]
        if chance.random() < 0.6:
            steps.append(imagination.rival(believed, steps[0]))
        candidates = await _take(calls, candidates, steps, seen)
        if chance.random() < 0.04:
            candidates = await _take(calls, candidates, [Step("pass_time", "alice")], seen)
        if number % AUDIT_EVERY == 0:
            for read in _audit(candidates[0], imagination.prefix):
                candidates = await _take(calls, candidates, [read], seen)
            assert all(_visible(model) == _visible(candidates[0]) for model in candidates), "reading leaves no doubt"


async def _take(
    calls: Calls, candidates: Sequence[Model], steps: Sequence[Step], seen: set[tuple[str, Outcome]]
) -> Sequence[Model]:
    outcomes = tuple(await asyncio.gather(*map(calls.send, steps)))
    seen |= {(step.kind, outcome) for step, outcome in zip(steps, outcomes, strict=True)}
    left = narrowed(candidates, steps, outcomes)
    possible = {expected for model in candidates for _, expected in explanations(model, steps)}
    assert left, f"{steps} gave {outcomes}, which no order explains; possible: {sorted(possible)}"
    return left


def _audit(model: Model, prefix: str) -> Sequence[Step]:
    """Everything that exists, read by everybody; and Cards that do not exist."""
    reads: list[tuple[str, tuple[str, ...]]]
    reads = [("read_card", (f"{prefix}:agent-{agent}", version)) for agent in range(5) for version in VERSIONS]
    reads += [("read_binding", (bound.provider, name)) for name, bound in model.bindings.items()]
    reads += [("read_release", (name,)) for name in model.releases]
    return [Step(kind, who, target) for kind, target in reads for who in PRINCIPALS]


def _visible(model: Model) -> object:
    """All but whether a Challenge was spent, which only its completion shows."""
    return model.cards, model.bindings, model.releases, model.providers, model.agents
