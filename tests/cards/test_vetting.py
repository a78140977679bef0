"""Vetting of Skill schemas (contract 2.3): what is usable, what is refused, and that vetting itself stays cheap."""

import time
from typing import Any

import pytest

from aop.cards.vetting import BYTES_IN_LOOP, NotInLoop, SchemaVetting, SkillSchemaRefused, VettingExhausted
from tests.cards.hostile import MANY_WAYS
from tests.support.effort import effort
from tests.support.every import every

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NODE = {"$ref": "#/$defs/node"}
Schema = dict[str, Any]


def usable(schema: Schema) -> bool:
    try:
        SchemaVetting().require_usable(schema)
    except SkillSchemaRefused:
        return False
    return True


def chain(length: int) -> Schema:
    links: Schema = {f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(length)}
    return {"$ref": "#/$defs/a0", "$defs": {**links, f"a{length}": {"type": "string"}}}


def doubling(length: int) -> Schema:
    links: Schema = {
        f"a{number}": {"allOf": [{"$ref": f"#/$defs/a{number + 1}"}, {"$ref": f"#/$defs/a{number + 1}"}]}
        for number in range(length)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**links, f"a{length}": {}}}


@every(
    "schema",
    [
        {},
        {"$schema": DIALECT},
        {"$schema": DIALECT + "#", "properties": {"a": {"$schema": DIALECT}}},
        {"$ref": "#/$defs/t", "$defs": {"t": True}},
        {"$ref": "#/definitions/t", "definitions": {"t": {}}},
        {"$ref": "#there", "$defs": {"t": {"$anchor": "there"}}},
        {"$dynamicRef": "#n", "$defs": {"t": {"$dynamicAnchor": "n", "type": "string"}}},
        {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {}}},
        {"$id": "http://127.0.0.1:9/own", "$ref": "#/$defs/t", "$defs": {"t": {}}},
        {"items": {"$ref": "#"}},
        {"properties": {"next": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
        {**NODE, "$defs": {"node": {"properties": {"a": NODE, "": NODE}, "additionalProperties": NODE}}},
        {**NODE, "$defs": {"node": {"prefixItems": [NODE, NODE], "items": NODE, "unevaluatedItems": NODE}}},
        {"properties": {f"p{number}": {"type": "string"} for number in range(1500)}},
        {"pattern": "a" * 512},
        {"pattern": r"^\p{L}[\p{L}\p{N} ]{0,63}$", "properties": {"d": {"pattern": r"^(?<y>\d{4})-(?<m>\d\d)$"}}},
        {"patternProperties": {r"(?x) a # comment": {}, r"(?<y>a)": {}, r"\(?<y>": {}}},
        {"format": "made-up", "x-own": {"$ref": "http://127.0.0.1:9/never-read"}},
        {"enum": [{"$ref": "http://127.0.0.1:9/just-a-value"}]},
        {"minLength": 1e300, "multipleOf": 1e-300},
    ],
)
def test_a_usable_schema_passes(schema: Schema) -> None:
    SchemaVetting().require_usable(schema)


@pytest.mark.rows("CAT-09")
@every(
    "schema",
    [
        {"type": "strnig"},
        {"minLength": -1},
        {"properties": []},
        {"$id": 5},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"properties": {"a": {"$schema": "https://example.com/mine"}}},
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "other.json"},
        {"$ref": "urn:a:b"},
        {"$ref": ""},
        {"$dynamicRef": "http://127.0.0.1:9/x#n"},
        {"dependencies": {"a": {"$ref": "http://127.0.0.1:9/x"}}},
        {"$ref": "#/x-own", "x-own": {"$ref": "http://127.0.0.1:9/x"}},
        {"$ref": "#/nowhere"},
        {"$ref": "#nowhere"},
        {"$ref": "#/enum", "enum": [1]},
        {"$ref": "#/%zz"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$id": "urn:a:b"}, "b": {"$id": "urn:a:b"}}},
        {"$ref": "#x", "$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}},
    ],
)
def test_a_schema_that_is_invalid_ambiguous_or_leads_outside_is_refused(schema: Schema) -> None:
    assert not usable(schema)


@pytest.mark.rows("CAT-09")
@every("pattern", ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", "(", "a{2,1}", "a" * 513])
@every("place", ["pattern", "patternProperties", "dependencies", "reference"])
def test_a_pattern_that_does_not_run_in_linear_time_or_is_too_long_is_refused_wherever_it_stands(
    place: str, pattern: str
) -> None:
    schemas: dict[str, Schema] = {
        "pattern": {"properties": {"a": {"pattern": pattern}}},
        "patternProperties": {"patternProperties": {pattern: {}}},
        "dependencies": {"dependencies": {"a": {"pattern": pattern}}},
        "reference": {"$ref": "#/const", "const": {"pattern": pattern}},
    }
    assert not usable(schemas[place])


@pytest.mark.rows("CAT-09")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"if": {}, "then": {"dependentSchemas": {"x": {"$ref": "#"}}}},
        {"dependencies": {"x": {"$ref": "#"}}},
        {"$dynamicAnchor": "n", "$dynamicRef": "#n"},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {
            "$dynamicAnchor": "n",
            "$ref": "#/$defs/sub",
            "$defs": {"sub": {"$id": "urn:s", "$dynamicRef": "#n", "$defs": {"x": {"$dynamicAnchor": "n"}}}},
        },
    ],
)
def test_a_circle_of_references_that_consumes_nothing_is_refused(schema: Schema) -> None:
    assert not usable(schema)


