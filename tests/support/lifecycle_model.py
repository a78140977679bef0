"""A model of Cards, Bindings, Challenges and Releases: what each call answers, and what it changes.

Written from the contract alone, without any of the platform's code. A call is one or more atomic parts, so that calls
sent at once can be explained by some order of their parts.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

Outcome = tuple[int, str]
"""The status, and the code of an error or the state a success shows."""


@dataclass(frozen=True)
class Step:
    """A call by a principal; `target` names things by symbols, which the driver turns into identifiers."""

    kind: str
    who: str
    target: tuple[str, ...] = ()


@dataclass
class Binding:
    provider: str
    agent: str
    version: str
    state: str = "pending"


@dataclass
class Challenge:
    binding: str
    right: bool
    used: bool = False
    expired: bool = False


@dataclass
class Release:
    provider: str
    agent: str
    version: str
    binding: str
    state: str


class Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        super().__init__(status, code)
        self.outcome: Outcome = (status, code)


MOVES = {
    "verify": ({"pending_verification"}, "verified"),
    "publish": ({"verified"}, "published"),
    "suspend": ({"verified", "published"}, "suspended"),
    "revoke": ({"verified", "published", "suspended"}, "revoked"),
}


def require(condition: object, status: int, code: str) -> None:
    if not condition:
        raise Refused(status, code)


@dataclass
class Model:
    owners: dict[str, str] = field(default_factory=dict)
    cards: dict[tuple[str, str], str] = field(default_factory=dict)
    providers: dict[str, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    bindings: dict[str, Binding] = field(default_factory=dict)
    challenges: dict[str, Challenge] = field(default_factory=dict)
    releases: dict[str, Release] = field(default_factory=dict)

    def register(self, who: str, agent: str, version: str) -> Outcome:
        require((agent, version) not in self.cards, 409, "CONFLICT")
        require(self.owners.get(agent, who) == who, 403, "FORBIDDEN")
        self.owners[agent] = who
        self.cards[agent, version] = "draft"
        return 201, self._entry(agent, version)

    def publish_card(self, who: str, agent: str, version: str) -> Outcome:
        self._require_own_card(who, agent, version)
        require(self.cards[agent, version] == "draft", 409, "CONFLICT")
        self.cards[agent, version] = "published"
        return 200, self._entry(agent, version)

    def disable_card(self, who: str, agent: str, version: str) -> Outcome:
        self._require_own_card(who, agent, version)
        self.cards[agent, version] = "disabled"
        return 200, self._entry(agent, version)

    def read_card(self, who: str, agent: str, version: str) -> Outcome:
        require((agent, version) in self.cards, 404, "NOT_FOUND")
        state = self.cards[agent, version]
        require(state == "published" or self.owners[agent] == who, 403, "FORBIDDEN")
        return 200, state

    def bind(self, who: str, symbol: str, provider: str, agent: str, version: str, endpoint: str) -> Outcome:
        self._require_own_card(who, agent, version)
        require(endpoint == "right", 400, "INVALID_ENDPOINT")
        require(self.providers.get(provider, who) == who, 403, "FORBIDDEN")
        require(self.agents.get(agent, provider) == provider, 409, "CONFLICT")
        self.providers[provider] = who
        self.agents[agent] = provider
        self.bindings[symbol] = Binding(provider, agent, version)
        return 201, "pending"

    def read_binding(self, who: str, provider: str, binding: str) -> Outcome:
        return 200, self._own_binding(who, provider, binding).state

    def challenge(self, who: str, symbol: str, provider: str, binding: str, proof: str) -> Outcome:
        require(self._own_binding(who, provider, binding).state != "verified", 409, "CONFLICT")
        self.challenges[symbol] = Challenge(binding, proof == "right")
        return 201, ""

    def claim(self, who: str, provider: str, binding: str, challenge: str) -> int:
        """The next part of a completion: 1 to look at the proof, 2 to note that it came too late."""
        bound = self._own_binding(who, provider, binding)
        issued = self.challenges.get(challenge)
        if issued is None or issued.binding != binding:
            raise Refused(404, "NOT_FOUND")
        require(not issued.used, 409, "CHALLENGE_REUSED")
        require(bound.state != "verified", 409, "CONFLICT")
        if issued.expired:
            return 2
        issued.used = True
        return 1

    def finish(self, binding: str, challenge: str, part: int) -> Outcome:
        bound, right = self.bindings[binding], self.challenges[challenge].right
        require(bound.state != "verified", 409, "CONFLICT")
        bound.state = "verified" if right else "failed wrong_proof"
        if part == 2:
            bound.state = "failed challenge_expired"
            raise Refused(409, "CHALLENGE_EXPIRED")
        require(right, 400, "WRONG_PROOF")
        return 200, "verified"

    def release(self, who: str, symbol: str, provider: str, agent: str, version: str, binding: str) -> Outcome:
        bound = self._own_binding(who, provider, binding)
        require((bound.agent, bound.version) == (agent, version), 400, "VALIDATION_ERROR")
        require(not bound.state.startswith("failed"), 409, "CONFLICT")
        require(self._release_of(agent, version) is None, 409, "CONFLICT")
        state = "verified" if bound.state == "verified" else "pending_verification"
        self.releases[symbol] = Release(provider, agent, version, binding, state)
        return 201, state

    def move(self, who: str, verb: str, symbol: str) -> Outcome:
        found = self._known_release(symbol)
        require(self.providers[found.provider] == who, 403, "FORBIDDEN")
        sources, target = MOVES[verb]
        require(found.state in sources, 409, "CONFLICT")
        if verb == "verify":
            require(self.bindings[found.binding].state == "verified", 409, "CONFLICT")
        if verb == "publish":
            require(self.cards[found.agent, found.version] != "disabled", 409, "CONFLICT")
            self.cards[found.agent, found.version] = "published"
        found.state = target
        return 200, target

    def read_release(self, who: str, symbol: str) -> Outcome:
        found = self._known_release(symbol)
        require(found.state == "published" or self.providers[found.provider] == who, 403, "FORBIDDEN")
        return 200, found.state

    def pass_time(self, _: str) -> Outcome:
        """Longer than any Challenge issued so far lives."""
        for issued in self.challenges.values():
            issued.expired = True
        return 200, ""

    def _entry(self, agent: str, version: str) -> str:
        release = self._release_of(agent, version)
        installable = self.cards[agent, version] == "published" and release == "published"
        return f"{self.cards[agent, version]} {release} {installable}"

    def _release_of(self, agent: str, version: str) -> str | None:
        found = (one.state for one in self.releases.values() if (one.agent, one.version) == (agent, version))
        return next(found, None)

    def _require_own_card(self, who: str, agent: str, version: str) -> None:
        require((agent, version) in self.cards, 404, "NOT_FOUND")
        require(self.owners[agent] == who, 403, "FORBIDDEN")

    def _own_binding(self, who: str, provider: str, binding: str) -> Binding:
        require(provider in self.providers, 404, "NOT_FOUND")
        require(self.providers[provider] == who, 403, "FORBIDDEN")
        found = self.bindings.get(binding)
        if found is None or found.provider != provider:
            raise Refused(404, "NOT_FOUND")
        return found

    def _known_release(self, symbol: str) -> Release:
        if symbol not in self.releases:
            raise Refused(404, "NOT_FOUND")
        return self.releases[symbol]


def advance(model: Model, step: Step, part: int) -> Outcome | int:
    """Does the given atomic part of a call; gives its outcome, or the part that follows."""
    try:
        if step.kind == "complete":
            _, binding, challenge = step.target
            return model.finish(binding, challenge, part) if part else model.claim(step.who, *step.target)
        outcome: Outcome = getattr(model, step.kind)(step.who, *step.target)
    except Refused as refused:
        return refused.outcome
    return outcome


def explanations(model: Model, steps: Sequence[Step]) -> Iterator[tuple[Model, tuple[Outcome, ...]]]:
    """Every way in which calls sent at once may end: the model afterwards, and their outcomes."""
    yield from _explained(model, steps, tuple(0 for _ in steps))


def _explained(
    model: Model, steps: Sequence[Step], progress: tuple[Outcome | int, ...]
) -> Iterator[tuple[Model, tuple[Outcome, ...]]]:
    ended = tuple(one for one in progress if not isinstance(one, int))
    if len(ended) == len(steps):
        yield model, ended
    for index, part in enumerate(progress):
        if isinstance(part, int):
            copy = deepcopy(model)
            after = advance(copy, steps[index], part)
            yield from _explained(copy, steps, (*progress[:index], after, *progress[index + 1 :]))


def narrowed(candidates: Sequence[Model], steps: Sequence[Step], seen: tuple[Outcome, ...]) -> Sequence[Model]:
    """The models that explain what was seen, each once; none when nothing does."""
    found: list[Model] = []
    for model in candidates:
        for after, outcomes in explanations(model, steps):
            if outcomes == seen and after not in found:
                found.append(after)
    return found
