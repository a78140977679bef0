"""What is installed in a Workspace, with its Cards, and the bounded memory that saves asking for these again."""

from dataclasses import dataclass
from typing import Final

from aop.base.recent import RecentlyUsed
from aop.client.catalog import ExactCard
from aop.contracts.card import AgentCard, Skill
from aop.contracts.workspace import Installation

FRESH_SECONDS: Final = 5.0
"""How long it may stay unnoticed by the door that an Installation was replaced; the Gateway judges every call anew."""
_CARD_BYTES: Final = 64 * 1024 * 1024


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
