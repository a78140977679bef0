"""The bound of a check: computed beforehand, for every keyword, and never below what the check then takes."""

import json
import time
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest

from aop.cards.bounds import SMALL_NS, check_ns, small_bytes
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused
from aop.cards.weights import CHARGES, NO_CHARGE
from aop.contracts.documents import compiled
from tests.cards.drawn import Draw
from tests.cards.hostile import Schema, many_constants, many_minimums, nested_unevaluated
from tests.support.every import every

pytestmark = pytest.mark.second_ring

_NEVER_SMALL_NS = 4 * SMALL_NS
"""20 ms: what nothing that is judged small may take of a core as fast as was expected."""


FAR = 2.3e-308
"""As far from one as a fraction can be: the numbers of its ratio have hundreds of digits."""


def cpu_ns(check: Callable[[], object]) -> float:
    """The least of three, because a machine with other work slows single runs."""
    times = []
    for _ in range(3):
        started = time.process_time_ns()
        check()
        times.append(time.process_time_ns() - started)
    return min(times)


def test_every_keyword_of_the_dialect_is_charged_or_known_to_be_free() -> None:
    base = "https://json-schema.org/draft/2020-12/meta/"
    parts = ("core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content")
    known = {*CHARGES, *NO_CHARGE}
    for part in parts:
        document = _meta_schema(base + part)
        assert document["properties"].keys() <= known, part


def _meta_schema(uri: str) -> dict[str, Any]:
    """As the validator itself has it: each keyword that it knows refuses a value of a wrong type."""
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415  a dependency of the tests alone

    return dict(REGISTRY.contents(uri))


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(5, 20))])
def test_nothing_that_is_judged_small_takes_long(seed: int) -> None:
    judged = 0
    for number in range(15):
        draw = Draw(seed * 1000 + number)
        schema = draw.schema()
        try:
            locations = SchemaVetting().require_usable(schema)
        except SkillSchemaRefused:
            continue
        validator = compiled(schema, formats=False)
        for _ in range(3):
            value = draw.value()
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
            bound = check_ns(locations, value, 1e12)
            if len(text) <= small_bytes(locations):
                assert bound <= 2 * SMALL_NS, "a short text is small by its length and not by its parts"
            if bound <= SMALL_NS:
                judged += 1
                assert cpu_ns(lambda: validator.is_valid(value)) < _NEVER_SMALL_NS, schema  # noqa: B023
    assert judged


@pytest.mark.rows("SAFE-01", "SAFE-02")
@every(
    ("schema", "value"),
    [
        (many_minimums(-1), {"x": [1] * 400}),
        (many_minimums(-1), {"x": [1.5] * 40}),
        (many_constants(), {"x": ["c2999"] * 2000}),
        (nested_unevaluated(7), {"a": 1, "b": 2}),
        ({"uniqueItems": True}, [10**20 + number for number in range(120)]),
        ({"uniqueItems": True}, [[10**300 + number] for number in range(60)]),
        ({"items": {"uniqueItems": True}}, [[FAR * (1 + number / 16) for number in range(15)]] * 10),
        ({"items": {"allOf": [{"multipleOf": 1e-300}] * 20}}, [123_456_789] * 50),
        ({"items": {"allOf": [{"multipleOf": 0.1}] * 20}}, [10**300] * 20),
        ({"items": {"allOf": [{"minimum": 0.5}] * 20}}, [1 << 62] * 50),
        ({"items": {"allOf": [{"exclusiveMaximum": 1e-300}] * 20}}, [FAR] * 20),
        ({"items": {"allOf": [{"type": "number"}] * 50}}, [10**300] * 100),
        ({"items": {"enum": [number + 100 for number in range(200)]}}, [FAR] * 5),
        ({"items": {"enum": [FAR * (1 + number / 200) for number in range(200)]}}, [5] * 5),
        ({"const": [FAR] * 100}, [FAR] * 100),
        ({"const": [number + 0.5 for number in range(3000)]}, [number + 0.5 for number in range(3000)]),
        ({"items": {"enum": [[1.5] * 20 + [number] for number in range(50)]}}, [[1.5] * 20 + [49]] * 30),
        ({"pattern": "(?:(?:[ab]?){20}){20}c"}, "ab" * 3000),
        ({"patternProperties": {f"^n{number}$": {} for number in range(200)}}, {f"n{one}": 1 for one in range(800)}),
        ({"required": [f"r{number}" for number in range(4000)]}, {f"r{number}": 1 for number in range(4000)}),
    ],
    ids=lambda item: None if not isinstance(item, dict) else next(iter(item)),
)
def test_the_bound_of_a_dear_check_is_above_what_it_takes(schema: Schema, value: object) -> None:
    locations = SchemaVetting().require_usable(schema)
    validator = compiled(schema, formats=False)
    # Within the same factor that small work has: a core with other work takes longer. The benchmark is exact.
    assert cpu_ns(lambda: validator.is_valid(value)) <= 4 * check_ns(locations, value, 1e15)


@pytest.mark.rows("SAFE-02")
def test_a_schema_that_runs_itself_again_at_each_level_is_refused() -> None:
    with pytest.raises(SkillSchemaRefused):
        SchemaVetting().require_usable(nested_unevaluated(20))


def test_the_bound_triples_with_each_level_that_runs_what_stands_in_place_again() -> None:
    value = {"a": 1, "b": 2}
    bounds = [check_ns(SchemaVetting().require_usable(nested_unevaluated(depth)), value, 1e15) for depth in (5, 6, 7)]
    assert bounds[1] > 2.5 * bounds[0]
    assert bounds[2] > 2.5 * bounds[1]


def test_counting_stops_at_the_limit() -> None:
    locations = SchemaVetting().require_usable(many_minimums(-1))
    value = {"x": [1] * 1_000_000}
    assert cpu_ns(lambda: check_ns(locations, value, SMALL_NS)) < 1e9
    assert check_ns(locations, value, SMALL_NS) > SMALL_NS


def test_a_small_schema_and_a_usual_value_are_small() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"},
            "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        },
        "required": ["id"],
    }
    locations = SchemaVetting.in_loop().require_usable(schema)
    value = {"id": "abc_1", "date": "2026-01-01", "lines": [{"n": number} for number in range(300)]}
    assert check_ns(locations, value, SMALL_NS) <= SMALL_NS
    assert isinstance(compiled(schema, formats=False), jsonschema_rs.Draft202012Validator)
