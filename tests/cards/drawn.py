"""Schemas and values drawn at random, with a liking for whatever is dear."""

import random
from typing import Any

from tests.cards.hostile import Schema

_NAMES = ("a", "b", "c", "long-name-" * 5, "é")
_PATTERNS = (
    *("^a", "^[a-z]+$", r"^\p{L}+$", "(?:a|b|ab|ba){1,200}c", "[ab]*a[ab]{100}$", r"^\d{4}-\d\d-\d\d$", "(?:a*)*b"),
    *("(?:(?:[ab]?){20}){20}c", "a.{100}b.{100}c", r"(\w|\p{L}|.){20}$"),
)


class Draw:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def schema(self) -> Schema:
        drawn = self._schema(self._random.randrange(1, 6))
        definitions = {name: self._schema(2) for name in ("x", "y")}
        return {**drawn, "$defs": definitions}

    def value(self) -> Any:
        return self._value(self._random.randrange(5), self._random.choice((1, 3, 30, 300)))

    def _schema(self, depth: int) -> Schema:
        pick = self._random
        drawn: Schema = {}
        for _ in range(pick.choice((1, 1, 2, 3))):
            drawn.update(pick.choice(_MAKERS)(self, depth))
        return drawn

    def part(self, depth: int) -> Any:
        if depth <= 0:
            return self._random.choice((True, {"type": "integer"}, {"$ref": "#/$defs/x"} if depth == 0 else {}))
        return self._schema(depth - 1)

    def some(self, depth: int, many: int = 40) -> list[Any]:
        one = self.part(depth)
        return [one] * self._random.choice((1, 2, many)) if self._random.random() < 0.5 else [one, self.part(depth)]

    def names(self, depth: int) -> Schema:
        return {name: self.part(depth) for name in self._random.sample(_NAMES, self._random.randrange(1, 4))}

    def constant(self) -> Any:
        return _in_a_card(self._value(2, 4))

    def number(self) -> Any:
        return self._random.choice((0, 1, 2.5, -7, 1e300, 3, 2.3e-308))

    def text(self) -> str:
        return self._random.choice(("", "a", "ab" * 40, "é" * 30, "x" * 3000, "2020-01-01", "ab" * 2000))

    def pattern(self) -> str:
        return self._random.choice(_PATTERNS)

    def count(self) -> int:
        return self._random.choice((0, 1, 2, 1000))

    def _value(self, depth: int, width: int) -> Any:
        pick = self._random
        kind = pick.randrange(7 if depth else 4)
        if kind == 0:
            return self.number()
        if kind == 1:
            return self.text()
        if kind == 2:
            return pick.choice((None, True, False))
        if kind == 3:
            return pick.choice((10**20 + pick.randrange(999), 10**300 + pick.randrange(999), pick.random()))
        if kind == 4:
            return {
                f"{name}{number or ''}": self._value(depth - 1, 3)
                for number, name in enumerate(_NAMES * (width // 5 + 1))
            }
        few = [self._value(depth - 1, 3) for _ in range(min(width, 30))]
        return few if width <= 30 else [*few, *(10**20 + number for number in range(width - 30))]


def _in_a_card(value: Any) -> Any:
    """The numbers of a Card are safe ones."""
    if isinstance(value, dict):
        return {name: _in_a_card(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_in_a_card(one) for one in value]
    return value % 1000 if isinstance(value, int) and not isinstance(value, bool) else value


_MAKERS = (
    lambda draw, depth: {"type": draw._random.choice(("object", "array", ["string", "number", "array", "object"]))},
    lambda draw, depth: {"const": draw.constant()},
    lambda draw, depth: {"enum": [draw.constant() for _ in range(draw._random.choice((1, 3, 50)))]},
    lambda draw, depth: {"minimum": draw.number(), "multipleOf": draw._random.choice((1, 0.1, 3, 1e-300))},
    lambda draw, depth: {"exclusiveMaximum": draw.number(), "maximum": draw.number()},
    lambda draw, depth: {"minLength": draw.count(), "maxLength": 10**6},
    lambda draw, depth: {"pattern": draw.pattern()},
    lambda draw, depth: {"patternProperties": {draw.pattern(): draw.part(depth), draw.pattern(): draw.part(depth)}},
    lambda draw, depth: {"properties": draw.names(depth)},
    lambda draw, depth: {"properties": draw.names(depth), "additionalProperties": draw.part(depth)},
    lambda draw, depth: {"propertyNames": {"pattern": draw.pattern(), "maxLength": 5}},
    lambda draw, depth: {"required": [f"r{number}" for number in range(draw.count())]},
    lambda draw, depth: {"dependentRequired": {name: ["a", "b"] for name in _NAMES}},
    lambda draw, depth: {"dependentSchemas": draw.names(depth)},
    lambda draw, depth: {"items": draw.part(depth)},
    lambda draw, depth: {"prefixItems": draw.some(depth), "items": draw.part(depth)},
    lambda draw, depth: {"contains": draw.part(depth), "minContains": draw.count(), "maxContains": 10**6},
    lambda draw, depth: {"uniqueItems": True},
    lambda draw, depth: {"allOf": draw.some(depth)},
    lambda draw, depth: {"anyOf": draw.some(depth)},
    lambda draw, depth: {"oneOf": draw.some(depth)},
    lambda draw, depth: {"not": {"not": draw.part(depth)}},
    lambda draw, depth: {"if": draw.part(depth), "then": draw.part(depth), "else": draw.part(depth)},
    lambda draw, depth: {"allOf": draw.some(depth), "unevaluatedProperties": draw.part(depth)},
    lambda draw, depth: {"anyOf": draw.some(depth), "unevaluatedItems": draw.part(depth)},
    lambda draw, depth: {"$ref": draw._random.choice(("#/$defs/x", "#/$defs/y"))},
)
