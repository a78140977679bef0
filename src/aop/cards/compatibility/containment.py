"""Proves that whatever one schema accepts, another accepts too. No proof says nothing about the opposite."""

import math
from collections.abc import Collection
from itertools import product

from aop.cards.compatibility.choices import Choices
from aop.cards.compatibility.evaluation import Evaluation
from aop.cards.compatibility.shapes import (
    ArrayShape,
    Members,
    NumberShape,
    ObjectShape,
    OpaqueConstraint,
    Shape,
    StringShape,
    ValuesShape,
    is_whole,
)
from aop.cards.compatibility.subschemas import MAX_DEPTH, NEVER, Sameness, Subschema, Together, names_of, together
from aop.cards.cost import Steps

_MAX_OPTIONS = 16


class Containment:
    """Schemas that refer to themselves are proved by induction over the size of values.

    A pair of schemas that is met again below itself is taken for granted: there it is about a smaller value.
    """

    def __init__(self, choices: Choices, evaluation: Evaluation, steps: Steps) -> None:
        self._choices = choices
        self._evaluation = evaluation
        self._steps = steps
        self._same = Sameness(steps)
        self._granted: dict[tuple[Together, Together], None] = {}
        self._refused: set[tuple[Together, Together]] = set()
        self._emptiness: dict[Together, bool] = {}
        self._depth = 0

    def holds(self, inner: Together, outer: Together) -> bool:
        pair = (inner, outer)
        if pair in self._granted or all(self._repeats(inner, one) for one in outer):
            return True
        if pair in self._refused or self._depth >= MAX_DEPTH:
            return False
        self._steps.spend(1)
        granted = len(self._granted)
        self._granted[pair] = None
        self._depth += 1
        proved = all(self._is_covered(shape, outer) for shape in self._choices.shapes(inner))
        self._depth -= 1
        if not proved:
            # What was proved since then may rest on this pair.
            while len(self._granted) > granted:
                self._granted.popitem()
            self._refused.add(pair)
        return proved

    def _repeats(self, schemas: Together, other: Subschema) -> bool:
        return any(self._same.holds(one, other) for one in schemas)

    def is_empty(self, schemas: Together) -> bool:
        """Whether it is proved that no value satisfies them all."""
        if NEVER in schemas:
            return True
        if schemas not in self._emptiness:
            if self._depth >= MAX_DEPTH:
                return False
            self._emptiness[schemas] = False  # while it is worked out
            self._depth += 1
            self._emptiness[schemas] = all(self._has_none(shape) for shape in self._choices.shapes(schemas))
            self._depth -= 1
        return self._emptiness[schemas]

    def _is_covered(self, shape: Shape, outer: Together) -> bool:
        if self._has_none(shape):
            return True
        if isinstance(shape, ValuesShape):
            return all(self._evaluation.accepts(outer, value) is True for value in shape.values)
        return any(self._is_within(shape, other) for other in self._choices.shapes(outer))

    def _has_none(self, shape: Shape) -> bool:
        if isinstance(shape, NumberShape | StringShape):
            return shape.is_empty
        if isinstance(shape, ArrayShape):
            return shape.least > self.item_limit(shape)
        if isinstance(shape, ObjectShape):
            self._steps.spend(len(shape.required) * len(shape.members))
            return shape.least > self.member_limit(shape) or any(
                all(self.is_empty(option) for option in member_options(shape.members, name)) for name in shape.required
            )
        return not shape.values

    def item_limit(self, shape: ArrayShape) -> float:
        """The largest number of items, also where the schema of an item allows none."""
        self._steps.spend(shape.named * len(shape.prefixes))
        reachable = (at for at in range(shape.named + 1) if at >= shape.limit or self.is_empty(shape.item(at)))
        return min(next(reachable, shape.limit), shape.limit)

    def member_limit(self, shape: ObjectShape) -> float:
        closed = (len(each.properties) for each in shape.members if not each.patterns and self.is_empty(each.other))
        return min([shape.limit, *closed])

    def _is_within(self, shape: Shape, other: Shape) -> bool:
        self._steps.spend(1)
        return self._fits(shape, other) and self._is_outside(shape, other) and self._keeps(shape, other)

    def _fits(self, shape: Shape, other: Shape) -> bool:
        if isinstance(shape, NumberShape) and isinstance(other, NumberShape):
            return _is_number_within(shape, other)
        if isinstance(shape, StringShape) and isinstance(other, StringShape):
            return other.least <= shape.least and shape.limit <= other.limit
        if isinstance(shape, ArrayShape) and isinstance(other, ArrayShape):
            return self._is_array_within(shape, other)
        if isinstance(shape, ObjectShape) and isinstance(other, ObjectShape):
            return self._is_object_within(shape, other)
        return False

    def _is_outside(self, shape: Shape, other: Shape) -> bool:
        """Nothing of the shape is something that the other excludes."""
        return all(
            any(self.holds((one,), (excluded,)) for excluded in shape.choice.excluded)
            or all(self._has_none(narrowed) for narrowed in self._narrowed(shape, one))
            for one in other.choice.excluded
        )

    def _narrowed(self, shape: Shape, schema: Subschema) -> list[Shape]:
        """What of the shape satisfies the schema too."""
        found = self._choices.narrowed(shape.choice, (schema,))
        return [one for one in found if isinstance(one, type(shape)) or _has_value_of(one, shape)]

    def _keeps(self, shape: Shape, other: Shape) -> bool:
        return all(
            any(self._is_repeated(mine, one) for mine in shape.opaque) or _follows(shape, one) for one in other.opaque
        )

    def _is_repeated(self, mine: OpaqueConstraint, other: OpaqueConstraint) -> bool:
        return mine.keyword == other.keyword and self._same.of_values(
            mine.value, other.value, mine.inside, other.inside
        )

    def _is_array_within(self, shape: ArrayShape, other: ArrayShape) -> bool:
        limit = self.item_limit(shape)
        if other.least > shape.least or limit > other.limit or (other.unique and not shape.unique and limit > 1):
            return False
        last = min(max(shape.named, other.named) + 1, limit)
        return all(self.holds(shape.item(at), other.item(at)) for at in range(int(last)))

    def _is_object_within(self, shape: ObjectShape, other: ObjectShape) -> bool:
        limit = self.member_limit(shape)
        if not other.required <= shape.required or other.least > shape.least or limit > other.limit:
            return False
        return limit == 0 or all(self._are_members_within(shape, members) for members in other.members)

    def _are_members_within(self, shape: ObjectShape, members: Members) -> bool:
        patterns = members.patterns.items()
        if not all(
            self.holds(_matching(shape.members, pattern, named=False), schemas) for pattern, schemas in patterns
        ):
            return False
        unshared = [
            schemas
            for pattern, schemas in patterns
            if not self.holds(_matching(shape.members, pattern, named=True), schemas)
        ]
        names = names_of(each.properties for each in (*shape.members, members))
        self._steps.spend(len(names) * len(shape.members))
        for name in names:
            named = members.properties.get(name, members.other)
            if not self._all_hold(member_options(shape.members, name), together(named, *unshared)):
                return False
        rest = member_options(shape.members, None, members.patterns)
        return self._all_hold(rest, members.other)

    def _all_hold(self, options: list[Together], outer: Together) -> bool:
        return all(self.holds(option, outer) for option in options)


