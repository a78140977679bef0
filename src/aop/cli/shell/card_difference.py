"""The difference between two Agent Cards: every change with its place. The Gateway says what it means for callers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from aop.cli.shell.card_compatibility import compatibility_lines
from aop.cli.shell.output import Line, json_text, styled
from aop.contracts.compatibility import SkillAnswers

Json = Any
_ABSENT = object()
# Arrays whose order says nothing, or whose entries have a name of their own.
_BY_ID = frozenset({"skills", "permissions"})
_SETS = frozenset({"requiredPermissions", "required", "enum"})
_UNTOLD = frozenset({"version", "schemaVersion"})


class Section(StrEnum):
    PERMISSIONS = "permissions"
    SKILLS = "skills"
    SCHEMAS = "schemas"
    LIMITS = "limits"
    OTHER = "other"


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Change:
    section: Section
    kind: ChangeKind
    place: str
    before: Json = None
    after: Json = None

    def document(self) -> dict[str, Json]:
        found: dict[str, Json] = {"section": self.section, "kind": self.kind, "place": self.place}
        if self.kind is not ChangeKind.ADDED:
            found["before"] = self.before
        if self.kind is not ChangeKind.REMOVED:
            found["after"] = self.after
        return found

    def line(self) -> Line:
        if self.kind is ChangeKind.ADDED:
            return styled(("  + ", "green"), self.place, "  ", _value(self.after))
        if self.kind is ChangeKind.REMOVED:
            return styled(("  - ", "red"), self.place, "  ", _value(self.before))
        return styled(("  ~ ", "yellow"), self.place, "  ", _value(self.before), (" → ", "yellow"), _value(self.after))


@dataclass(frozen=True)
class CardDifference:
    """Changes in the order of their sections; the answers for each Skill that both Cards have."""

    changes: Sequence[Change]
    skills: Sequence[SkillAnswers]

    @classmethod
    def between(
        cls, before: Mapping[str, Json], after: Mapping[str, Json], skills: Sequence[SkillAnswers]
    ) -> "CardDifference":
        order = list(Section)
        changes = [change for change in _between(dict(before), dict(after), ()) if change.place not in _UNTOLD]
        changes.sort(key=lambda change: order.index(change.section))
        return cls(changes, skills)

    def document(self) -> dict[str, Json]:
        return {
            "changes": [change.document() for change in self.changes],
            "compatibility": self.skills,
        }

    def lines(self) -> list[Line]:
        if not self.changes:
            return ["no difference"]
        lines: list[Line] = []
        for section in Section:
            inside = [change for change in self.changes if change.section is section]
            if inside:
                lines += [styled((section.upper(), "bold")), *(change.line() for change in inside)]
        return [*lines, *compatibility_lines(self.skills)]


def _between(before: Json, after: Json, path: tuple[str, ...]) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from _member(before.get(name, _ABSENT), after.get(name, _ABSENT), (*path, name))
    elif before != after:
        yield _change(ChangeKind.CHANGED, path, before, after)


def _member(before: Json, after: Json, path: tuple[str, ...]) -> Iterator[Change]:
    if before is _ABSENT:
        yield _change(ChangeKind.ADDED, path, None, after)
    elif after is _ABSENT:
        yield _change(ChangeKind.REMOVED, path, before, None)
    elif path[-1] in _BY_ID and len(path) == 1:
        yield from _between(_by_id(before), _by_id(after), path)
    elif path[-1] in _SETS and isinstance(before, list) and isinstance(after, list):
        for value in before:
            if value not in after:
                yield _change(ChangeKind.REMOVED, path, value, None)
        for value in after:
            if value not in before:
                yield _change(ChangeKind.ADDED, path, None, value)
    else:
        yield from _between(before, after, path)


def _by_id(items: list[dict[str, Json]]) -> dict[str, Json]:
    return {item["id"]: {name: value for name, value in item.items() if name != "id"} for item in items}


def _change(kind: ChangeKind, path: tuple[str, ...], before: Json, after: Json) -> Change:
    return Change(_section(path), kind, ".".join(path), before, after)


def _section(path: tuple[str, ...]) -> Section:
    if "requiredPermissions" in path[:3] or path[0] == "permissions":
        return Section.PERMISSIONS
    if path[0] == "skills":
        return Section.SCHEMAS if len(path) > 2 and path[2] in {"inputSchema", "outputSchema"} else Section.SKILLS
    return Section.LIMITS if path[0] == "limits" else Section.OTHER


def _value(value: Json) -> str:
    """A description says more than the object around it."""
    if isinstance(value, dict) and isinstance(value.get("description"), str):
        value = value["description"]
    return value if isinstance(value, str) else json_text(msgspec.json.encode(value))
