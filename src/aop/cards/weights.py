"""What one subschema costs the validator each time it applies, in nanoseconds at its worst (`./dev bench schema_work`).

Every assertion and applicator of the dialect has a line here; a schema is charged for what it says, not for what a kind
value makes of it. What applies in place or deeper is charged where it applies.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aop.cards.number_weights import BOUND, DEAREST_EQUAL_NS, EQUAL, MULTIPLE, PerNumber, PerOperand, is_far, is_number

PatternSizes = Mapping[str, int]
"""Bytes of the automaton of each pattern."""

_NODE_NS = 30.0
_NS_PER_AUTOMATON_BYTE = 0.25
"""For each byte of a string, where every state of the automaton is alive and no table of transitions fits."""
_UNIQUE_NS = 4_000.0
_UNEVALUATED_NS = 1_000.0
_UNEVALUATED_NS_PER_SUBSCHEMA = 10.0
UNEVALUATED_REPETITION = 3
"""How often whatever applies in place runs where `unevaluatedProperties` or `unevaluatedItems` stands with it."""
UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_TYPE_OF_BIG_NS = 5_000.0


class Weight(msgspec.Struct):
    """Nanoseconds by what they are paid for. A `big` integer needs more than 64 bits, a `far` fraction is very small or
    very large; names are those of members."""

    value: float = 0.0
    integer: float = 0.0
    real: float = 0.0
    far: float = 0.0
    big: float = 0.0
    string_byte: float = 0.0
    child: float = 0.0
    name_byte: float = 0.0
    unique: int = 0

    def add(self, other: "Weight", times: int = 1) -> None:
        self.value += other.value * times
        self.integer += other.integer * times
        self.real += other.real * times
        self.far += other.far * times
        self.big += other.big * times
        self.string_byte += other.string_byte * times
        self.child += other.child * times
        self.name_byte += other.name_byte * times
        self.unique += other.unique * times

    def add_number(self, per: PerNumber) -> None:
        self.integer += per.integer
        self.real += per.real
        self.far += per.far
        self.big += per.big


def weight_of(schema: Mapping[str, object], patterns: PatternSizes, in_place: int) -> Weight:
    """Of one subschema without those it holds; `in_place` counts the subschemas it makes apply to its own location."""
    weight = Weight(value=_NODE_NS)
    for keyword, value in schema.items():
        charge = CHARGES.get(keyword)
        if charge is not None:
            charge(weight, value, patterns)
    if not schema.keys().isdisjoint(UNEVALUATED):
        weight.child += _UNEVALUATED_NS + _UNEVALUATED_NS_PER_SUBSCHEMA * in_place
    return weight


_Charge = Callable[[Weight, Any, PatternSizes], None]


def _fixed(value: float, child: float = 0.0) -> _Charge:
    def charge(weight: Weight, _: object, __: PatternSizes) -> None:
        weight.value += value
        weight.child += child

    return charge


def _number(per: PerOperand) -> _Charge:
    def charge(weight: Weight, operand: Any, _: PatternSizes) -> None:
        weight.add_number(per.of(operand))

    return charge


def _type(weight: Weight, value: object, _: PatternSizes) -> None:
    weight.value += 20
    if value == "number":
        weight.big += _TYPE_OF_BIG_NS


def _per_entry(ns: float) -> _Charge:
    def charge(weight: Weight, value: object, _: PatternSizes) -> None:
        weight.value += 20 + ns * entry_count(value)

    return charge


def _constant(weight: Weight, value: object, _: PatternSizes) -> None:
    if is_number(value):
        weight.add_number(EQUAL.of(value))
    else:
        weight.value += _comparison(value)


def _choice(weight: Weight, value: Any, patterns: PatternSizes) -> None:
    if len(value) > 1:
        weight.value += 100 + 40 * len(value)
    for one in value:
        if len(value) == 1 or is_number(one) or isinstance(one, list | dict):
            _constant(weight, one, patterns)


def _comparison(constant: object) -> float:
    """Of a value with the constant, where they differ in the last part only."""
    if isinstance(constant, str):
        return 60 + 0.1 * len(constant)
    if isinstance(constant, dict | list):
        # All numbers in it are compared with what equals them, but for the one that differs.
        return _equal(constant) + DEAREST_EQUAL_NS * _holds_number(constant)
    return 60


def _equal(constant: object) -> float:
    """Of the constant with itself."""
    if isinstance(constant, dict):
        return 300 + sum(500 + len(name) + _equal(one) for name, one in constant.items())
    if isinstance(constant, list):
        return 100 + sum(map(_equal, constant))
    if not is_number(constant):
        return _comparison(constant)
    if isinstance(constant, int):
        return EQUAL.integer.integer
    return EQUAL.far.far if is_far(constant) else EQUAL.real.real


def _holds_number(constant: object) -> bool:
    if isinstance(constant, dict):
        return any(map(_holds_number, constant.values()))
    if isinstance(constant, list):
        return any(map(_holds_number, constant))
    return is_number(constant)


def _pattern(weight: Weight, value: Any, patterns: PatternSizes) -> None:
    weight.value += 50
    weight.string_byte += _NS_PER_AUTOMATON_BYTE * patterns[value]


def _pattern_properties(weight: Weight, value: Any, patterns: PatternSizes) -> None:
    weight.value += 50
    for pattern in value:
        weight.child += 60
        weight.name_byte += _NS_PER_AUTOMATON_BYTE * patterns[pattern]


def _unique(weight: Weight, value: object, _: PatternSizes) -> None:
    weight.value += 200
    if value:
        weight.child += _UNIQUE_NS
        weight.unique += 1


def entry_count(value: object) -> int:
    """How many names and values the text of a keyword holds."""
    if isinstance(value, dict):
        return sum(1 + entry_count(one) for one in value.values())
    if isinstance(value, list):
        return sum(map(entry_count, value))
    return 1


CHARGES: Mapping[str, _Charge] = {
    "$ref": _fixed(50),
    "$dynamicRef": _fixed(300),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "not", "if", "then", "else"), _fixed(30)),
    "type": _type,
    "const": _constant,
    "enum": _choice,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number(BOUND)),
    "multipleOf": _number(MULTIPLE),
    **dict.fromkeys(("minLength", "maxLength"), _fixed(30)),
    "pattern": _pattern,
    **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), _fixed(30)),
    "uniqueItems": _unique,
    "prefixItems": _fixed(40, 30),
    "items": _fixed(40, 30),
    "contains": _fixed(50, 40),
    **dict.fromkeys(("minContains", "maxContains"), _fixed(20)),
    "properties": _fixed(60, 80),
    "patternProperties": _pattern_properties,
    **dict.fromkeys(("additionalProperties", "propertyNames"), _fixed(50, 80)),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _fixed(100)),
    "required": _per_entry(120),
    "dependentRequired": _per_entry(120),
    "dependentSchemas": _per_entry(80),
    "dependencies": _per_entry(120),
}
NO_CHARGE = frozenset(
    {
        *("$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment", "$defs", "definitions"),
        *("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format"),
        *("contentMediaType", "contentEncoding", "contentSchema", "$recursiveRef", "$recursiveAnchor"),
    }
)
"""The rest of the dialect: names and notes that the validator does not read. Other words are notes as well."""