def member_options(members: tuple[Members, ...], name: str | None, unmatched: Collection[str] = ()) -> list[Together]:
    """What the schemas may say of a member: one of these. Without a name, of one that no `properties` names.

    The name matches none of the patterns in `unmatched`.
    """
    parts: list[list[Together]] = []
    for each in members:
        if name is not None and name in each.properties:
            parts.append([each.properties[name]])
        else:
            matched = [schemas for pattern, schemas in each.patterns.items() if pattern not in unmatched]
            parts.append([*matched, each.other])
    if math.prod(map(len, parts)) > _MAX_OPTIONS:
        parts = [options for options in parts if len(options) == 1]
    return [together(*option) for option in product(*parts)]


def _matching(members: tuple[Members, ...], pattern: str, *, named: bool) -> Together:
    """What surely applies to a member whose name matches the pattern; `named` says that `properties` may have it."""
    found = [each.patterns[pattern] for each in members if pattern in each.patterns]
    if not named:
        found.extend(each.other for each in members if not each.patterns)
    return together(*found)


def _is_number_within(shape: NumberShape, other: NumberShape) -> bool:
    if shape.low < other.low or (shape.low == other.low and other.above and not shape.above):
        return False
    if shape.high > other.high or (shape.high == other.high and other.under and not shape.under):
        return False
    return (shape.integral or not other.integral) and all(_is_multiple(shape, step) for step in other.steps)


def _is_multiple(shape: NumberShape, step: float) -> bool:
    if shape.integral and step == 1:
        return True
    return any(one == step or (is_whole(one) and is_whole(step) and one % step == 0) for one in shape.steps)


def _follows(shape: Shape, constraint: OpaqueConstraint) -> bool:
    """Whether a constraint that the shape does not repeat holds all the same."""
    if constraint.keyword == "dependentRequired" and isinstance(shape, ObjectShape):
        return isinstance(constraint.value, list) and constraint.value[1] in shape.required
    return False


def _has_value_of(narrowed: Shape, shape: Shape) -> bool:
    kinds = {NumberShape: (int, float), StringShape: (str,), ArrayShape: (list,), ObjectShape: (dict,)}
    return isinstance(narrowed, ValuesShape) and any(
        isinstance(value, kinds[type(shape)]) and not isinstance(value, bool) for value in narrowed.values
    )
