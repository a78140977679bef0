"""Finds a value that one schema accepts and another refuses, near the places where the two differ."""

import math
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice

from aop.cards.compatibility.choices import Choices
from aop.cards.compatibility.containment import member_options
from aop.cards.compatibility.evaluation import Evaluation
from aop.cards.compatibility.shapes import (
    MAX_SAFE,
    ArrayShape,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
    ValuesShape,
)
from aop.cards.compatibility.subschemas import Together, names_of, value_key
from aop.cards.cost import Steps

_MAX_DEPTH = 8
_MAX_COUNT = 300
"""Of characters, items or members of a value that is made."""
_MAX_TRIED = 3
"""Values for one place inside another value."""


Values = Generator[object, None, None]


class Examples:
    """Every value it gives is accepted and refused by `Evaluation`; not finding one means nothing."""

    def __init__(self, choices: Choices, evaluation: Evaluation, steps: Steps) -> None:
        self._choices = choices
        self._evaluation = evaluation
        self._steps = steps
        self._depth = 0

    def between(self, accepted: Together, refused: Together) -> Values:
        """Values of the one that the other refuses."""
        if self._depth >= _MAX_DEPTH or not refused:
            return
        self._depth += 1
        try:
            for shape in self._choices.shapes(accepted):
                others = self._choices.shapes(refused)
                for value in chain(self._near(shape, others), self._excluded(shape, others)):
                    if self._evaluation.accepts(refused, value) is False and self._is_in(accepted, value):
                        yield value
        finally:
            self._depth -= 1

    def values(self, schemas: Together) -> Values:
        """Some that satisfy them all, the plainest first."""
        if self._depth >= _MAX_DEPTH:
            return
        self._depth += 1
        try:
            for shape in self._choices.shapes(schemas):
                for value in self._near(shape, ()):
                    if self._is_in(schemas, value):
                        yield value
        finally:
            self._depth -= 1

    def _is_in(self, schemas: Together, value: object) -> bool:
        return self._evaluation.accepts(schemas, value) is True

    def _near(self, shape: Shape, others: Iterable[Shape]) -> Values:
        """Values that may be of the shape, at its bounds and at those of the others."""
        if isinstance(shape, ValuesShape):
            yield from shape.values
        elif isinstance(shape, NumberShape):
            yield from _numbers([shape, *(other for other in others if isinstance(other, NumberShape))])
        elif isinstance(shape, StringShape):
            alike = [shape, *(other for other in others if isinstance(other, StringShape))]
            yield from (character * count for count in _counts(alike) for character in "ab")
        elif isinstance(shape, ArrayShape):
            yield from self._arrays(shape, [other for other in others if isinstance(other, ArrayShape)])
        else:
            yield from self._objects(shape, [other for other in others if isinstance(other, ObjectShape)])

    def _excluded(self, shape: Shape, others: Iterable[Shape]) -> Values:
        """Values of the shape that satisfy what one of the others excludes."""
        for excluded in dict.fromkeys(one for other in others for one in other.choice.excluded):
            for narrowed in self._choices.narrowed(shape.choice, (excluded,)):
                yield from self._near(narrowed, ())

    def _arrays(self, shape: ArrayShape, others: list[ArrayShape]) -> Values:
        for count in _counts([shape, *others]):
            yield self._array(shape, count)
        for other in others:
            for at in range(max(shape.named, other.named) + 1):
                for item in _first(_MAX_TRIED, self.between(shape.item(at), other.item(at))):
                    made = self._array(shape, max(shape.least, at + 1))
                    yield [*made[:at], item, *made[at + 1 :]]
        for repeated in _first(1, self.values(shape.item(0))):
            yield [repeated] * min(max(shape.least, 2), _MAX_COUNT)

    def _array(self, shape: ArrayShape, count: int) -> list[object]:
        """Of so many items, or fewer when there are no more; where they must differ, they do."""
        made: list[object] = []
        taken: set[bytes] = set()
        for at in range(min(count, _MAX_COUNT)):
            with closing(self.values(shape.item(at))) as possible:
                fresh = (one for one in possible if not shape.unique or value_key(one, self._steps) not in taken)
                found = list(islice(fresh, 1))
            if not found:
                break
            taken.add(value_key(found[0], self._steps))
            made.append(found[0])
        return made

    def _objects(self, shape: ObjectShape, others: list[ObjectShape]) -> Values:
        base = self._object(shape)
        yield base
        mentioned = (name for other in others for name in other.mentioned)
        every = [*shape.names, *mentioned, *self._refused_names(others), _new_name(shape, others)]
        for name in dict.fromkeys(every):
            for value in _first(1, self._values_of_member(shape, name)):
                yield {**base, name: value}
        for other in others:
            for name in names_of([*(each.properties for each in (*shape.members, *other.members)), {every[-1]: ()}]):
                for value in _first(_MAX_TRIED, self._breaking(shape, other, name)):
                    yield {**base, name: value}
        yield from self._counted(shape, base, others)

    def _refused_names(self, others: list[ObjectShape]) -> Iterator[str]:
        for opaque in (one for other in others for one in other.opaque if one.keyword == "propertyNames"):
            with closing(self.between((), opaque.inside.child(opaque.value))) as refused:
                found = list(islice((one for one in refused if isinstance(one, str)), 1))
            yield from found

    def _object(self, shape: ObjectShape) -> dict[str, object]:
        made: dict[str, object] = {}
        for name in sorted(shape.required):
            made.update((name, value) for value in _first(1, self._values_of_member(shape, name)))
        return self._grown(shape, made, shape.least)

    def _grown(self, shape: ObjectShape, base: dict[str, object], count: int) -> dict[str, object]:
        made = dict(base)
        extra = (f"x{number}" for number in range(1, _MAX_COUNT))
        for name in (*shape.names, *extra):
            if len(made) >= min(count, _MAX_COUNT):
                break
            self._steps.spend(1)
            if name not in made:
                made.update((name, value) for value in _first(1, self._values_of_member(shape, name)))
        return made

    def _counted(self, shape: ObjectShape, base: dict[str, object], others: list[ObjectShape]) -> Values:
        for count in _counts([shape, *others]):
            if count > len(base):
                yield self._grown(shape, base, count)

    def _values_of_member(self, shape: ObjectShape, name: str) -> Values:
        for option in member_options(shape.members, name):
            yield from self.values(option)

    def _breaking(self, shape: ObjectShape, other: ObjectShape, name: str) -> Values:
        for option in member_options(shape.members, name):
            for outer in member_options(other.members, name):
                yield from self.between(option, outer)