def test_ten_thousand_subschemas_at_one_location_pass_and_one_more_does_not() -> None:
    hundred: Schema = {"allOf": [{} for _ in range(99)]}

    def of(count: int) -> Schema:
        whole, rest = divmod(count - 1, 101)
        parts: list[Schema] = [{"$ref": "#/$defs/h"} for _ in range(whole)] + [{} for _ in range(rest)]
        return {"allOf": parts, "$defs": {"h": hundred}}

    assert usable(of(10_000))
    assert not usable(of(10_001))


def test_a_recursive_schema_that_doubles_at_each_level_is_refused() -> None:
    twice: Schema = {"properties": {"a": NODE}, "patternProperties": {"a": NODE}}
    assert not usable({**NODE, "$defs": {"node": twice}})
    assert not usable({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]})
    assert not usable({"contains": {"$ref": "#"}, "items": {"$ref": "#"}})


@pytest.mark.rows("CAT-09")
@pytest.mark.parametrize("length", [14, 40, 400])
def test_a_doubling_chain_is_refused(length: int) -> None:
    assert not usable(doubling(length))


def test_a_long_plain_chain_of_references_is_no_fault() -> None:
    assert usable(chain(1500))


@pytest.mark.rows("CAT-09")
def test_size_is_measured_on_the_canonical_form() -> None:
    empty = len('{"const":""}')
    assert usable({"const": "x" * (65_536 - empty)})
    assert not usable({"const": "x" * (65_537 - empty)})
    assert not usable({"const": "é" * 32_768})


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {rf"\p{{L}}{{200}}{number}": {} for number in range(100)}},
        {"patternProperties": {f"((a{{50}}){{50}}){{50}}{number}": {} for number in range(500)}},
        MANY_WAYS,
    ],
    ids=["large automata", "nested repetitions", "many ways"],
)
def test_refusing_a_costly_schema_is_cheap(schema: Schema) -> None:
    with effort() as spent:
        assert not usable(schema)
    assert spent.seconds < 5


def test_many_costly_schemas_cost_no_more_than_a_few() -> None:
    """What is refused costs the same whether a Card holds ten such schemas or a thousand."""
    vetting, started = SchemaVetting(), time.process_time()

    def vet_a_thousand() -> None:
        for number in range(1000):
            vetting.require_usable({"pattern": r"^\p{L}{1,64}$"})
            assert time.process_time() - started < 20, f"{number + 1} costly schemas were vetted, and no end is near"

    with pytest.raises(VettingExhausted):
        vet_a_thousand()


@pytest.mark.rows("SAFE-01")
def test_the_schemas_of_a_card_share_what_may_be_vetted_in_the_loop() -> None:
    vetting, schema = SchemaVetting.in_loop(), {"title": "x" * (BYTES_IN_LOOP // 2 - 100)}
    vetting.require_usable(schema)
    vetting.require_usable(schema)
    with pytest.raises(NotInLoop):
        vetting.require_usable(schema)
