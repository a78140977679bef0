"""The choices that a schema leaves: each branch, reference and condition decided, in bounded number."""

from collections.abc import Iterator

from aop.cards.compatibility.evaluation import Evaluation
from aop.cards.compatibility.shapes import (
    Choice,
    Shape,
    ValuesShape,
    array_shape,
    number_shape,
    object_shape,
    string_shape,
)
from aop.cards.compatibility.subschemas import NEVER, Subschema, Together, Undecided, refusal, together, value_key
from aop.cards.cost import Steps

MAX_CHOICES = 64
"""Of one schema at one location."""

_MAX_TOGETHER = 512
"""Subschemas that apply at one location by one choice."""
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_FINITE = {"null": (None,), "boolean": (False, True)}


class Choices:
    """By the subschemas that apply together; each is worked out once."""

    def __init__(self, evaluation: Evaluation, steps: Steps) -> None:
        self._evaluation = evaluation
        self._steps = steps
        self._shapes: dict[tuple[int, ...], tuple[Shape, ...]] = {}

    def shapes(self, schemas: Together) -> tuple[Shape, ...]:
        key = tuple(one.number for one in schemas)
        if key not in self._shapes:
            self._shapes[key] = self.narrowed(Choice((), ()), schemas)
        return self._shapes[key]

    def narrowed(self, choice: Choice, schemas: Together) -> tuple[Shape, ...]:
        """The shapes of what satisfies both."""
        return tuple(shape for each in self._ways(choice, schemas) for shape in self._shapes_of(each))

    def _ways(self, choice: Choice, schemas: Together) -> list[Choice]:
        ended: list[Choice] = []
        open_ways: list[tuple[Choice, Together]] = [(choice, schemas)]
        while open_ways:
            self._steps.spend(1)
            way, waiting = open_ways.pop()
            if not waiting:
                ended.append(way)
                continue
            if len(way.own) + len(waiting) > _MAX_TOGETHER:
                raise Undecided
            first, rest = waiting[0], waiting[1:]
            if first is NEVER:
                continue
            if not first.is_supported:
                raise Undecided
            if first in way.own:
                open_ways.append((way, rest))
                continue
            taken = Choice((*way.own, first), way.excluded)
            open_ways.extend(reversed([_joined(taken, rest, branch) for branch in _branches(first)]))
            if len(open_ways) + len(ended) > MAX_CHOICES:
                raise Undecided
        return ended

    def _shapes_of(self, choice: Choice) -> Iterator[Shape]:
        types = set(_TYPES)
        values: tuple[object, ...] | None = None
        for one in choice.own:
            types &= _types(one)
            values = _common(values, _listed_values(one), self._steps)
        if values is None:
            for name, finite in _FINITE.items():
                yield from self._values(choice, finite if name in types else ())
            yield from _unbounded(choice, types)
        else:
            yield from self._values(choice, values)

    def _values(self, choice: Choice, values: tuple[object, ...]) -> Iterator[Shape]:
        possible = tuple(value for value in values if self._is_possible(choice, value))
        if possible:
            yield ValuesShape(choice, (), possible)

    def _is_possible(self, choice: Choice, value: object) -> bool:
        check = self._evaluation.accepts
        return all(check((one,), value) is not False for one in choice.own) and not any(
            check((one,), value) is True for one in choice.excluded
        )


def _unbounded(choice: Choice, types: set[str]) -> Iterator[Shape]:
    if "integer" in types:
        yield number_shape(choice, integral="number" not in types)
    if "string" in types:
        yield string_shape(choice)
    if "array" in types:
        yield array_shape(choice)
    if "object" in types:
        yield object_shape(choice)


_Branch = tuple[Together, Together]
"""What must hold too, and what must not."""


def _branches(schema: Subschema) -> list[_Branch]:
    """The ways to satisfy the keywords that leave one; each goes with each."""
    if sum(len(schema.listed(keyword)) for keyword in ("allOf", "anyOf", "oneOf")) > _MAX_TOGETHER:
        raise Undecided
    ways: list[_Branch] = [(_always(schema), _never(schema))]
    anyone = schema.listed("anyOf")
    one = schema.listed("oneOf")
    groups: list[list[_Branch]] = []
    if "anyOf" in schema.keywords:
        groups.append([(branch, ()) for branch in anyone])
    if "oneOf" in schema.keywords:
        groups.append([(branch, _others(schema, at)) for at, branch in enumerate(one)])
    if "if" in schema.keywords:
        condition = schema.child(schema.keywords["if"])
        then, otherwise = (schema.child(schema.keywords.get(name, True)) for name in ("then", "else"))
        groups.append([(together(condition, then), ()), (otherwise, refusal(schema, condition))])
    for group in groups:
        ways = [(together(held, more), (*refused, *less)) for held, refused in ways for more, less in group]
        if len(ways) > MAX_CHOICES:
            raise Undecided
    return ways


def _always(schema: Subschema) -> Together:
    found = list(schema.listed("allOf"))
    if "$ref" in schema.keywords:
        target = schema.target()
        if target is None:
            raise Undecided
        found.append((target,))
    return together(*found)


def _never(schema: Subschema) -> Together:
    return refusal(schema, schema.child(schema.keywords["not"])) if "not" in schema.keywords else ()


def _others(schema: Subschema, at: int) -> Together:
    branches = schema.listed("oneOf")
    return together(*(refusal(schema, branch) for index, branch in enumerate(branches) if index != at))


def _joined(choice: Choice, waiting: Together, branch: _Branch) -> tuple[Choice, Together]:
    held, refused = branch
    return Choice(choice.own, together(choice.excluded, refused)), (*held, *waiting)


def _types(schema: Subschema) -> set[str]:
    named = schema.keywords.get("type", _TYPES)
    found = {named} if isinstance(named, str) else set(named) if isinstance(named, list | tuple) else set(_TYPES)
    return found | {"integer"} if "number" in found else found


def _listed_values(schema: Subschema) -> list[object] | None:
    if "const" in schema.keywords:
        return [schema.keywords["const"]]  # an enum with it takes part when values are evaluated
    found = schema.keywords.get("enum")
    return found if isinstance(found, list) else None


def _common(values: tuple[object, ...] | None, listed: list[object] | None, steps: Steps) -> tuple[object, ...] | None:
    if listed is None:
        return values
    steps.spend(len(listed))
    keyed = {value_key(value, steps): value for value in listed}
    if values is None:
        return tuple(keyed.values())
    return tuple(value for value in values if value_key(value, steps) in keyed)
