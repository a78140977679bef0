"""Says why a value breaks a Skill schema, and never does more work for it than the bound allows.

The validator finds all faults at once, keeps the part of the value each is about, and for `anyOf` and `oneOf` also the
faults of every branch. So the number is bounded before it is asked; past the bound it is asked for the first fault
alone, by a form of the schema that keeps nothing of the branches.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import jsonschema_rs

from aop.cards.cost import NOWHERE, Location
from aop.cards.positions import with_subschemas
from aop.contracts.documents import compiled, explained, finding_of
from aop.contracts.errors import Violation
from aop.contracts.violations import Finding, Path, violations


class ExplainLimits(NamedTuple):
    """Of faults, and of the parts of the value, of its paths and of the schema that the validator stores with them."""

    faults: int
    parts: int


IN_LOOP = ExplainLimits(300, 10_000)
IN_PROCESS = ExplainLimits(5_000, 100_000)
_BRANCHES = ("anyOf", "oneOf")
_CHARACTERS_PER_PART = 64


class _ValuePart(NamedTuple):
    """A part of the value, how many faults may be about what is around it, and how long the way to it is."""

    value: object
    number: int
    above: int
    way: int


def can_explain(locations: Sequence[Location], schema_bytes: int, value: object, limits: ExplainLimits) -> bool:
    """Whether all faults the value can have are few, and little is stored with them."""
    faults = parts = 0
    expected = schema_bytes // _CHARACTERS_PER_PART  # a fault of `const` or `enum` keeps what it says
    waiting = [_ValuePart(value, 0, 0, 0)]
    while waiting:
        part = waiting.pop()
        location = None if part.number == NOWHERE else locations[part.number]
        found = 0 if location is None else _faults(part.value, location, locations)
        faults += found
        parts += found * (part.way + expected) + (part.above + found) * _size(part.value)
        if faults > limits.faults or parts > limits.parts:
            return False
        waiting.extend(_children(part, location, part.above + found))
    return True


def _faults(part: object, location: Location, locations: Sequence[Location]) -> int:
    each = location.child_faults + (0 if location.names == NOWHERE else locations[location.names].faults)
    return location.faults + (each * len(part) if isinstance(part, dict | list) else 0)


def _size(part: object) -> int:
    """In parts, of the part itself and the names of its members."""
    if isinstance(part, str):
        return 1 + len(part) // _CHARACTERS_PER_PART
    return 1 + (sum(map(len, part)) // _CHARACTERS_PER_PART if isinstance(part, dict) else 0)


def _children(parent: _ValuePart, location: Location | None, above: int) -> Iterator[_ValuePart]:
    value = parent.value
    if isinstance(value, dict):
        for name, child in value.items():
            number = NOWHERE if location is None else location.members.get(name, location.other_member)
            yield _ValuePart(child, number, above, parent.way + 1 + len(name) // _CHARACTERS_PER_PART)
    elif isinstance(value, list):
        named = () if location is None else location.items
        other = NOWHERE if location is None else location.other_item
        for at, child in enumerate(value):
            yield _ValuePart(child, named[at] if at < len(named) else other, above, parent.way + 1)


def violations_of(
    validator: jsonschema_rs.Draft202012Validator,
    schema: Mapping[str, object],
    schema_bytes: int,
    locations: Sequence[Location],
    value: object,
    prefix: Path,
) -> tuple[Violation, ...]:
    """Why a value is refused: all faults where they are few, else the first; at most twenty."""
    if can_explain(locations, schema_bytes, value, IN_PROCESS):
        return explained(validator, value, prefix)
    return _first(schema, value, prefix)


def _first(schema: Mapping[str, object], value: object, prefix: Path) -> tuple[Violation, ...]:
    """The first fault of a value that is known to break the schema."""
    try:
        validator = compiled(_without_branches(schema), formats=False)
        validator.validate(value)
    except jsonschema_rs.ValidationError as fault:
        return violations([_finding(fault)], 1, prefix)
    except (jsonschema_rs.ReferencingError, ValueError):
        pass  # a reference leads into a branch, which stands elsewhere now
    named = next((keyword for keyword in _BRANCHES if keyword in schema), "allOf")
    return violations([Finding(named, (), ())], 1, prefix)


def _without_branches(schema: Mapping[str, object]) -> dict[str, object]:
    """The same schema, where a fault of `anyOf` or `oneOf` is one of `not` that bears the keyword as its title."""
    changed = with_subschemas(schema, _without_branches)
    named = [keyword for keyword in _BRANCHES if keyword in changed]
    moved = [{"not": {"title": keyword, "not": {keyword: changed.pop(keyword)}}} for keyword in named]
    if moved:
        already = changed.get("allOf", [])
        changed["allOf"] = [*(already if isinstance(already, list) else ()), *moved]
    return changed


def _finding(fault: jsonschema_rs.ValidationError) -> Finding:
    found = finding_of(fault)
    inner = fault.kind.as_dict().get("schema") if found.keyword == "not" else None
    if isinstance(inner, dict) and "not" in inner and inner.get("title") in _BRANCHES:
        return replace(found, keyword=str(inner["title"]))
    return found
