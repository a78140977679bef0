"""A model of Workspaces and Installations on top of that of Cards and Releases, and calls to them that get in the way.

Written from the contract alone, without any of the platform's code.
"""

from dataclasses import dataclass, field

from tests.support.lifecycle_model import Model, Outcome, Refused, Step, require
from tests.support.lifecycle_steps import PRINCIPALS, RIVALS, WEIGHTS, Imagination

STABLE = ("2.0.0", "1.0.0")
"""The versions a range without a pre-release may choose, the highest first."""
SPACE_WEIGHTS = {"create_space": 2, "install": 10, "set_status": 6, "uninstall": 3, "read_installation": 1}
SPACE_RIVALS = {
    "install": ("install", "move", "disable_card", "uninstall"),
    "set_status": ("set_status", "uninstall"),
    "uninstall": ("uninstall", "set_status", "install"),
    "create_space": ("create_space",),
}
_REFUSALS = {
    "suspended": "AGENT_RELEASE_SUSPENDED",
    "revoked": "AGENT_RELEASE_REVOKED",
    None: "AGENT_RELEASE_UNPUBLISHED",
    "pending_verification": "AGENT_RELEASE_UNPUBLISHED",
    "verified": "AGENT_RELEASE_UNPUBLISHED",
}


@dataclass
class Installed:
    space: str
    agent: str
    version: str
    status: str = "enabled"


@dataclass
class SpacesModel(Model):
    spaces: dict[str, str] = field(default_factory=dict)
    installed: dict[str, Installed] = field(default_factory=dict)

    def create_space(self, who: str, space: str) -> Outcome:
        require(space not in self.spaces, 409, "CONFLICT")
        self.spaces[space] = who
        return 201, ""

    def install(self, who: str, symbol: str, space: str, agent: str) -> Outcome:
        self._require_own_space(who, space)
        current = [one for one in self.installed.values() if (one.space, one.agent) == (space, agent)]
        require(all(one.status == "uninstalled" for one in current), 409, "CONFLICT")
        chosen = [version for version in STABLE if self._is_candidate(agent, version)]
        require(chosen, 404, "NOT_FOUND")
        state = self._release_of(agent, chosen[0])
        require(state == "published", 409, _REFUSALS.get(state, ""))
        require(self.cards[agent, chosen[0]] == "published", 409, "AGENT_DISABLED")
        self.installed[symbol] = Installed(space, agent, chosen[0])
        return 201, f"enabled {chosen[0]}"

    def set_status(self, who: str, space: str, symbol: str, status: str) -> Outcome:
        found = self._own_installation(who, space, symbol)
        require(found.status not in {status, "uninstalled"}, 409, "CONFLICT")
        found.status = status
        return 200, f"{status} {found.version}"

    def uninstall(self, who: str, space: str, symbol: str) -> Outcome:
        found = self._own_installation(who, space, symbol)
        require(found.status != "uninstalled", 409, "CONFLICT")
        found.status = "uninstalled"
        return 200, f"uninstalled {found.version}"

    def read_installation(self, who: str, space: str, symbol: str) -> Outcome:
        found = self._own_installation(who, space, symbol)
        return 200, f"{found.status} {found.version}"

    def _is_candidate(self, agent: str, version: str) -> bool:
        return self.cards.get((agent, version)) == "published" or self._release_of(agent, version) is not None

    def _require_own_space(self, who: str, space: str) -> None:
        require(space in self.spaces, 404, "NOT_FOUND")
        require(self.spaces[space] == who, 403, "FORBIDDEN")

    def _own_installation(self, who: str, space: str, symbol: str) -> Installed:
        self._require_own_space(who, space)
        found = self.installed.get(symbol)
        if found is None or found.space != space:
            raise Refused(404, "NOT_FOUND")
        return found


class WideImagination(Imagination):
    """Thinks up calls to Workspaces and Installations too."""

    weights = WEIGHTS | SPACE_WEIGHTS
    rivals = RIVALS | SPACE_RIVALS

    def _create_space(self, _: Model) -> tuple[str, ...]:
        return (self._space(),)

    def _install(self, model: Model) -> tuple[str, ...]:
        released = [found.agent for found in model.releases.values()]
        return self._new("installation"), self._space(), self._some(released, self._agent())

    def _set_status(self, model: Model) -> tuple[str, ...]:
        return *self._uninstall(model), self.chance.choice(("enabled", "disabled"))

    def _uninstall(self, model: Model) -> tuple[str, ...]:
        assert isinstance(model, SpacesModel)
        current = [name for name, one in model.installed.items() if one.status != "uninstalled"]
        name = self._some(current, self._some(list(model.installed), "none"))
        found = model.installed.get(name)
        return (found.space if found and self.chance.random() < 0.95 else self._space()), name

    _read_installation = _uninstall

    def _rival_create_space(self, _: Model, step: Step) -> tuple[str, ...]:
        return step.target

    def _rival_install(self, model: Model, step: Step) -> tuple[str, ...]:
        if step.kind == "install":
            return self._new("installation"), *step.target[1:]
        assert isinstance(model, SpacesModel)
        found = model.installed.get(step.target[1])
        return (self._new("installation"), found.space, found.agent) if found else self._install(model)

    def _rival_uninstall(self, model: Model, step: Step) -> tuple[str, ...]:
        return self._uninstall(model) if step.kind == "install" else step.target[:2]

    def _rival_set_status(self, model: Model, step: Step) -> tuple[str, ...]:
        return *step.target[:2], self.chance.choice(("enabled", "disabled"))

    def _rival_move(self, model: Model, step: Step) -> tuple[str, ...]:
        if step.kind != "install":
            return super()._rival_move(model, step)
        known = [name for name, release in model.releases.items() if release.agent == step.target[2]]
        return self.chance.choice(("publish", "suspend", "revoke")), self._some(known, "none")

    def _rival_disable_card(self, model: Model, step: Step) -> tuple[str, ...]:
        if step.kind != "install":
            return super()._rival_disable_card(model, step)
        return step.target[2], self.chance.choice(STABLE)

    def _owner(self, model: Model, kind: str, target: tuple[str, ...]) -> str:
        assert isinstance(model, SpacesModel)
        known = [model.spaces[name] for name in target if name in model.spaces]
        return known[0] if known else super()._owner(model, kind, target)

    def _space(self) -> str:
        return f"{self.prefix}-space-{self.chance.randrange(len(PRINCIPALS) + 1)}"
