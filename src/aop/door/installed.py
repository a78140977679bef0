"""What is installed in a Workspace, with its Cards."""

from dataclasses import dataclass
from typing import Final

from aop.contracts.card import AgentCard, Skill
from aop.contracts.workspace import Installation

FRESH_SECONDS: Final = 5.0
"""How long it may stay unnoticed by the door that an Installation was replaced; the Gateway judges every call anew."""


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
