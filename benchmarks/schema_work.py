"""What schema checks cost: each keyword at its worst beside what it is charged for, and a small check as it is made."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from aop.cards.bounds import check_ns
from aop.cards.checks import SchemaChecks
from aop.cards.vetting import SchemaVetting
from aop.cards.workers import SchemaWorkers
from aop.contracts.documents import compiled
from benchmarks.measure import Figure, Report, interleaved, own_cpu_micros

ROUNDS = 7
LIMIT_CHARGE = 1.0
"""Nothing may take longer than it is charged for."""
LIMIT_RATIO = 1.5
"""A small check beside the validator alone."""
_MAX_NS = 1e15
_CHECKS = 2000
_NEVER = 1e12

_BIG = 10**300
_FAR = 2.3e-308
_WORST: Mapping[str, tuple[Any, Any]] = {
    "type": ({"items": {"allOf": [{"type": ["null", "object", "string", "integer"]}] * 50}}, [5] * 500),
    "minimum, integers": ({"items": {"allOf": [{"minimum": -1}] * 50}}, [5] * 500),
    "minimum, fractions": ({"items": {"allOf": [{"minimum": -1.5}] * 50}}, [5.25] * 500),
    "minimum, large numbers": ({"items": {"allOf": [{"minimum": 3}] * 50}}, [_BIG] * 100),
    "multipleOf, fractions": ({"items": {"allOf": [{"multipleOf": 0.01}] * 50}}, [5.25] * 500),
    "multipleOf, large numbers": ({"items": {"allOf": [{"multipleOf": 3}] * 50}}, [3 * _BIG] * 100),
    "minimum, far fractions": ({"items": {"allOf": [{"minimum": 1e-300}] * 50}}, [_FAR] * 50),
    "minimum, a fraction": ({"items": {"allOf": [{"minimum": 0.5}] * 50}}, [1 << 62] * 500),
    "multipleOf, a far fraction": ({"items": {"allOf": [{"multipleOf": 1e-300}] * 50}}, [123_456_789] * 50),
    "multipleOf, both": ({"items": {"allOf": [{"multipleOf": 1e-300}] * 50}}, [_BIG] * 20),
    "type, large numbers": ({"items": {"allOf": [{"type": "number"}] * 50}}, [_BIG] * 100),
    "const, far fractions": ({"const": [_FAR] * 100}, [_FAR] * 100),
    "enum, far fractions": ({"items": {"enum": [_FAR * (1 + one / 200) for one in range(200)]}}, [5] * 10),
    "enum, a far value": ({"items": {"enum": [one + 100 for one in range(200)]}}, [_FAR] * 10),
    "uniqueItems, far fractions": (
        {"items": {"uniqueItems": True}},
        [[_FAR * (1 + one / 16) for one in range(15)]] * 5,
    ),
    "const, text": ({"items": {"allOf": [{"const": "x" * 50}] * 50}}, ["x" * 50] * 500),
    "const, integer": ({"items": {"allOf": [{"const": 5}] * 50}}, [5] * 500),
    "const, fractions": ({"const": [one + 0.5 for one in range(3000)]}, [one + 0.5 for one in range(3000)]),
    "const, object": ({"const": {f"m{one}": one for one in range(2000)}}, {f"m{one}": one for one in range(2000)}),
    "enum, texts": ({"items": {"enum": [f"k{one}" for one in range(1000)]}}, ["zz"] * 500),
    "enum, fractions": ({"items": {"enum": [one + 0.5 for one in range(1000)]}}, [-2.5] * 100),
    "enum, lists": ({"items": {"enum": [[1.5] * 20 + [one] for one in range(50)]}}, [[1.5] * 20 + [49]] * 30),
    "maxLength": ({"items": {"allOf": [{"maxLength": 10_000}] * 50}}, ["é" * 500] * 100),
    "pattern, without a table": ({"pattern": "(?:[ab]{1,30}){1,30}$"}, "ab" * 3000),
    "pattern, letters": ({"pattern": r"\p{L}{100}$"}, "aéБ" * 2000),
    "uniqueItems, large numbers": ({"uniqueItems": True}, [_BIG + one for one in range(150)]),
    "uniqueItems, objects": ({"uniqueItems": True}, [{"a": one, "b": [one]} for one in range(3000)]),
    "required": ({"required": [f"r{one}" for one in range(4000)]}, {f"r{one}": 1 for one in range(4000)}),
    "dependentRequired": (
        {"dependentRequired": {f"r{one}": ["r0"] for one in range(2000)}},
        {f"r{one}": 1 for one in range(2000)},
    ),
    "properties": (
        {"properties": {f"r{one}": {"type": "integer"} for one in range(2000)}},
        {f"r{one}": 1 for one in range(2000)},
    ),
    "patternProperties": (
        {"patternProperties": {f"^r{one}$": {} for one in range(200)}},
        {f"r{one}": 1 for one in range(1000)},
    ),
    "propertyNames": ({"propertyNames": {"maxLength": 9}}, {f"r{one}": 1 for one in range(3000)}),
    "additionalProperties": ({"additionalProperties": {"type": "integer"}}, {f"r{one}": 1 for one in range(3000)}),
    "contains": ({"contains": {"const": -1}, "minContains": 0}, [1] * 5000),
    "anyOf": ({"items": {"anyOf": [{"const": f"c{one}"} for one in range(3000)]}}, ["c2999"] * 50),
    "oneOf": ({"items": {"oneOf": [{"minLength": one} for one in range(500)]}}, ["x" * 600] * 50),
    "unevaluatedProperties, nested": (None, {"a": 1, "b": 2}),
}
_SMALL = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 4000},
        "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}},
    },
    "required": ["text"],
}
_SMALL_VALUE = {"text": "A sentence. " * 60, "date": "2026-01-01", "lines": [{"n": one} for one in range(12)]}


def run() -> Report:
    rows: list[Mapping[str, Figure]] = []
    worst = 0.0
    for name, (schema, value) in _WORST.items():
        taken, charged = _measured(_nested(7) if schema is None else schema, value)
        worst = max(worst, taken / charged)
        rows.append({"check": name, "taken": taken / 1000, "charged": charged / 1000, "part": f"{taken / charged:.2f}"})
    median = asyncio.run(_small())
    ratio = median["as the Router checks"] / median["the validator alone"]
    rows += [{"check": name, "taken": micros, "charged": "-", "part": "-"} for name, micros in median.items()]
    return Report(
        "schema_work",
        "µs CPU per check",
        rows,
        {
            "no keyword takes more than it is charged for": worst <= LIMIT_CHARGE,
            f"a small check costs at most {LIMIT_RATIO} times the validator alone": ratio <= LIMIT_RATIO,
        },
    )


async def _small() -> dict[str, float]:
    """The same small input, checked by the validator alone and as the Router does it."""
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=1 << 24)
    validator, text = compiled(_SMALL, formats=False), json.dumps(_SMALL_VALUE).encode()
    schema = json.dumps(_SMALL).encode()

    async def alone() -> None:
        for _ in range(_CHECKS):
            validator.is_valid(_SMALL_VALUE)

    async def checked() -> None:
        for _ in range(_CHECKS):
            await checks.require_input(schema, text, _SMALL_VALUE, _NEVER)

    return await interleaved(
        {
            "the validator alone": lambda: own_cpu_micros(alone, _CHECKS),
            "as the Router checks": lambda: own_cpu_micros(checked, _CHECKS),
        },
        ROUNDS,
    )


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": True}}
    for _ in range(depth):
        schema = {"allOf": [schema], "unevaluatedProperties": {"type": "integer"}}
    return schema


def _measured(schema: dict[str, Any], value: object) -> tuple[float, float]:
    """Nanoseconds of the fastest round, and of the bound."""
    locations, validator = SchemaVetting().require_usable(schema), compiled(schema, formats=False)
    taken = min(_ns(lambda: validator.is_valid(value)) for _ in range(ROUNDS))
    return taken, check_ns(locations, value, _MAX_NS)


def _ns(check: Callable[[], object]) -> float:
    started = time.process_time_ns()
    check()
    return time.process_time_ns() - started
