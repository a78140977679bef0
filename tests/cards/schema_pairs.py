"""Pairs of schemas: as people write and edit them, and of any keywords at all."""

import copy
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.cards.hostile import Schema
from tests.cards.near_values import LIMITS, NAMES, NUMBERS, TYPES, WORDS, plain_value
from tests.cards.schema_edits import EDITS, places


class Pair(NamedTuple):
    edit: str
    before: Schema
    after: Schema


class PairDraw:
    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def edited(self) -> Pair:
        """A schema with one to three edits, in either direction."""
        before = self._object(3)
        before["$defs"] = {"part": self._object(1)}
        after, names = copy.deepcopy(before), list[str]()
        wanted = self.pick.choice((1, 1, 1, 2, 3))
        while len(names) < wanted:
            name = self.pick.choice(list(EDITS))
            if EDITS[name](self.pick, self.pick.choice(list(places(after)))):
                names.append(name)
        pair = Pair(" ".join(names), before, after)
        return pair if self.pick.random() < 0.7 else Pair(f"undone {pair.edit}", after, before)

    def mixed(self) -> Pair:
        """Any keywords, with so few different constants that the two schemas often meet."""
        definitions = {"part": self._any(1)}
        before = self._any(2)
        after = self._any(2) if self.pick.random() < 0.5 else {**before, **self._keyword(2)}
        return Pair("mixed", {**before, "$defs": definitions}, {**after, "$defs": definitions})

    def _part(self, depth: int) -> Schema:
        if depth <= 0:
            return self._scalar()
        makers = (self._scalar, self._scalar, lambda: self._object(depth - 1), lambda: self._array(depth - 1))
        return self.pick.choice((*makers, lambda: self._union(depth - 1), lambda: {"$ref": "#/$defs/part"}))()

    def _scalar(self) -> Schema:
        low = self.pick.choice((0, 1, 2))
        return self.pick.choice(
            (
                {"type": "string"},
                {"type": "string", "minLength": low, "maxLength": low + 3},
                {"type": "integer", "minimum": low, "maximum": low + 9},
                {"type": ["number", "null"], "minimum": low},
                {"type": "boolean"},
                {"enum": self.pick.sample(WORDS, 3)},
                {"type": "string", "pattern": "^a"},
            )
        )

    def _array(self, depth: int) -> Schema:
        made: Schema = {"type": "array", "items": self._part(depth), "maxItems": self.pick.choice((1, 3, 5))}
        return made if self.pick.random() < 0.7 else {**made, "uniqueItems": True}

    def _object(self, depth: int) -> Schema:
        names = self.pick.sample(NAMES, self.pick.randrange(1, 5))
        made: Schema = {"type": "object", "properties": {name: self._part(depth - 1) for name in names}}
        made["required"] = [name for name in names if self.pick.random() < 0.4]
        if self.pick.random() < 0.5:
            made["additionalProperties"] = False
        return made

    def _union(self, depth: int) -> Schema:
        if self.pick.random() < 0.5:
            return {"anyOf": [self._part(depth), {"type": "null"}]}
        return {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": kind}, "text": self._scalar()},
                    "required": ["kind", "text"],
                }
                for kind in self.pick.sample(WORDS, 2)
            ]
        }

    def _any(self, depth: int) -> Schema:
        drawn: Schema = {}
        for _ in range(self.pick.choice((1, 2, 2, 3))):
            drawn.update(self._keyword(depth))
        return drawn

    def _keyword(self, depth: int) -> Schema:
        return self.pick.choice(_KEYWORDS)(self, depth)

    def some(self, depth: int) -> Any:
        if depth <= 0:
            return self.pick.choice(
                (True, False, {"type": self.pick.choice(TYPES)}, {"const": plain_value(self.pick, 0)})
            )
        return self._any(depth - 1)

    def several(self, depth: int) -> list[Any]:
        return [self.some(depth) for _ in range(self.pick.choice((1, 2, 3)))]

    def named(self, depth: int) -> Schema:
        return {name: self.some(depth) for name in self.pick.sample(NAMES[:3], self.pick.randrange(1, 3))}


_KEYWORDS: tuple[Callable[[PairDraw, int], Schema], ...] = (
    lambda draw, _: {"type": draw.pick.choice(TYPES)},
    lambda draw, _: {"type": draw.pick.sample(TYPES, 2)},
    lambda draw, _: {draw.pick.choice(LIMITS): draw.pick.choice(NUMBERS)},
    lambda draw, _: {"multipleOf": draw.pick.choice((1, 2, 3, 6, 0.5, 2.5))},
    lambda draw, _: {draw.pick.choice(("minLength", "minItems", "minProperties")): draw.pick.choice((0, 1, 2))},
    lambda draw, _: {draw.pick.choice(("maxLength", "maxItems", "maxProperties")): draw.pick.choice((0, 1, 2))},
    lambda draw, _: {"pattern": draw.pick.choice(("^a", "b$"))},
    lambda draw, _: {"enum": [plain_value(draw.pick, 1) for _ in range(3)]},
    lambda draw, _: {"const": plain_value(draw.pick, 1)},
    lambda draw, depth: {"properties": draw.named(depth)},
    lambda draw, depth: {"properties": draw.named(depth), "additionalProperties": draw.some(depth)},
    lambda draw, depth: {"patternProperties": {draw.pick.choice(("^k", "^[in]", "^x-")): draw.some(depth)}},
    lambda draw, depth: {"additionalProperties": draw.some(depth)},
    lambda draw, _: {"required": draw.pick.sample(NAMES[:3], draw.pick.randrange(3))},
    lambda draw, _: {"dependentRequired": {"id": [draw.pick.choice(NAMES[1:3])]}},
    lambda draw, depth: {"dependentSchemas": {"id": draw.some(depth)}},
    lambda draw, depth: {"propertyNames": draw.some(depth)},
    lambda draw, depth: {"unevaluatedProperties": draw.some(depth)},
    lambda draw, depth: {"items": draw.some(depth)},
    lambda draw, depth: {"prefixItems": draw.several(depth)},
    lambda draw, depth: {"contains": draw.some(depth), "minContains": draw.pick.choice((0, 1, 2))},
    lambda draw, depth: {"unevaluatedItems": draw.some(depth)},
    lambda draw, _: {"uniqueItems": True},
    lambda draw, depth: {"allOf": draw.several(depth)},
    lambda draw, depth: {"anyOf": draw.several(depth)},
    lambda draw, depth: {"oneOf": draw.several(depth)},
    lambda draw, depth: {"not": draw.some(depth)},
    lambda draw, depth: {"if": draw.some(depth), "then": draw.some(depth)},
    lambda draw, depth: {"if": draw.some(depth), "then": draw.some(depth), "else": draw.some(depth)},
    lambda draw, depth: {"$ref": "#/$defs/part"} if depth > 1 else {},
)
