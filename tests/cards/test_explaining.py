"""What explaining a refused value may take is judged by all it keeps: faults, parts, paths, names and constants."""

import json
from typing import Any

import pytest

from aop.cards.explaining import IN_LOOP, can_explain
from aop.cards.vetting import SchemaVetting

EACH = {"items": {"type": "string"}}


@pytest.mark.rows("SAFE-01")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"allOf": [{"maxProperties": 1}] * 200}, {"k" * 20_000 + name: 0 for name in "abc"}),
        ({"properties": {"a" * 3_000: EACH}}, {"a" * 3_000: [0] * 250}),
        ({"$defs": {"e": {"const": "x" * 50_000}}, "allOf": [{"$ref": "#/$defs/e"}] * 50}, "q"),
        ({"required": [f"r{number}" for number in range(4_000)]}, {}),
        ({"dependentRequired": {"a": [f"r{number}" for number in range(4_000)]}}, {"a": 1}),
        ({"allOf": [False] * 5_000}, 0),
        ({"items": False}, [0] * 900),
        (
            {"patternProperties": {f".{{0,{number}}}": False for number in range(40)}},
            {f"k{one}": 0 for one in range(50)},
        ),
        ({"propertyNames": {"maxLength": 1}}, {f"k{number}": 0 for number in range(900)}),
    ],
    ids=["names", "paths", "constants", "required", "dependent", "false", "items", "patterns", "names of members"],
)
def test_what_would_keep_much_is_not_explained_in_the_loop(schema: dict[str, Any], value: object) -> None:
    locations = SchemaVetting().require_usable(schema)
    assert not can_explain(locations, len(json.dumps(schema)), value, IN_LOOP)


def test_a_usual_refusal_is_explained_in_the_loop() -> None:
    line = {"type": "object", "properties": {"n": {"type": "integer"}, "text": {"type": "string"}}, "required": ["n"]}
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": line}}, "required": ["id"]}
    locations = SchemaVetting().require_usable(schema)
    value = {"lines": [{"n": "one", "text": "A sentence."}] * 20}
    assert can_explain(locations, len(json.dumps(schema)), value, IN_LOOP)
