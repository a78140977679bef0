"""Whether a schema accepts a value, as far as it is known without a regular expression: yes, no, or not known."""

import math
from collections.abc import Iterable, Iterator

from aop.cards.compatibility.shapes import is_whole
from aop.cards.compatibility.subschemas import MAX_DEPTH, Subschema, Together, value_key
from aop.cards.cost import Steps
from aop.cards.number_weights import is_number

Answer = bool | None
"""None: not known."""
_BRANCHES = ("allOf", "anyOf", "oneOf")


class Evaluation:
    """Slower than a validator and never at odds with it; all evaluations share their steps."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._depth = 0
        self._constants: dict[int, frozenset[bytes]] = {}

    def accepts(self, schemas: Together, value: object) -> Answer:
        return _all(self._one(schema, value) for schema in schemas)

    def _one(self, schema: Subschema, value: object) -> Answer:
        if isinstance(schema.schema, bool):
            return schema.schema
        self._steps.spend(1 + sum(len(schema.listed(keyword)) for keyword in _BRANCHES))
        if self._depth >= MAX_DEPTH or not schema.is_supported:
            return None
        self._depth += 1
        try:
            return _all(self._answers(schema, value))
        finally:
            self._depth -= 1

    def _answers(self, schema: Subschema, value: object) -> Iterator[Answer]:
        yield self._plain(schema, value)
        if isinstance(value, str):
            yield _of_text(schema, value)
        elif is_number(value):
            yield _of_number(schema, value)
        elif isinstance(value, list):
            yield from self._of_array(schema, value)
        elif isinstance(value, dict):
            yield from self._of_object(schema, value)
        yield from self._in_place(schema, value)

    def _plain(self, schema: Subschema, value: object) -> Answer:
        named = schema.keywords.get("type")
        if named is not None and not any(_is_of(value, one) for one in (named if isinstance(named, list) else [named])):
            return False
        if "const" in schema.keywords or "enum" in schema.keywords:
            return value_key(value, self._steps) in self._constants_of(schema)
        return True

    def _constants_of(self, schema: Subschema) -> frozenset[bytes]:
        """The values that `const` and `enum` leave."""
        if schema.number not in self._constants:
            sets = [frozenset(value_key(value, self._steps) for value in _constants(schema, name)) for name in _LISTED]
            self._steps.spend(sum(map(len, sets)))
            self._constants[schema.number] = frozenset.intersection(
                *(found for name, found in zip(_LISTED, sets, strict=True) if name in schema.keywords)
            )
        return self._constants[schema.number]

    def _in_place(self, schema: Subschema, value: object) -> Iterator[Answer]:
        if "$ref" in schema.keywords:
            target = schema.target()
            yield None if target is None else self._one(target, value)
        yield from (self.accepts(branch, value) for branch in schema.listed("allOf"))
        if "anyOf" in schema.keywords:
            yield _any(self.accepts(branch, value) for branch in schema.listed("anyOf"))
        if "oneOf" in schema.keywords:
            yield _counted([self.accepts(branch, value) for branch in schema.listed("oneOf")], 1, 1)
        if "not" in schema.keywords:
            yield _negated(self.accepts(schema.child(schema.keywords["not"]), value))
        if "if" in schema.keywords:
            yield self._conditional(schema, value)

    def _conditional(self, schema: Subschema, value: object) -> Answer:
        condition = self.accepts(schema.child(schema.keywords["if"]), value)
        then, otherwise = (schema.child(schema.keywords.get(name, True)) for name in ("then", "else"))
        if condition is None:
            return _all([self.accepts(then, value) or None, self.accepts(otherwise, value) or None])
        return self.accepts(then if condition else otherwise, value)

    def _of_array(self, schema: Subschema, value: list[object]) -> Iterator[Answer]:
        self._steps.spend(len(value))
        yield _is_within(len(value), schema, "minItems", "maxItems")
        if schema.keywords.get("uniqueItems") is True:
            yield len({value_key(item, self._steps) for item in value}) == len(value)
        prefix, rest = schema.listed("prefixItems"), schema.child(schema.keywords.get("items", True))
        for at, item in enumerate(value):
            yield self.accepts(prefix[at] if at < len(prefix) else rest, item)
        if "contains" in schema.keywords:
            inside = schema.child(schema.keywords["contains"])
            least, limit = (schema.keywords.get(name) for name in ("minContains", "maxContains"))
            found = [self.accepts(inside, item) for item in value]
            yield _counted(found, least if is_number(least) else 1, limit if is_number(limit) else math.inf)
        if value and schema.keywords.get("unevaluatedItems", True) is not True:
            yield None

    def _of_object(self, schema: Subschema, value: dict[str, object]) -> Iterator[Answer]:
        keywords = schema.keywords
        self._steps.spend(len(value) * (1 + len(schema.named("patternProperties"))) + self._dependents(schema))
        yield _is_within(len(value), schema, "minProperties", "maxProperties")
        required = keywords.get("required")
        yield not isinstance(required, list) or all(name in value for name in required)
        for name, needed in _entries(keywords.get("dependentRequired")):
            yield name not in value or (isinstance(needed, list) and all(one in value for one in needed))
        for name, dependent in schema.named("dependentSchemas").items():
            yield name not in value or self.accepts(dependent, value)
        if "propertyNames" in keywords:
            yield from (self.accepts(schema.child(keywords["propertyNames"]), name) for name in value)
        yield from self._of_members(schema, value)
        if value and (keywords.get("unevaluatedProperties", True) is not True or "dependencies" in keywords):
            yield None

    def _dependents(self, schema: Subschema) -> int:
        return sum(len(schema.named(keyword)) for keyword in ("dependentRequired", "dependentSchemas"))

    def _of_members(self, schema: Subschema, value: dict[str, object]) -> Iterator[Answer]:
        properties, patterns = schema.named("properties"), schema.named("patternProperties")
        other = schema.child(schema.keywords.get("additionalProperties", True))
        for name, member in value.items():
            # Which patterns the name matches is not known, so only what all of them accept is.
            yield from (self.accepts(matched, member) or None for matched in patterns.values())
            if name in properties:
                yield self.accepts(properties[name], member)
            else:
                answer = self.accepts(other, member)
                yield (answer or None) if patterns else answer


_LISTED = ("const", "enum")


def _constants(schema: Subschema, keyword: str) -> list[object]:
    found = schema.keywords.get(keyword)
    return [found] if keyword == "const" else found if isinstance(found, list) else []


def _of_text(schema: Subschema, value: str) -> Answer:
    if not _is_within(len(value), schema, "minLength", "maxLength"):
        return False
    return None if "pattern" in schema.keywords else True


def _of_number(schema: Subschema, value: int | float) -> Answer:
    bounds = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    least, above, limit, under = (schema.keywords.get(name) for name in bounds)
    if (is_number(least) and value < least) or (is_number(above) and value <= above):
        return False
    if (is_number(limit) and value > limit) or (is_number(under) and value >= under):
        return False
    step = schema.keywords.get("multipleOf")
    if not is_number(step) or value == 0:
        return True
    if not is_whole(step) or abs(value) > 2**53:
        return None
    return math.fmod(value, step) == 0


def _is_within(count: int, schema: Subschema, least: str, limit: str) -> bool:
    low, high = schema.keywords.get(least), schema.keywords.get(limit)
    return not (is_number(low) and count < low) and not (is_number(high) and count > high)


def _is_of(value: object, name: object) -> bool:
    if name == "integer":
        return is_number(value) and value == math.floor(value)
    if name == "number":
        return is_number(value)
    kinds = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(name, str) and name in kinds and isinstance(value, kinds[name])


def _entries(value: object) -> Iterable[tuple[str, object]]:
    return value.items() if isinstance(value, dict) else ()


def _all(answers: Iterable[Answer]) -> Answer:
    found: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def _any(answers: Iterable[Answer]) -> Answer:
    return _negated(_all(_negated(answer) for answer in answers))


def _negated(answer: Answer) -> Answer:
    return None if answer is None else not answer


def _counted(answers: list[Answer], least: float, limit: float) -> Answer:
    sure, possible = answers.count(True), len(answers) - answers.count(False)
    if sure >= least and possible <= limit:
        return True
    return False if possible < least or sure > limit else None
