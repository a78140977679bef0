"""What a Card says in short: its name, its limits, its permissions and what each Skill needs."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from aop.contracts.card import Limits

# What a short text costs in memory beyond its characters, together with its place in a set.
_TEXT_BYTES = 100


@dataclass(frozen=True, slots=True)
class SkillSummary:
    name: str
    required: frozenset[str]
    """The permissions it needs."""


@dataclass(frozen=True, slots=True)
class CardSummary:
    name: str
    limits: Limits
    declared: frozenset[str]
    """The permissions that a Workspace may accept."""
    skills: Mapping[str, SkillSummary]
    """By Skill id, in the order of the Card."""

    @property
    def weight(self) -> int:
        """Roughly the memory it takes."""
        skills = self.skills.values()
        texts = [self.name, *self.declared, *self.skills, *(skill.name for skill in skills)]
        texts += [permission for skill in skills for permission in skill.required]
        return _TEXT_BYTES * (1 + len(texts)) + sum(map(len, texts))


class _Permission(msgspec.Struct, frozen=True):
    id: str


class _Skill(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: str
    required_permissions: frozenset[str]


class _Card(msgspec.Struct, frozen=True):
    name: str
    limits: Limits
    skills: tuple[_Skill, ...]
    permissions: tuple[_Permission, ...]


_decode = msgspec.json.Decoder(_Card).decode


def read_summary(document: bytes) -> CardSummary:
    """Of a Card that was checked when it was registered; its other members are passed over unread."""
    card = _decode(document)
    return CardSummary(
        card.name,
        card.limits,
        frozenset(permission.id for permission in card.permissions),
        {skill.id: SkillSummary(skill.name, skill.required_permissions) for skill in card.skills},
    )
