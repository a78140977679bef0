"""Every rule that a violation may name has words, and every place of a request says what belongs there."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aop
from aop.base.json import JsonRule
from aop.contracts.documents import compiled, document, explained, schemas
from aop.contracts.errors import Violation
from aop.contracts.expected import RequestPart, expected, form_at, rule_words
from tests.support.contracts import CONTRACTS
from tests.support.every import every
from tools.contract_bundle import surfaces

TABLE = json.loads((CONTRACTS / "platform-error" / "rules.json").read_bytes())
GATEWAY = surfaces()["gateway.v1"]
# One value that breaks each keyword a Skill's schema may have; the validator itself names the rule.
BROKEN: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string"}, 1),
    ({"const": 1}, 2),
    ({"enum": [1]}, 2),
    ({"pattern": "a"}, "b"),
    ({"format": "date"}, "b"),
    ({"minLength": 2}, "b"),
    ({"maxLength": 1}, "bb"),
    ({"minimum": 2}, 1),
    ({"exclusiveMinimum": 1}, 1),
    ({"maximum": 1}, 2),
    ({"exclusiveMaximum": 1}, 1),
    ({"multipleOf": 2}, 1),
    ({"minItems": 1}, []),
    ({"maxItems": 0}, [1]),
    ({"uniqueItems": True}, [1, 1]),
    ({"contains": {"const": 1}}, [2]),
    ({"contains": {"const": 1}, "minContains": 2}, [1]),
    ({"contains": {"const": 1}, "maxContains": 1}, [1, 1]),
    ({"items": False}, [1]),
    ({"prefixItems": [False]}, [1]),
    ({"prefixItems": [True], "items": False}, [1, 2]),
    ({"unevaluatedItems": False}, [1]),
    ({"required": ["a"]}, {}),
    ({"minProperties": 1}, {}),
    ({"maxProperties": 0}, {"a": 1}),
    ({"propertyNames": {"maxLength": 1}}, {"aa": 1}),
    ({"additionalProperties": False}, {"a": 1}),
    ({"unevaluatedProperties": False}, {"a": 1}),
    ({"properties": {"a": False}}, {"a": 1}),
    ({"patternProperties": {"a": False}}, {"a": 1}),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ({"dependentSchemas": {"a": False}}, {"a": 1}),
    ({"allOf": [False]}, 1),
    ({"anyOf": [{"const": 1}, {"const": 2}]}, 3),
    ({"oneOf": [{"const": 1}, {"const": 2}]}, 3),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3),
    ({"not": {}}, 3),
    ({"if": True, "then": False}, 3),
    ({"if": False, "else": False}, 3),
    ({"$ref": "#/$defs/a", "$defs": {"a": False}}, 3),
    ({"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", "type": "string"}}}, 3),
]


def literal_rules() -> Iterator[str]:
    """Each rule that a unit writes itself: the second argument of a Violation."""
    texts = (path.read_text() for path in Path(aop.__file__).parent.rglob("*.py"))
    for text in (text for text in texts if "Violation(" in text):  # to walk through all of them takes seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Violation":
                rule = node.args[1]
                if isinstance(rule, ast.Constant):
                    yield str(rule.value)


def test_the_table_follows_its_schema_and_says_everything_once() -> None:
    assert document("rules/1").violations(TABLE) == ()
    assert len({row["rule"] for row in TABLE["rules"]}) == len(TABLE["rules"])
    assert len({(row["in"], row["pointer"]) for row in TABLE["places"]}) == len(TABLE["places"])


def test_every_rule_that_a_request_can_break_has_words() -> None:
    examples = CONTRACTS.glob("*/*/examples/invalid/**/*.json")
    named = {json.loads(path.read_bytes())["rule"] for path in examples}
    edge = {"header_name", "host"}  # the server's own, before a request is one
    literal = set(literal_rules())
    rules = named | edge | literal | set(JsonRule) | {f"CARD-{number}" for number in range(1, 7)}
    assert len(literal) > 10, "the search found nothing"
    assert rules - rule_words().keys() == set()


@every(("schema", "value"), BROKEN, ids=str)
def test_every_keyword_that_a_schema_can_have_has_words(schema: dict[str, Any], value: Any) -> None:
    found = explained(compiled(schema), value)
    assert found
    assert [one.rule for one in found if expected(one) is None] == []


def operations() -> Iterator[dict[str, Any]]:
    """Each path with what all its operations share, and each operation."""
    for path in GATEWAY["paths"].values():
        yield path
        yield from (one for one in path.values() if isinstance(one, dict))


def parameters() -> Iterator[tuple[RequestPart, str]]:
    shared = GATEWAY["components"]["parameters"]
    for operation in operations():
        for one in operation.get("parameters", ()):
            found = shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
            if found["in"] != "header":
                yield found["in"], f"/{found['name']}"


def body_places() -> Iterator[str]:
    for operation in operations():
        if "requestBody" in operation:
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            name = reference.removeprefix("../").replace("/schema.json", "").replace("/$defs/", "")
            yield from places_of(document(name).schema, schemas()[_identity(name)], "")


def _identity(name: str) -> str:
    return "urn:aop:contract:" + name.partition("#")[0].replace("/", ":")


def places_of(schema: Any, whole: Any, pointer: str) -> Iterator[str]:
    """Each member and item that a schema declares, as pointers."""
    if pointer:
        yield pointer
    reference = schema.get("$ref", "")
    if reference.startswith("#"):
        yield from list(places_of(whole["$defs"][reference.rpartition("/")[2]], whole, pointer))[1:]
    for name, member in schema.get("properties", {}).items():
        yield from places_of(member, whole, f"{pointer}/{name}")
    if isinstance(schema.get("items"), dict):
        yield from places_of(schema["items"], whole, f"{pointer}/*")


def test_every_parameter_and_every_member_of_a_request_says_what_belongs_there() -> None:
    found = set(parameters())
    assert ("path", "/workspaceId") in found, "the search found nothing"
    assert {(part, pointer) for part, pointer in found if form_at(pointer, part) is None} == set()
    declared = set(body_places())
    assert "/skills/*/requiredPermissions/*" in declared, "the search found nothing"
    assert {pointer for pointer in declared if form_at(pointer, "body") is None} == set()
    told = {row["pointer"] for row in TABLE["places"] if row["in"] == "body"}
    assert told <= declared, "a form of a place that no request has"


def test_the_form_of_the_place_is_told_with_the_rule() -> None:
    told = expected(Violation("/workspaceId", "path_value"))
    assert told is not None
    assert told.endswith("a Workspace id: 1 to 128 letters, digits and . _ : -, the first a letter or digit")
    assert expected(Violation("/status", "query_value")) != expected(Violation("/status", "enum"))
    assert expected(Violation("/input/notes", "type"), "a text") == "another JSON type is needed here: a text"
    assert expected(Violation("", "no such rule")) is None
