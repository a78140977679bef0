"""The names of tools: readable, within the letters and the length that MCP hosts take, and never of two meanings."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

MAX_LENGTH: Final = 64

SkillKey = tuple[str, str]
"""The ids of an Agent and of one of its Skills."""

_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")
_MARK_LENGTH: Final = 9


def tool_names(skills: Iterable[SkillKey]) -> dict[SkillKey, str]:
    """The name of each Skill that has one of its own.

    Names with a mark in them are equal only where two marks are; somebody who looks for such ids finds them. A name
    never means two Skills, so that neither of the two is then a tool.
    """
    plain = {skill: _plain(skill) for skill in skills}
    taken = Counter(name or _marked(skill) for skill, name in plain.items())
    names = {skill: name if name and taken[name] == 1 else _marked(skill) for skill, name in plain.items()}
    used = Counter(names.values())
    return {skill: name for skill, name in names.items() if used[name] == 1}


def _plain(skill: SkillKey) -> str | None:
    """Both ids with `__` between them; None when that is no name."""
    name = "__".join(skill)
    return None if len(name) > MAX_LENGTH or _OTHER.search(name) else name


def _marked(skill: SkillKey) -> str:
    mark = hashlib.sha256("\n".join(skill).encode()).hexdigest()[: _MARK_LENGTH - 1]
    return f"{_OTHER.sub('_', '__'.join(skill))[: MAX_LENGTH - _MARK_LENGTH]}_{mark}"
