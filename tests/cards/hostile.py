"""Schemas made to cost: accepted by the Registry, and as dear as that allows."""

from typing import Any

Schema = dict[str, Any]


def many_minimums(sign: int = 1) -> Schema:
    """46 KB; 8,400 subschemas apply to each item of `x`. With sign -1 small positive items follow it."""
    part = {"allOf": [{"minimum": sign * number} for number in range(2800)]}
    items = {"allOf": [{"$ref": "#/$defs/a"}] * 3}
    return {"$defs": {"a": part}, "type": "object", "properties": {"x": {"type": "array", "items": items}}}


def many_constants(count: int = 3000) -> Schema:
    """53 KB; each item of `x` is one of many constants, none of them cheap to tell from the others."""
    return {
        "type": "object",
        "properties": {"x": {"items": {"anyOf": [{"const": f"c{number}"} for number in range(count)]}}},
    }


def nested_unevaluated(depth: int) -> Schema:
    """What stands in place is run again by each `unevaluatedProperties` around it, so each one triples the work."""
    schema: Schema = {"properties": {"a": True}}
    for _ in range(depth):
        schema = {"allOf": [schema], "unevaluatedProperties": {"type": "integer"}}
    return schema
