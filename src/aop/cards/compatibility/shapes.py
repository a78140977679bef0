"""The normal form of a schema: shapes, each of values of one JSON type, whose union is what the schema accepts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aop.cards.compatibility.subschemas import Subschema, Together, names_of, together
from aop.cards.number_weights import is_number

MAX_SAFE = 2**53 - 1
Number = int | float


@dataclass(frozen=True)
class OpaqueConstraint:
    """A constraint that is compared as it is written: it holds where the other schema has the same."""

    keyword: str
    value: object
    inside: Subschema


@dataclass(frozen=True)
class Choice:
    """One way to satisfy a schema: keywords of `own` without their branches hold, nothing of `excluded` does."""

    own: Together
    excluded: Together


@dataclass(frozen=True)
class ShapeBase:
    choice: Choice
    opaque: tuple[OpaqueConstraint, ...]


@dataclass(frozen=True)
class ValuesShape(ShapeBase):
    """Some of these values; the ones that are surely refused are left out."""

    values: tuple[object, ...]


@dataclass(frozen=True)
class NumberShape(ShapeBase):
    low: Number
    high: Number
    above: bool
    """Whether `low` itself is refused; `under` is the same of `high`."""
    under: bool
    integral: bool
    steps: tuple[Number, ...]

    @property
    def is_empty(self) -> bool:
        return self.low > self.high or (self.low == self.high and (self.above or self.under))


@dataclass(frozen=True)
class StringShape(ShapeBase):
    least: int
    limit: float

    @property
    def is_empty(self) -> bool:
        return self.least > self.limit


@dataclass(frozen=True)
class ArrayShape(ShapeBase):
    least: int
    limit: float
    unique: bool
    prefixes: tuple[tuple[Sequence[Together], Together], ...]
    """Of each keyword pair `prefixItems` and `items`: what applies to each position, and to the rest."""

    @property
    def named(self) -> int:
        return max((len(prefix) for prefix, _ in self.prefixes), default=0)

    def item(self, at: int) -> Together:
        return together(*(prefix[at] if at < len(prefix) else rest for prefix, rest in self.prefixes))


@dataclass(frozen=True)
class Members:
    """What one subschema says of members: `properties`, `patternProperties`, `additionalProperties`."""

    properties: Mapping[str, Together]
    patterns: Mapping[str, Together]
    other: Together


@dataclass(frozen=True)
class ObjectShape(ShapeBase):
    least: int
    limit: float
    required: frozenset[str]
    members: tuple[Members, ...]

    @property
    def names(self) -> list[str]:
        return names_of(each.properties for each in self.members)

    @property
    def mentioned(self) -> list[str]:
        """Also the names on which others depend."""
        depended = (
            one.value[0] for one in self.opaque if one.keyword == "dependentRequired" and isinstance(one.value, list)
        )
        return [*self.names, *depended]


Shape = ValuesShape | NumberShape | StringShape | ArrayShape | ObjectShape


def number_shape(choice: Choice, integral: bool) -> NumberShape:
    low: Number = -math.inf
    high: Number = math.inf
    above = under = False
    for schema in choice.own:
        for keyword, strict in (("minimum", False), ("exclusiveMinimum", True)):
            bound = schema.keywords.get(keyword)
            if is_number(bound) and (bound > low or (bound == low and strict)):
                low, above = bound, strict
        for keyword, strict in (("maximum", False), ("exclusiveMaximum", True)):
            bound = schema.keywords.get(keyword)
            if is_number(bound) and (bound < high or (bound == high and strict)):
                high, under = bound, strict
    steps = dict.fromkeys(step for each in choice.own if is_number(step := each.keywords.get("multipleOf")))
    integral = integral or any(is_whole(step) for step in steps)
    if integral:
        low, above = _first_whole(low, above)
        negative, under = _first_whole(-high, under)
        high = -negative
    return NumberShape(choice, (), low, high, above, under, integral, tuple(steps))


def _first_whole(low: Number, above: bool) -> tuple[Number, bool]:
    """The least integer from there on; beyond 2^53 the bound stays, because it is one already."""
    if abs(low) > MAX_SAFE:
        return low, above
    return (math.floor(low) + 1 if above else math.ceil(low)), False


def string_shape(choice: Choice) -> StringShape:
    least, limit = _counts(choice.own, "minLength", "maxLength")
    patterns = (
        OpaqueConstraint("pattern", one.keywords["pattern"], one) for one in choice.own if "pattern" in one.keywords
    )
    return StringShape(choice, tuple(patterns), least, limit)


def array_shape(choice: Choice) -> ArrayShape:
    least, limit = _counts(choice.own, "minItems", "maxItems")
    opaque: list[OpaqueConstraint] = []
    for one in choice.own:
        if "contains" in one.keywords:
            counted = {name: one.keywords.get(name) for name in ("contains", "minContains", "maxContains")}
            opaque.append(OpaqueConstraint("contains", counted, one))
        opaque.extend(_unevaluated(one, "unevaluatedItems"))
    prefixes = (
        (one.listed("prefixItems"), one.child(one.keywords.get("items", True)))
        for one in choice.own
        if "prefixItems" in one.keywords or "items" in one.keywords
    )
    unique = any(one.keywords.get("uniqueItems") is True for one in choice.own)
    return ArrayShape(choice, tuple(opaque), least, limit, unique, tuple(prefixes))


_OF_MEMBERS = frozenset({"properties", "patternProperties", "additionalProperties"})


def object_shape(choice: Choice) -> ObjectShape:
    least, limit = _counts(choice.own, "minProperties", "maxProperties")
    required = frozenset(name for one in choice.own for name in _texts(one.keywords.get("required")))
    members = (
        Members(
            one.named("properties"),
            one.named("patternProperties"),
            one.child(one.keywords.get("additionalProperties", True)),
        )
        for one in choice.own
        if not one.keywords.keys().isdisjoint(_OF_MEMBERS)
    )
    opaque = tuple(constraint for one in choice.own for constraint in _opaque_of_objects(one))
    return ObjectShape(choice, opaque, max(least, len(required)), limit, required, tuple(members))


def _opaque_of_objects(one: Subschema) -> Iterable[OpaqueConstraint]:
    for keyword in ("propertyNames", "dependencies"):
        if keyword in one.keywords:
            yield OpaqueConstraint(keyword, one.keywords[keyword], one)
    for keyword in ("dependentSchemas", "dependentRequired"):
        found = one.keywords.get(keyword)
        for name, value in found.items() if isinstance(found, dict) else ():
            if keyword == "dependentSchemas":
                yield OpaqueConstraint(keyword, {name: value}, one)
            else:
                yield from (OpaqueConstraint(keyword, [name, needed], one) for needed in _texts(value))
    yield from _unevaluated(one, "unevaluatedProperties")


def _unevaluated(one: Subschema, keyword: str) -> Iterable[OpaqueConstraint]:
    """What it covers depends on all that stands in the same schema."""
    if keyword in one.keywords:
        yield OpaqueConstraint(keyword, one.schema, one)


def _counts(own: Together, least: str, limit: str) -> tuple[int, float]:
    lows = (math.ceil(low) for one in own if is_number(low := one.keywords.get(least)))
    highs = (math.floor(high) for one in own if is_number(high := one.keywords.get(limit)))
    return max(lows, default=0), min(highs, default=math.inf)


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def is_whole(value: Number) -> bool:
    return abs(value) <= MAX_SAFE and value == math.floor(value)
