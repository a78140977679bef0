"""Values near a schema: often accepted, often just refused."""

import random
from typing import Any

from tests.cards.hostile import Schema

NAMES = ("id", "kind", "text", "count", "items", "note")
WORDS = ("a", "b", "c", "ab", "abc", "")
NUMBERS = (-1, 0, 1, 2, 3, 5, 10, 0.5, 2.5)
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class NearValues:
    def __init__(self, pick: random.Random, root: Schema) -> None:
        self.pick = pick
        self._root = root

    def value(self, schema: Any, depth: int = 5) -> Any:
        """Close to what the schema accepts, and often not quite."""
        if self.pick.random() < 0.06 or not isinstance(schema, dict) or depth <= 0:
            return plain_value(self.pick, 1)
        if "$ref" in schema:
            return self.value(self._root["$defs"]["part"], depth - 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.pick.choice(schema["enum"])
        branches = [one for name in ("oneOf", "anyOf", "allOf") for one in schema.get(name, ())]
        branches += [schema[name] for name in ("then", "else", "if") if name in schema]
        if branches and self.pick.random() < 0.7:
            rest = {name: value for name, value in schema.items() if name not in ("oneOf", "anyOf", "allOf", "then")}
            return self.value(_merged(rest, self.pick.choice(branches)), depth - 1)
        return self._typed(schema, depth)

    def _typed(self, schema: Schema, depth: int) -> Any:
        named = schema.get("type", self._likely(schema))
        kind = self.pick.choice(named) if isinstance(named, list) else named
        if kind == "object":
            return self._object_value(schema, depth)
        if kind == "array":
            low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
            listed, rest = schema.get("prefixItems", []), schema.get("items", True)
            count = min(max(self.pick.choice((low, high, high + 1, 1, 2)), 0), 12)
            return [self.value(listed[at] if at < len(listed) else rest, depth - 1) for at in range(count)]
        if kind == "string":
            bounds = (schema.get("minLength", 0), schema.get("maxLength", 4), 1, 2)
            return (
                self.pick.choice(WORDS)
                if self.pick.random() < 0.4
                else "a" * min(self.pick.choice(bounds) + self.pick.choice((-1, 0, 0, 1)), 60)
            )
        if kind in ("integer", "number"):
            limits = [schema[name] for name in LIMITS if name in schema] or [0]
            return self.pick.choice(limits) + self.pick.choice((-1, 0, 0, 1, 0.5, self.pick.choice(NUMBERS)))
        return {"null": None, "boolean": self.pick.random() < 0.5}.get(kind)

    def _likely(self, schema: Schema) -> str:
        if {"properties", "required", "additionalProperties", "patternProperties"} & schema.keys():
            return "object"
        if {"items", "prefixItems", "contains"} & schema.keys():
            return "array"
        return self.pick.choice(TYPES)

    def _object_value(self, schema: Schema, depth: int) -> Schema:
        properties = schema.get("properties", {})
        made = {
            name: self.value(member, depth - 1)
            for name, member in properties.items()
            if self.pick.random() < (0.95 if name in schema.get("required", ()) else 0.5)
        }
        other = schema.get("additionalProperties", True)
        for name in (*schema.get("required", ()), *NAMES, "x-a"):
            if name not in properties and self.pick.random() < 0.15:
                made[name] = self.value(other, depth - 1)
        return made


def plain_value(pick: random.Random, depth: int) -> Any:
    scalars = (None, True, False, pick.choice(NUMBERS), pick.choice(WORDS))
    if depth <= 0 or pick.random() < 0.6:
        return pick.choice(scalars)
    if pick.random() < 0.5:
        return [plain_value(pick, depth - 1) for _ in range(pick.randrange(3))]
    return {name: plain_value(pick, depth - 1) for name in pick.sample(NAMES, pick.randrange(3))}


def _merged(schema: Schema, other: Any) -> Schema:
    other = other if isinstance(other, dict) else {}
    properties = {**schema.get("properties", {}), **other.get("properties", {})}
    required = [*schema.get("required", ()), *other.get("required", ())]
    return {**schema, **other, **({"properties": properties} if properties else {}), "required": required}
