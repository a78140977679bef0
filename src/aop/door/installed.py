"""What is installed in a Workspace, with its Cards, and the two bounded memories that save asking for it again."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from aop.base.recent import RecentlyUsed
from aop.client.catalog import ExactCard
from aop.contracts.card import AgentCard, Skill
from aop.contracts.workspace import Installation

T = TypeVar("T")

FRESH_SECONDS: Final = 5.0
"""How long it may stay unnoticed by the door that an Installation was replaced; the Gateway judges every call anew."""
_CARD_BYTES: Final = 64 * 1024 * 1024
_MAX_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """An enabled Installation and the Card that it pins."""

    installation: Installation
    card: AgentCard

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Those whose permissions are all accepted: no other can be called."""
        accepted = set(self.installation.accepted_permissions)
        return tuple(skill for skill in self.card.skills if accepted.issuperset(skill.required_permissions))


class CardMemory:
    """Cards by Agent and version, which never change."""

    def __init__(self, max_bytes: int = _CARD_BYTES) -> None:
        self._cards: RecentlyUsed[tuple[str, str], ExactCard] = RecentlyUsed(max_bytes)

    def find(self, installation: Installation) -> ExactCard | None:
        return self._cards.find((installation.agent_id, installation.installed_version))

    def keep(self, found: ExactCard) -> None:
        self._cards.keep((found.card.agent_id, found.card.version), found, len(found.body))


class Moments(Generic[T]):
    """Values that hold for a moment, by a key that names the bearer: nobody is told what another one may see."""

    def __init__(self, seconds: float = FRESH_SECONDS) -> None:
        self._seconds = seconds
        self._values: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def find(self, key: Hashable, now: float) -> T | None:
        value, until = self._values.get(key, (None, 0.0))
        return value if now < until else None

    def forget(self, key: Hashable) -> None:
        self._values.pop(key, None)

    def keep(self, key: Hashable, value: T, now: float) -> None:
        self._values.pop(key, None)
        self._values[key] = (value, now + self._seconds)
        while self._values and (len(self._values) > _MAX_REMEMBERED or next(iter(self._values.values()))[1] <= now):
            self._values.popitem(last=False)
