"""Whether a new schema accepts what the old one did: proved, refuted by an example, or not decided."""

from typing import Any

import msgspec
import pytest

from aop.cards.compatibility.evaluation import Evaluation
from aop.cards.compatibility.skills import MAX_STEPS, compatibility, skill_compatibilities
from aop.cards.compatibility.subschemas import SchemaDocument
from aop.cards.cost import Steps
from aop.contracts.compatibility import Compatible, SchemaAnswer, SkillAnswers
from aop.contracts.documents import compiled
from tests.cards.compatibility_search import is_usable, searched
from tests.cards.hostile import DEAR_TO_VET, LETTERS, MANY_WAYS, WIDE, Schema, many_constants, many_minimums
from tests.cards.near_values import NearValues
from tests.cards.schema_pairs import PairDraw
from tests.support.every import every
from tests.support.vectors import each

pytestmark = pytest.mark.second_ring


@each("schema-compatibility")
def test_a_pair_of_schemas_is_judged_as_its_vector_says(case: dict[str, Any]) -> None:
    found = compatibility(case["accepted"], case["by"], within=case.get("within"))
    assert (found.compatible, _example(found)) == (case["compatible"], case.get("example"))


@each("schema-compatibility")
def test_the_example_of_a_vector_is_accepted_by_the_first_schema_alone(case: dict[str, Any]) -> None:
    if case["compatible"] == "no":
        accepted = [case["accepted"], *([case["within"]] if "within" in case else [])]
        assert all(compiled(schema, formats=False).is_valid(case["example"]) for schema in accepted)
        assert not compiled(case["by"], formats=False).is_valid(case["example"])


@every("seed", range(40))
def test_no_value_near_a_schema_refutes_that_all_of_its_values_stay_valid(seed: int) -> None:
    draw = PairDraw(seed)
    for pair in (draw.edited(), draw.mixed()):
        if is_usable(pair.before, pair.after):
            assert not (result := searched(pair, draw.pick, 40)).is_refuted, (pair, result.counterexample)


@every("seed", range(40))
def test_an_evaluation_that_knows_the_answer_gives_the_one_of_the_validator(seed: int) -> None:
    draw = PairDraw(seed)
    for schema in (draw.edited().after, draw.mixed().before, draw.mixed().after):
        if not is_usable(schema):
            continue
        validator, near = compiled(schema, formats=False), NearValues(draw.pick, schema)
        for _ in range(20):
            value = near.value(schema)
            answer = Evaluation(Steps(10_000)).accepts((SchemaDocument(schema, 1).root,), value)
            assert answer is None or answer is validator.is_valid(value), (schema, value)


def _chain(count: int, **last: Any) -> Schema:
    parts = {f"p{at}": {"properties": {"next": {"$ref": f"#/$defs/p{at + 1}"}}} for at in range(count)}
    return {"$ref": "#/$defs/p0", "$defs": {**parts, f"p{count}": last}}


_WIDE_UNIONS = {"allOf": [{"anyOf": [{"required": [f"{at}{name}"]} for name in range(40)]} for at in range(40)]}
_HOSTILE: list[tuple[Schema, Schema]] = [
    (many_minimums(), many_minimums(-1)),
    (many_constants(), many_constants(2999)),
    (many_constants(2999), many_constants()),
    (LETTERS, {**LETTERS, "required": ["v"]}),
    (WIDE, {**WIDE, "minProperties": 1}),
    (MANY_WAYS, {**MANY_WAYS, "maxProperties": 9}),
    (_WIDE_UNIONS, {**_WIDE_UNIONS, "maxProperties": 3}),
    (_chain(900), _chain(900, type="null")),
    ({"enum": [f"e{at}" for at in range(6000)]}, {"enum": [f"e{at}" for at in range(1, 6000)]}),
    ({"const": {f"e{at}": at for at in range(4000)}}, {"enum": [{f"e{at}": 0 for at in range(2000)}, 1]}),
    ({"prefixItems": [{"minimum": at} for at in range(2500)]}, {"items": {"minimum": 3}}),
    ({"multipleOf": 1e-300, "minimum": 5e-324}, {"multipleOf": 3, "maximum": 1.5e308}),
    ({"minLength": 2**53 - 1}, {"maxLength": 2**53 - 2}),
    ({"type": "array", "minItems": 2**53 - 1}, {"type": "array", "uniqueItems": True}),
    ({"type": "object", "minProperties": 2**53 - 1}, {"type": "object", "maxProperties": 2**53 - 2}),
    *(
        (schema, {"allOf": [schema], "not": {"required": ["zz"]}})
        for schemas in DEAR_TO_VET.values()
        for schema in schemas[:1]
    ),
]


@every(("older", "newer"), _HOSTILE, ids=range(len(_HOSTILE)))
def test_schemas_made_to_cost_end_within_their_steps(older: Schema, newer: Schema) -> None:
    """No step takes long, so what ends here at all ends within a second or two; it is never wrong."""
    found = compatibility(older, newer)
    if found.compatible is Compatible.NO:
        assert compiled(older, formats=False).is_valid(_example(found))
        assert not compiled(newer, formats=False).is_valid(_example(found))


def test_a_schema_made_to_cost_takes_no_steps_from_the_other_skills() -> None:
    plain = {"type": "object", "properties": {"n": {"type": "integer"}}}
    older = [_skill(str(at), many_constants(), {}) for at in range(3)]
    newer = [_skill(str(at), many_constants(2990 + at), {}) for at in range(3)]
    found = skill_compatibilities(
        {"skills": [*older, _skill("last", plain, {})]},
        {"skills": [*newer, _skill("last", {**plain, "required": ["n"]}, {})]},
    )
    assert found[-1].inputs.compatible is Compatible.NO
    assert _example(found[-1].inputs) == {}
    assert MAX_STEPS / (2 * len(found)) > 1_000


def _example(answer: SchemaAnswer) -> Any:
    return None if answer.example is msgspec.UNSET else msgspec.json.decode(answer.example)


def _skill(skill_id: str, inputs: Schema, outputs: Schema) -> Schema:
    return {"id": skill_id, "inputSchema": inputs, "outputSchema": outputs}


def test_inputs_are_judged_for_callers_of_the_old_version_and_outputs_for_its_readers() -> None:
    narrow, wide = {"type": "string", "maxLength": 3}, {"type": "string"}
    older = {"skills": [_skill("a", narrow, narrow), _skill("gone", {}, {}), _skill("same", wide, narrow)]}
    newer = {"skills": [_skill("same", wide, narrow), _skill("a", wide, wide), _skill("new", {}, {})]}
    assert [_words(skill) for skill in skill_compatibilities(older, newer)] == [
        ("same", "yes", "yes"),
        ("a", "yes", "no"),
    ]
    assert [_words(skill) for skill in skill_compatibilities(newer, older)] == [
        ("a", "no", "yes"),
        ("same", "yes", "yes"),
    ]


def _words(skill: SkillAnswers) -> tuple[str, str, str]:
    return skill.skill_id, skill.inputs.compatible, skill.outputs.compatible


def test_a_drawn_pair_is_the_same_for_the_same_seed_and_edits_are_of_every_kind() -> None:
    assert PairDraw(1).edited() == PairDraw(1).edited()
    kinds = {name for seed in range(60) for name in PairDraw(seed).edited().edit.removeprefix("undone ").split()}
    assert len(kinds) == 9
