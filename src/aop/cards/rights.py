"""The permissions that a Card declares and those each Skill needs, cached by digest."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

_MAX_BYTES = 16 * 1024 * 1024
# What a short text costs in memory beyond its characters, together with its place in a set.
_TEXT_BYTES = 100


@dataclass(frozen=True, slots=True)
class CardRights:
    declared: frozenset[str]
    required: Mapping[str, frozenset[str]]
    """The permissions each Skill needs, by Skill id."""

    @property
    def weight(self) -> int:
        """Roughly the memory it takes."""
        texts = [*self.declared, *self.required, *(text for needs in self.required.values() for text in needs)]
        return _TEXT_BYTES * (1 + len(texts)) + sum(map(len, texts))


class _Permission(msgspec.Struct, frozen=True):
    id: str


class _Skill(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    required_permissions: tuple[str, ...]


class _Card(msgspec.Struct, frozen=True):
    skills: tuple[_Skill, ...]
    permissions: tuple[_Permission, ...]


_decode = msgspec.json.Decoder(_Card).decode


def read_rights(document: bytes) -> CardRights:
    """Of a Card that was checked when it was registered; its other members are passed over unread."""
    card = _decode(document)
    return CardRights(
        frozenset(permission.id for permission in card.permissions),
        {skill.id: frozenset(skill.required_permissions) for skill in card.skills},
    )


class RightsByDigest:
    """The most recently used ones, as many as fit into a fixed amount of memory."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, tuple[CardRights, int]] = OrderedDict()
        self._bytes = 0

    def get(self, digest: str) -> CardRights | None:
        found = self._kept.get(digest)
        if found is None:
            return None
        self._kept.move_to_end(digest)
        return found[0]

    def keep(self, digest: str, rights: CardRights) -> None:
        weight = rights.weight
        if digest in self._kept or weight > self._max_bytes:
            return
        self._kept[digest] = (rights, weight)
        self._bytes += weight
        while self._bytes > self._max_bytes:
            _, (_, freed) = self._kept.popitem(last=False)
            self._bytes -= freed
