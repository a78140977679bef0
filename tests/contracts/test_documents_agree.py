"""The contract documents, their examples and the Python readers say the same, in both directions."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from aop.base import json as strict_json
from aop.contracts.documents import document
from aop.contracts.errors import Envelope, ErrorCode, Violation, code_entries
from tests.support import agreement
from tests.support.contracts import (
    CONTRACTS,
    DEFINITIONS,
    DOCUMENTS,
    Invalid,
    Valid,
    definitions_of,
    documents_on_disk,
    invalid_examples,
    readers,
    valid_examples,
)
from tests.support.every import every

READERS = readers()
VALID = list(valid_examples())
INVALID = list(invalid_examples())
STRICT_JSON_RULES = frozenset(strict_json.JsonRule)
# What a reader knows without the schema: shape, not text forms or bounds.
SHAPE_RULES = frozenset({"required", "type", "enum", "const", "additional_member"})
CONDITIONS = frozenset({"then", "else", "anyOf", "oneOf", "not", "dependentRequired", "dependentSchemas"})


def _id(example: Valid | Invalid) -> str:
    return str(example.path.relative_to(CONTRACTS))


def test_every_document_of_the_contract_exists_and_no_other() -> None:
    assert documents_on_disk() == DOCUMENTS | {DEFINITIONS}


@every("name", sorted(documents_on_disk()))
def test_a_document_is_json_schema_2020_12_under_its_own_id(name: str) -> None:
    schema: dict[str, Any] = json.loads((CONTRACTS / name / "schema.json").read_bytes())
    assert schema["$id"] == "urn:aop:contract:" + name.replace("/", ":")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["description"]
    jsonschema_rs.meta.validate(schema)
    document(name)


# Members that A2A objects hold beyond the profile are ignored, so there each reader says which objects are open.
@every("name", sorted(documents_on_disk() - {"a2a-profile/0.2"}))
def test_every_object_that_names_its_members_is_closed(name: str) -> None:
    schema: dict[str, Any] = json.loads((CONTRACTS / name / "schema.json").read_bytes())
    assert list(_left_open(schema, "")) == []


@every("name", sorted(DOCUMENTS))
def test_every_document_has_a_reader_and_examples_of_both_kinds(name: str) -> None:
    assert any(reader.partition("#")[0] == name for reader in READERS)
    assert any(example.document.partition("#")[0] == name for example in VALID)
    assert any(example.document.partition("#")[0] == name for example in INVALID)


@every("example", VALID, ids=_id)
def test_a_valid_example_passes_its_document(example: Valid) -> None:
    assert document(example.document).violations(strict_json.parse(example.body)) == ()


@every("example", [example for example in VALID if example.document in READERS], ids=_id)
def test_a_valid_example_is_read_and_written_back_the_same(example: Valid) -> None:
    reader = READERS[example.document]
    written = msgspec.json.encode(msgspec.json.decode(example.body, type=reader))
    if agreement.is_open(reader):
        assert _is_part_of(_spelled(written), _spelled(example.body))
    else:
        assert _spelled(written) == _spelled(example.body)


@every("example", [example for example in INVALID if not example.semantic], ids=_id)
def test_an_invalid_example_breaks_the_rule_it_states_at_the_place_it_states(example: Invalid) -> None:
    expected = Violation(example.pointer, example.rule)
    checked = document(example.document)
    if example.rule in STRICT_JSON_RULES:
        with pytest.raises(strict_json.JsonRefused) as refused:
            strict_json.parse(example.body)
        assert Violation(checked.declared_pointer(refused.value.pointer), refused.value.rule) == expected
        return
    instance = strict_json.parse(example.body)
    assert not checked.is_valid(instance)
    assert expected in checked.violations(instance)


@every("example", [example for example in INVALID if example.semantic], ids=_id)
def test_a_semantic_example_is_one_that_the_schema_alone_accepts(example: Invalid) -> None:
    assert document(example.document).violations(strict_json.parse(example.body)) == ()


@every(
    "example", [example for example in INVALID if example.rule in SHAPE_RULES and example.document in READERS], ids=_id
)
def test_a_reader_refuses_the_shapes_its_document_refuses(example: Invalid) -> None:
    if not _is_known_to_the_reader(example):
        return
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(example.body, type=READERS[example.document])


@every("name", sorted(READERS))
def test_a_reader_has_the_members_requirements_and_values_of_its_document(name: str) -> None:
    assert list(agreement.disagreements(READERS[name], agreement.named(name))) == []


def test_codes_json_follows_its_schema_and_equals_the_error_codes() -> None:
    codes = json.loads((CONTRACTS / "platform-error" / "codes.json").read_bytes())
    assert document("codes/1").violations(codes) == ()
    assert [entry["code"] for entry in codes["codes"]] == list(ErrorCode)


@pytest.mark.parametrize(
    ("envelope", "count"), [(Envelope.CATALOG, 16), (Envelope.WORKSPACE, 16), (Envelope.INVOCATION, 25)]
)
def test_an_envelope_allows_exactly_the_codes_that_codes_json_gives_it(envelope: Envelope, count: int) -> None:
    allowed = [code for code, entry in code_entries().items() if envelope in entry.envelopes]
    definitions = definitions_of(f"platform-error:{envelope}")
    assert definitions["code"]["enum"] == allowed
    assert len(allowed) == count


def test_the_two_phases_of_an_invocation_share_only_the_codes_of_either_phase() -> None:
    definitions = definitions_of("platform-error:4")
    before = set(definitions["codeBeforeAcceptance"]["enum"])
    after = set(definitions["codeAfterAcceptance"]["enum"])
    assert before | after == set(definitions["code"]["enum"])
    assert before & after == {"INTERNAL_ERROR", "DEPENDENCY_ERROR"}


def _is_known_to_the_reader(example: Invalid) -> bool:
    """Not when the rule depends on another member, nor where the reader is wider than its document on purpose."""
    errors = document(example.document)._validator.iter_errors(strict_json.parse(example.body))
    conditional = all(CONDITIONS & set(error.evaluation_path) for error in errors)
    return not conditional and agreement.knows(READERS[example.document], example.pointer.split("/")[1:], example.rule)


def _spelled(body: bytes) -> Any:
    return json.loads(body, parse_float=lambda text: ("number", text), parse_int=lambda text: ("number", text))


def _is_part_of(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and _is_part_of(value, whole[name]) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_is_part_of, part, whole))
    return bool(part == whole)


def _left_open(schema: Any, where: str) -> Iterator[str]:
    """Objects with named members that allow others; conditions are not looked into, they refine what stands outside."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema and False not in (
        schema.get("additionalProperties"),
        schema.get("unevaluatedProperties"),
    ):
        yield where
    for keyword in ("properties", "patternProperties", "$defs"):
        for name, child in schema.get(keyword, {}).items():
            yield from _left_open(child, f"{where}/{keyword}/{name}")
    for keyword in ("items", "additionalProperties", "contains"):
        yield from _left_open(schema.get(keyword), f"{where}/{keyword}")
    for index, child in enumerate(schema.get("prefixItems", [])):
        yield from _left_open(child, f"{where}/prefixItems/{index}")
