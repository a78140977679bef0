"""Random lives of Cards, Bindings, Challenges and Releases over HTTP, alone and at once, against a model."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.cards import a_card
from tests.support.errors import require_error
from tests.support.lifecycle_model import MOVES, Model, Outcome, Step, explanations, narrowed
from tests.support.publication import Json, Provider, Scene, publication_scene
from tests.support.units import Reply

SEEDS = range(6)
ROUNDS = 70
AUDIT_EVERY = 14
PRINCIPALS = ("alice", "bob")
VERSIONS = ("1.0.0", "2.0.0", "3.0.0-rc.1")
WEIGHTS = {
    "register": 4,
    "publish_card": 2,
    "disable_card": 1,
    "read_card": 1,
    "bind": 5,
    "challenge": 8,
    "complete": 12,
    "release": 8,
    "move": 16,
    "read_release": 1,
    "pass_time": 1,
}
DOCUMENTS = {"bind": "endpoint-binding/1", "read_binding": "endpoint-binding/1", "complete": "endpoint-binding/1"}
DOCUMENTS |= dict.fromkeys(("register", "publish_card", "disable_card"), "catalog-entry/1")
DOCUMENTS |= dict.fromkeys(("release", "move", "read_release"), "release/1") | {"challenge": "challenge/1"}


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@dataclass
class Imagination:
    """Thinks up calls: mostly about what exists and by whom it belongs to, sometimes about anything at all."""

    chance: random.Random
    prefix: str
    made: Counter[str] = field(default_factory=Counter)

    def step(self, model: Model) -> Step:
        [kind] = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        target: tuple[str, ...] = getattr(self, f"_{kind}")(model)
        who = self.chance.choice(PRINCIPALS) if self.chance.random() < 0.15 else self._owner(model, kind, target)
        return Step(kind, who, target)

    def _owner(self, model: Model, kind: str, target: tuple[str, ...]) -> str:
        release = model.releases.get(target[-1]) if kind in {"move", "read_release"} else None
        names = (release.provider if release else "", *target)
        known = [model.providers.get(name) or model.owners.get(name) for name in names]
        return next((owner for owner in known if owner), self.chance.choice(PRINCIPALS))

    def _register(self, _: Model) -> tuple[str, ...]:
        return self._agent(), self.chance.choice(VERSIONS)

    _publish_card = _disable_card = _read_card = _register

    def _bind(self, model: Model) -> tuple[str, ...]:
        agent, version = self._some(list(model.cards), (self._agent(), "1.0.0"))
        provider = model.agents.get(agent) if self.chance.random() < 0.8 else None
        endpoint = "right" if self.chance.random() < 0.9 else "other"
        return self._new("binding"), provider or self._provider(), agent, version, endpoint

    def _challenge(self, model: Model) -> tuple[str, ...]:
        open_ones = [name for name, bound in model.bindings.items() if bound.state != "verified"]
        provider, binding = self._binding(model, open_ones)
        return self._new("challenge"), provider, binding, self.chance.choice(("right", "right", "wrong"))

    def _complete(self, model: Model) -> tuple[str, ...]:
        unused = [name for name, issued in model.challenges.items() if not issued.used]
        challenge = self._some(unused, self._some(list(model.challenges), "none"))
        issued = model.challenges.get(challenge)
        provider, binding = self._binding(model, [issued.binding] if issued else [])
        return provider, binding, challenge

    def _release(self, model: Model) -> tuple[str, ...]:
        provider, binding = self._binding(model, list(model.bindings))
        bound = model.bindings.get(binding)
        agent, version = (bound.agent, bound.version) if bound else (self._agent(), "1.0.0")
        if self.chance.random() < 0.1:
            version = self.chance.choice(VERSIONS)
        return self._new("release"), provider, agent, version, binding

    def _move(self, model: Model) -> tuple[str, ...]:
        return self.chance.choice(list(MOVES)), self._some(list(model.releases), "none")

    def _read_release(self, model: Model) -> tuple[str, ...]:
        return (self._some(list(model.releases), "none"),)

    def _pass_time(self, _: Model) -> tuple[str, ...]:
        return ()

    def _binding(self, model: Model, names: Sequence[str]) -> tuple[str, str]:
        binding = self._some(names, self._some(list(model.bindings), "none"))
        bound = model.bindings.get(binding)
        return (bound.provider if bound and self.chance.random() < 0.95 else self._provider()), binding

    def _some[T](self, among: Sequence[T], otherwise: T) -> T:
        return self.chance.choice(among) if among and self.chance.random() < 0.95 else otherwise

    def _agent(self) -> str:
        return f"{self.prefix}:agent-{self.chance.randrange(5)}"

    def _provider(self) -> str:
        return f"{self.prefix}:provider-{self.chance.randrange(4)}"

    def _new(self, kind: str) -> str:
        self.made[kind] += 1
        return f"{kind} {self.made[kind]}"
