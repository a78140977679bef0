"""What two versions of an Agent mean for those who use its Skills: inputs of callers, and outputs for readers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.base.canonical import NotCanonical, canonical
from aop.cards.bounds import SMALL_NS, check_ns
from aop.cards.compatibility.choices import Choices
from aop.cards.compatibility.containment import Containment
from aop.cards.compatibility.evaluation import Evaluation
from aop.cards.compatibility.examples import Examples
from aop.cards.compatibility.subschemas import SchemaDocument, Together, Undecided, together
from aop.cards.cost import Location, Steps, StepsSpent
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused
from aop.contracts.compatibility import Compatible, SchemaAnswer, SkillAnswers
from aop.contracts.documents import compiled

MAX_STEPS = 60_000
"""Of all schemas of one comparison together, for the proofs; as many for the examples."""
_MAX_SIDE_STEPS = 20_000
_MAX_EXAMPLES = 3
_NUMBERS = 10_000_000
"""More than one schema can have subschemas."""
_INPUTS: Mapping[str, Any] = {"type": ["object", "string"]}
"""An Invocation carries nothing else."""

# Sums and quotients of the numbers in two schemas can leave the doubles and the safe integers.
_UNDECIDED = (Undecided, StepsSpent, ArithmeticError, NotCanonical)

Schema = Mapping[str, Any]
_ANYTHING: Schema = {}


def skill_compatibilities(before: Schema, after: Schema) -> Sequence[SkillAnswers]:
    """Of each Skill that both Cards have, in the order of the newer one. Both Cards follow the rules of Cards."""
    older = {skill["id"]: skill for skill in before["skills"]}
    pairs = [(older[skill["id"]], skill) for skill in after["skills"] if skill["id"] in older]
    share = min(MAX_STEPS // max(sum(map(_changed, pairs)), 1), _MAX_SIDE_STEPS)
    old, new = _Validators(), _Validators()
    return [
        SkillAnswers(
            skill_id=skill["id"],
            inputs=_compared(
                _Pair(was["inputSchema"], skill["inputSchema"], _INPUTS), share, accepted_by=old, refused_by=new
            ),
            outputs=_compared(
                _Pair(skill["outputSchema"], was["outputSchema"], _ANYTHING), share, accepted_by=new, refused_by=old
            ),
        )
        for was, skill in pairs
    ]


def compatibility(accepted: Schema, by: Schema, *, within: Schema | None = None) -> SchemaAnswer:
    """Whether each value that the one schema accepts, and `within` too, is accepted by the other."""
    pair = _Pair(accepted, by, within or _ANYTHING)
    return _compared(pair, _MAX_SIDE_STEPS, accepted_by=_Validators(), refused_by=_Validators())


def _changed(pair: tuple[Schema, Schema]) -> int:
    return sum(pair[0][name] != pair[1][name] for name in ("inputSchema", "outputSchema"))


class _Validators:
    """Those that check calls, for the schemas of one Card; together they cost no more than its registration did."""

    def __init__(self) -> None:
        self._vetting = SchemaVetting()
        self._locations: dict[bytes, Sequence[Location] | None] = {}

    def accepts(self, schema: Schema, value: object) -> bool | None:
        """None when that would cost more than a small check may."""
        key = canonical(schema)
        if key not in self._locations:
            self._locations[key] = self._vetted(schema)
        locations = self._locations[key]
        if locations is None or check_ns(locations, value, SMALL_NS) > SMALL_NS:
            return None
        return compiled(schema, formats=False).is_valid(value)

    def _vetted(self, schema: Schema) -> Sequence[Location] | None:
        try:
            return self._vetting.require_usable(schema)
        except SkillSchemaRefused:
            return None


def _compared(pair: "_Pair", steps: int, *, accepted_by: _Validators, refused_by: _Validators) -> SchemaAnswer:
    """Every schema has the same number of steps, so one that is made to cost takes nothing from the others."""
    if canonical(pair.accepted) == canonical(pair.by) or pair.is_contained(Steps(steps)):
        return SchemaAnswer(compatible=Compatible.YES)
    for example in pair.examples(Steps(steps)):
        if accepted_by.accepts(pair.accepted, example) is True and refused_by.accepts(pair.by, example) is False:
            return SchemaAnswer(compatible=Compatible.NO, example=msgspec.Raw(msgspec.json.encode(example)))
    return SchemaAnswer(compatible=Compatible.NOT_DECIDED)


@dataclass(frozen=True)
class _Pair:
    accepted: Schema
    by: Schema
    within: Schema

    def is_contained(self, steps: Steps) -> bool:
        evaluation = Evaluation(steps)
        inner, outer = self._documents()
        try:
            return Containment(Choices(evaluation, steps), evaluation, steps).holds(inner, outer)
        except _UNDECIDED:
            return False

    def examples(self, steps: Steps) -> Iterator[object]:
        evaluation = Evaluation(steps)
        choices = Choices(evaluation, steps)
        inner, outer = self._documents()
        found = Examples(choices, evaluation, steps).between(inner, outer)
        try:
            for _ in range(_MAX_EXAMPLES):
                yield next(found)
        except (*_UNDECIDED, StopIteration):
            return

    def _documents(self) -> tuple[Together, Together]:
        schemas = (self.accepted, self.by, self.within)
        accepted, by, within = (SchemaDocument(schema, 1 + at * _NUMBERS) for at, schema in enumerate(schemas))
        return together((accepted.root,), (within.root,)), (by.root,)
