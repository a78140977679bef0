"""Thinks up calls on Cards, Bindings, Challenges and Releases, and pairs of them that get in each other's way."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from tests.support.lifecycle_model import MOVES, Model, Step

T = TypeVar("T")

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
}
RIVALS = {
    "register": ("register", "publish_card", "disable_card"),
    "publish_card": ("publish_card", "disable_card", "register"),
    "disable_card": ("publish_card", "disable_card"),
    "bind": ("bind",),
    "challenge": ("challenge", "complete"),
    "complete": ("complete", "complete", "challenge", "release", "move"),
    "release": ("release", "complete"),
    "move": ("move", "move", "disable_card", "complete"),
}


@dataclass
class Imagination:
    """Thinks up calls: mostly about what exists and by whom it belongs to, sometimes about anything at all."""

    chance: random.Random
    prefix: str
    made: Counter[str] = field(default_factory=Counter)
    weights: ClassVar[Mapping[str, int]] = WEIGHTS
    rivals: ClassVar[Mapping[str, Sequence[str]]] = RIVALS

    def step(self, model: Model) -> Step:
        [kind] = self.chance.choices(list(self.weights), list(self.weights.values()))
        target: tuple[str, ...] = getattr(self, f"_{kind}")(model)
        who = self.chance.choice(PRINCIPALS) if self.chance.random() < 0.15 else self._owner(model, kind, target)
        return Step(kind, who, target)

    def rival(self, model: Model, step: Step) -> Step:
        """A call that is likely to be in the way of the other."""
        rivals = self.rivals.get(step.kind, ())
        if not rivals or self.chance.random() < 0.3:
            return self.step(model)
        kind = self.chance.choice(rivals)
        who = self.chance.choice(PRINCIPALS) if self.chance.random() < 0.2 else step.who
        return Step(kind, who, getattr(self, f"_rival_{kind}")(model, step))

    def _rival_register(self, _: Model, step: Step) -> tuple[str, ...]:
        return step.target

    _rival_publish_card = _rival_register

    def _rival_disable_card(self, model: Model, step: Step) -> tuple[str, ...]:
        if step.kind != "move":
            return step.target
        release = model.releases.get(step.target[-1])
        return self._register(model) if release is None else (release.agent, release.version)

    def _rival_bind(self, _: Model, step: Step) -> tuple[str, ...]:
        provider, rest = step.target[1], step.target[2:]
        return self._new("binding"), self.chance.choice((provider, self._provider())), *rest

    def _rival_challenge(self, model: Model, step: Step) -> tuple[str, ...]:
        provider, binding = self._binding_of(model, step)
        return self._new("challenge"), provider, binding, "right"

    def _rival_complete(self, model: Model, step: Step) -> tuple[str, ...]:
        provider, binding = self._binding_of(model, step)
        same = [name for name, issued in model.challenges.items() if issued.binding == binding]
        return provider, binding, self._some(same, "none")

    def _rival_release(self, model: Model, step: Step) -> tuple[str, ...]:
        provider, binding = self._binding_of(model, step)
        bound = model.bindings.get(binding)
        of = (bound.agent, bound.version) if bound else (self._agent(), "1.0.0")
        return self._new("release"), provider, *of, binding

    def _rival_move(self, model: Model, step: Step) -> tuple[str, ...]:
        bound = self._binding_of(model, step)[1]
        known = [name for name, release in model.releases.items() if release.binding == bound]
        return self.chance.choice(list(MOVES)), step.target[-1] if step.kind == "move" else self._some(known, "none")

    def _binding_of(self, model: Model, step: Step) -> tuple[str, str]:
        release = model.releases.get(step.target[-1])
        named = [name for name in step.target if name in model.bindings]
        binding = release.binding if release else next(iter(named), "none")
        bound = model.bindings.get(binding)
        return (bound.provider if bound else self._provider()), binding

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

    def _binding(self, model: Model, names: Sequence[str]) -> tuple[str, str]:
        binding = self._some(names, self._some(list(model.bindings), "none"))
        bound = model.bindings.get(binding)
        return (bound.provider if bound and self.chance.random() < 0.95 else self._provider()), binding

    def _some(self, among: Sequence[T], otherwise: T) -> T:
        return self.chance.choice(among) if among and self.chance.random() < 0.95 else otherwise

    def _agent(self) -> str:
        return f"{self.prefix}:agent-{self.chance.randrange(5)}"

    def _provider(self) -> str:
        return f"{self.prefix}:provider-{self.chance.randrange(4)}"

    def _new(self, kind: str) -> str:
        self.made[kind] += 1
        return f"{kind} {self.made[kind]}"
