"""Schemas made to cost: accepted by the Registry, and as dear as that allows."""

from collections.abc import Mapping, Sequence
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


LETTERS: Schema = {"type": "object", "properties": {"v": {"type": "string", "pattern": r"\p{L}{180}"}}}
WIDE: Schema = {"properties": {f"p{number:04}": {"type": "string", "minLength": number} for number in range(1400)}}
DEEP: Schema = {
    "$ref": "#/$defs/a0",
    "$defs": {**{f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(1200)}, "a1200": {}},
}
MANY_WAYS: Schema = {
    "anyOf": [{"$ref": f"#/$defs/a{start}"} for start in range(3)],
    "$defs": {
        f"a{one}": {
            "properties": {f"p{two}": {"$ref": f"#/$defs/a{(one * 3 + two * 7) % 200}"} for two in range(4)},
            "additionalProperties": {"$ref": f"#/$defs/a{(one + 1) % 200}"},
        }
        for one in range(200)
    },
}
DEAR_TO_VET: Mapping[str, Sequence[Schema]] = {
    "letters": [LETTERS] * 3,
    "255 KB": [WIDE] * 4,
    "deep references": [DEEP],
    "many ways": [MANY_WAYS],
    "unevaluated": [nested_unevaluated(30)],
    "many ways nine times": [MANY_WAYS] * 9,
}
"""The schemas of one Card each."""
