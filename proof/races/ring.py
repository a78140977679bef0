"""Contests over one Agent through two Gateways: acts that meet, and the models that explain all that was answered."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise, permutations
from typing import cast

from tests.support.catalog import provider_of
from tests.support.endpoints import AgentEndpoint
from tests.support.lifecycle_calls import Calls
from tests.support.lifecycle_model import Model, Outcome, Step, explanations, narrowed, require
from tests.support.loop import CAPABILITY, SPACE, Platform, open_skill
from tests.support.publication import Provider, Scene, ScriptedClock, ScriptedNames
from tests.support.units import Reply
from tests.support.workspace_model import SpacesModel

MAX_APART_SECONDS = 0.012
"""Somewhat longer than an act takes: the one sent first is sometimes done before the next, mostly they meet."""
_OWNER = "alice"
_CARD = {"skills": [open_skill()], "permissions": []}
_RELEASE_CODES = {"suspended": "AGENT_RELEASE_SUSPENDED", "revoked": "AGENT_RELEASE_REVOKED"}


class InvokingModel(SpacesModel):
    """With what a call of an Agent is told, in the order of the contract."""

    def invoke(self, _: str, space: str, agent: str) -> Outcome:
        current = [one for one in self.installed.values() if (one.space, one.agent) == (space, agent)]
        statuses = {one.status for one in current} - {"uninstalled"}
        require(statuses, 404, "AGENT_NOT_INSTALLED")
        require(statuses == {"enabled"}, 409, "INSTALLATION_DISABLED")
        require(self.cards[agent, "1.0.0"] != "disabled", 409, "AGENT_DISABLED")
        state = self._release_of(agent, "1.0.0")
        require(state == "published", 409, _RELEASE_CODES.get(state or "", ""))
        return 200, ""


class InvokingCalls(Calls):
    def _invoke(self, space: str, agent: str) -> tuple[str, str, object]:
        body = {"agentId": agent, "capability": CAPABILITY, "input": {}, "stream": False}
        return "POST", f"/v1/workspaces/{space}/invocations", body

    def _outcome(self, step: Step, reply: Reply) -> Outcome:
        return outcome_of(reply) if step.kind == "invoke" else super()._outcome(step, reply)


def outcome_of(reply: Reply) -> Outcome:
    return reply.status, reply.code if reply.status >= 400 else ""


def acts_on(
    agent: str, who: str = _OWNER, provider: str = provider_of(_OWNER), space: str = SPACE
) -> Mapping[str, Step]:
    """All that can be done to one Agent; the first seven, in this order, take it from nothing to installed."""
    made = ("binding", "challenge", "release", "installation")
    binding, challenge, release, installation = (f"{what} of {agent}" for what in made)
    version = "1.0.0"
    acts = {
        "register": ("register", agent, version),
        "bind": ("bind", binding, provider, agent, version, "right"),
        "challenge": ("challenge", challenge, provider, binding, "right"),
        "complete": ("complete", provider, binding, challenge),
        "release": ("release", release, provider, agent, version, binding),
        "publish": ("move", "publish", release),
        "install": ("install", installation, space, agent),
        "verify": ("move", "verify", release),
        "suspend": ("move", "suspend", release),
        "revoke": ("move", "revoke", release),
        "disable Card": ("disable_card", agent, version),
        "enable": ("set_status", space, installation, "enabled"),
        "disable": ("set_status", space, installation, "disabled"),
        "delete": ("uninstall", space, installation),
        "invoke": ("invoke", space, agent),
        "read Binding": ("read_binding", provider, binding),
        "read Release": ("read_release", release),
        "read Installation": ("read_installation", space, installation),
    }
    return {name: Step(kind, who, tuple(target)) for name, (kind, *target) in acts.items()}


def expected(model: Model, *steps: Step) -> tuple[Model, Outcome]:
    """What follows when these are done one after the other, and what the last is told."""
    for step in steps:
        [(model, (outcome,))] = explanations(model, [step])
    return model, outcome


@dataclass(frozen=True)
class Contest:
    """Of an Agent that was taken as far as `start`; `reads` show everybody how it ended."""

    name: str
    start: str
    acts: Sequence[str]
    reads: Sequence[str]

    def begun(self, on: Mapping[str, Step]) -> Sequence[Step]:
        names = list(on)
        return [on[name] for name in names[: names.index(self.start) + 1]]

    @property
    def possible(self) -> set[tuple[Outcome, ...]]:
        """The answers of the acts, in their own order, that some order of them has."""
        on = acts_on("any:agent")
        model, _ = expected(new_model(), *self.begun(on))
        return {answers for _, answers in explanations(model, [on[act] for act in self.acts])}


def new_model() -> Model:
    return InvokingModel(spaces={SPACE: _OWNER})


CONTESTS: Sequence[Contest] = (
    Contest("publish or revoke", "release", ("publish", "revoke"), ("read Release",)),
    Contest("suspend or invoke", "install", ("suspend", "invoke"), ("read Release",)),
    Contest("complete or complete", "challenge", ("complete", "complete"), ("read Binding",)),
    Contest("enable, disable or delete", "install", ("enable", "disable", "delete"), ("read Installation",)),
    Contest("install or suspend", "publish", ("install", "suspend"), ("read Release", "read Installation")),
)
IN_USE = Contest("in use", "install", (), ())


@dataclass(frozen=True)
class Meeting:
    """The answers of the acts, in their own order; whether one was sent before another was answered; and the models
    that explain them together with everything read afterwards, none when nothing does."""

    answers: tuple[Outcome, ...]
    met: bool
    models: Sequence[Model]


@dataclass(frozen=True)
class Ring:
    platform: Platform
    gateways: Sequence[Calls]
    chance: random.Random
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    @classmethod
    def of(cls, sides: Sequence[Platform], chance: random.Random) -> "Ring":
        ids: dict[str, str] = {}
        return cls(sides[0], [InvokingCalls(_scene(side), ids, _CARD) for side in sides], chance)

    async def send(self, step: Step) -> Outcome:
        """Through one of the Gateways."""
        return await self.chance.choice(self.gateways).send(step)

    async def prepared(self, contest: Contest, on: Mapping[str, Step]) -> Model:
        model = new_model()
        for step in contest.begun(on):
            model, told = expected(model, step)
            answer = await self.gateways[0].send(step)
            assert answer == told, f"{step}: {answer}"
        return model

    async def hold(self, contest: Contest, number: int) -> Meeting:
        """All acts at once, each in its turn a moment ahead of the others.

        In the first rounds each waits for the answer of the one before, so that every order has been there.
        """
        on = acts_on(f"race:agent-{next(self._numbers)}")
        models: Sequence[Model] = [await self.prepared(contest, on)]
        acts = [on[act] for act in contest.acts]
        orders = list(permutations(range(len(acts))))
        at_once, delay = number >= len(orders), 0.0
        answers, spans = dict[int, Outcome](), list[tuple[float, float]]()

        async def send(index: int, delay: float) -> None:
            await asyncio.sleep(delay)
            began = asyncio.get_running_loop().time()
            answers[index] = await self.send(acts[index])
            spans.append((began, asyncio.get_running_loop().time()))

        async with asyncio.TaskGroup() as tasks:
            for index in orders[number % len(orders)]:
                task = tasks.create_task(send(index, delay))
                if at_once:
                    delay += self.chance.uniform(0, MAX_APART_SECONDS)
                else:
                    await asyncio.wait({task})
        met = any(later[0] < earlier[1] for earlier, later in pairwise(sorted(spans)))
        told = tuple(answers[index] for index in range(len(acts)))
        models = narrowed(models, acts, told)
        for read in contest.reads:
            models = narrowed(models, [on[read]], (await self.send(on[read]),))
        return Meeting(told, met, models)


def _scene(side: Platform) -> Scene:
    """What the calls need of one: a Gateway, an Agent that serves proofs, and a principal."""
    alice = Provider(side.gateway, side.token, _OWNER, provider_of(_OWNER))
    agent = cast("AgentEndpoint", side.agent)
    return Scene(side.gateway, ScriptedClock(), ScriptedNames(), agent, alice, alice, side.stores, count().__next__)
