"""Random lives of Cards, Bindings, Challenges, Releases, Workspaces and Installations, up to three calls at once."""

import asyncio
import random
from collections.abc import Sequence

from proof.area import Findings
from proof.races.ring import acts_on
from tests.support.lifecycle_calls import Calls
from tests.support.lifecycle_model import Model, Step, explanations, narrowed
from tests.support.lifecycle_steps import PRINCIPALS, VERSIONS
from tests.support.publication import Scene
from tests.support.workspace_model import SpacesModel, WideImagination

AUDIT_EVERY = 30
READY_AGENTS = 3
OFTEN = {
    "move": ("verified", "published", "CONFLICT"),
    "complete": ("verified", "CHALLENGE_REUSED"),
    "release": ("pending_verification", "verified", "CONFLICT"),
    "install": ("enabled 1.0.0",),
    "set_status": ("CONFLICT",),
    "uninstall": ("uninstalled 1.0.0",),
}
"""Outcomes without which a few lives were no lives."""
SOMETIMES = {
    "move": ("suspended", "revoked"),
    "complete": ("CHALLENGE_EXPIRED", "CONFLICT", "WRONG_PROOF"),
    "install": ("CONFLICT", "AGENT_RELEASE_SUSPENDED", "AGENT_RELEASE_REVOKED"),
    "set_status": ("enabled 1.0.0", "disabled 1.0.0"),
    "uninstall": ("CONFLICT",),
}
"""And those that many lives have met."""


class Unexplained(AssertionError):
    """No order of the calls explains the answers."""


def expect(found: Findings, *, many: bool) -> None:
    """What has to have come up once all lives are over."""
    for expected in (OFTEN, SOMETIMES) if many else (OFTEN,):
        for kind, words in expected.items():
            for word in words:
                found.hits[f"lives: {kind}, {word}"] += 0


async def live(scene: Scene, seed: int, rounds: int, found: Findings) -> None:
    """One life after the model; stops at the first answer that nothing explains."""
    life = Life(Calls(scene), WideImagination(random.Random(seed), f"life-{seed}"), found)
    try:
        await life.run(rounds)
    except AssertionError as problem:
        found.broken.append(f"life {seed}: {type(problem).__name__} {problem!s:.1500}")


class Life:
    def __init__(self, calls: Calls, imagination: WideImagination, found: Findings) -> None:
        self._calls = calls
        self._imagination = imagination
        self._found = found
        self._candidates: Sequence[Model] = [SpacesModel()]

    async def run(self, rounds: int) -> None:
        for who in PRINCIPALS:
            await self._begin(who)
        chance, imagination = self._imagination.chance, self._imagination
        for number in range(1, rounds + 1):
            believed = chance.choice(self._candidates)
            steps = [imagination.step(believed)]
            for _ in range(chance.choice((0, 1, 1, 2))):
                steps.append(imagination.rival(believed, steps[0]))
            await self._take(steps)
            if chance.random() < 0.04:
                await self._take([Step("pass_time", "alice")])
            if number % AUDIT_EVERY == 0:
                await self._audit()

    async def _begin(self, who: str) -> None:
        """Something is there already: a Workspace, and Agents that are installed there or can be."""
        prefix, number = self._imagination.prefix, PRINCIPALS.index(who)
        space, provider = f"{prefix}-space-{number}", f"{prefix}:provider-{number}"
        await self._take([Step("create_space", who, (space,))])
        for agent in (f"{prefix}:first-{number}-{one}" for one in range(READY_AGENTS)):
            on = acts_on(agent, who, provider, space)
            proving = ("complete", "release") if number else ("release", "complete", "verify")
            for act in ("register", "bind", "challenge", *proving, "publish"):
                await self._take([on[act]])
        await self._take([on["install"]])

    async def _take(self, steps: Sequence[Step]) -> None:
        outcomes = tuple(await asyncio.gather(*map(self._calls.send, steps)))
        for step, (_, word) in zip(steps, outcomes, strict=True):
            if word in (*OFTEN.get(step.kind, ()), *SOMETIMES.get(step.kind, ())):
                self._found.hits[f"lives: {step.kind}, {word}"] += 1
        self._found.hits[f"lives: {len(steps)} at once"] += 1
        left = narrowed(self._candidates, steps, outcomes)
        if not left:
            possible = {expected for model in self._candidates for _, expected in explanations(model, steps)}
            raise Unexplained(f"{steps} gave {outcomes}, which no order explains; possible: {sorted(possible)}")
        self._candidates = left

    async def _audit(self) -> None:
        """Everything that exists, read by everybody, leaves no doubt about anything but spent Challenges."""
        model, prefix = self._candidates[0], self._imagination.prefix
        assert isinstance(model, SpacesModel)
        reads: list[tuple[str, tuple[str, ...]]]
        reads = [("read_card", (f"{prefix}:agent-{agent}", version)) for agent in range(5) for version in VERSIONS]
        reads += [("read_binding", (bound.provider, name)) for name, bound in model.bindings.items()]
        reads += [("read_release", (name,)) for name in model.releases]
        reads += [("read_installation", (one.space, name)) for name, one in model.installed.items()]
        for kind, target in reads:
            for who in PRINCIPALS:
                await self._take([Step(kind, who, target)])
        for other in self._candidates:
            if _visible(other) != _visible(self._candidates[0]):
                raise Unexplained("reading everything leaves a doubt")


def _visible(model: Model) -> object:
    """All but whether a Challenge was spent, which only its completion shows."""
    assert isinstance(model, SpacesModel)
    publication = model.cards, model.bindings, model.releases, model.providers, model.agents
    return publication, model.spaces, model.installed