def _first(count: int, values: Values) -> list[object]:
    """So that no search stays open, and counts as depth, longer than it is used."""
    with closing(values):
        return list(islice(values, count))


def _new_name(shape: ObjectShape, others: list[ObjectShape]) -> str:
    taken = names_of(each.properties for one in (shape, *others) for each in one.members)
    return next(name for number in range(len(taken) + 1) if (name := f"x{number or ''}") not in taken)


def _counts(shapes: list[StringShape] | list[ArrayShape] | list[ObjectShape]) -> list[int]:
    """Lengths at and around the bounds."""
    found = {0, 1, 2}
    for shape in shapes:
        found.update((shape.least - 1, shape.least))
        if shape.limit < math.inf:
            found.update((int(shape.limit), int(shape.limit) + 1))
    return sorted(count for count in found if 0 <= count <= _MAX_COUNT)


def _numbers(shapes: list[NumberShape]) -> Values:
    bounds = [0, *(bound for shape in shapes for bound in (shape.low, shape.high) if abs(bound) < MAX_SAFE)]
    steps = [1, *(step for shape in shapes for step in shape.steps)]
    for bound in bounds:
        yield bound
        for step in steps:
            below = math.floor(bound / step) * step
            yield from (bound - step, bound + step, below, below + step, below - step)
        yield from (bound + 0.5, bound - 0.5, bound + 0.25)
