"""A refused value is explained by place and rule only, briefly, and the same way every time."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.contracts.documents import compiled, document, explained
from aop.contracts.errors import Violation
from tests.support.contracts import CONTRACTS
from tests.support.waiting import PATIENCE_SECONDS

CARD: dict[str, Any] = json.loads((CONTRACTS / "agent-card/0.2/examples/valid/baseline.json").read_bytes())
AGENT_CARD = document("agent-card/0.2")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*CARD, "id", "x/y", "secret~"]) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=20,
)


@pytest.mark.rows("CAT-05")
def test_a_card_with_thirty_faults_is_told_of_at_most_twenty() -> None:
    card = {**CARD, "skills": [{"secret-name": "secret-value"} for _ in range(5)]}
    violations = AGENT_CARD.violations(card)
    assert len(violations) == 20
    assert len(set(violations)) == 20
    assert "secret" not in repr(violations)


@pytest.mark.rows("CAT-05")
def test_an_undeclared_member_is_reported_by_its_parent_and_its_name_appears_nowhere() -> None:
    assert AGENT_CARD.violations({**CARD, "hunter2": 1, "hunter3": 2}) == (Violation("", "additional_member"),)


def test_a_missing_member_is_pointed_at_where_it_should_be() -> None:
    owner = {"id": "acme"}
    assert AGENT_CARD.violations({**CARD, "owner": owner}) == (Violation("/owner/displayName", "required"),)


def test_violations_do_not_depend_on_the_order_of_members() -> None:
    card = {**CARD, "name": 1, "version": "1", "limits": {}, "skills": [3, {"id": 4}]}
    assert AGENT_CARD.violations(card) == AGENT_CARD.violations(dict(reversed(card.items())))


def test_violations_are_ordered_by_place_with_indices_as_numbers() -> None:
    skills = [CARD["skills"][0]] * 11
    skills[2], skills[10] = 0, 0
    pointers = [item.pointer for item in AGENT_CARD.violations({**CARD, "name": 1, "skills": skills})]
    assert pointers == ["/name", "/skills/2", "/skills/10"]


def test_a_value_too_large_to_explain_in_full_is_told_one_fault() -> None:
    assert len(AGENT_CARD.violations({**CARD, "skills": [1] * 100_000})) == 1


def test_a_pointer_is_cut_at_the_first_name_the_schema_does_not_declare() -> None:
    schema = {
        "properties": {"a/b": {"additionalProperties": {"properties": {"c": {"type": "integer"}}}}},
        "patternProperties": {"^x": {"type": "null"}},
    }
    assert explained(compiled(schema), {"a/b": {"private": {"c": "text"}}}) == (Violation("/a~1b", "type"),)
    assert explained(compiled(schema), {"xprivate": 1}) == (Violation("", "type"),)


def test_a_pointer_goes_through_references_branches_and_lists() -> None:
    schema = {
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}}}},
        "allOf": [{"properties": {"nodes": {"prefixItems": [{"$ref": "#/$defs/node"}], "items": {"type": "null"}}}}],
    }
    value = {"nodes": [{"next": {"next": {"value": "text"}}}, 1]}
    expected = (Violation("/input/nodes/0/next/next/value", "type"), Violation("/input/nodes/1", "type"))
    assert explained(compiled(schema), value, ("input",)) == expected


def test_a_member_that_a_condition_forbids_counts_as_an_additional_one() -> None:
    assert explained(compiled({"properties": {"a": False}}), {"a": 1}) == (Violation("", "additional_member"),)
    assert explained(compiled({"items": False}), [1]) == (Violation("/0", "items"),)


def test_a_place_in_the_text_is_told_as_far_as_its_names_are_declared() -> None:
    path = ("skills", 0, "inputSchema", "properties", "private")
    assert AGENT_CARD.declared_pointer(path) == "/skills/0/inputSchema"
    assert AGENT_CARD.declared_pointer(("private", "name")) == ""
    assert document("agent-overview/2").declared_pointer(("versions", 3, "card", "owner", "id")) == (
        "/versions/3/card/owner/id"
    )


@given(JSON_VALUES)
@settings(max_examples=200, deadline=None)
def test_no_violation_of_any_value_repeats_a_name_or_a_value_of_the_sender(value: object) -> None:
    violations = AGENT_CARD.violations(value)
    assert bool(violations) != AGENT_CARD.is_valid(value)
    assert len(violations) <= 20
    for violation in violations:
        tokens = [token for token in violation.pointer.split("/")[1:] if not token.isascii() or not token.isdigit()]
        assert set(tokens) <= _declared_names(AGENT_CARD.schema)


@pytest.mark.parametrize("reference", ["https://schemas.example.com/a.json", "file:///etc/hostname", "urn:aop:absent"])
def test_a_schema_that_refers_elsewhere_is_refused_and_nothing_is_fetched(reference: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        compiled({"$ref": reference})


def test_a_pattern_that_does_not_run_in_linear_time_is_refused() -> None:
    with pytest.raises(ValueError, match=r".+"):
        compiled({"pattern": "^(?=a)"})


def test_reading_documents_needs_no_schema_validator() -> None:
    modules = "card catalog publication workspace health platform_error invocation lineage errors violations declared"
    imports = "".join(f"import aop.contracts.{name}\n" for name in modules.split())
    code = f"import sys\n{imports}sys.exit('jsonschema_rs' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_SECONDS)


def _declared_names(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {name for child in schema for name in _declared_names(child)}
    if not isinstance(schema, dict):
        return set()
    nested = {name for child in schema.values() for name in _declared_names(child)}
    return nested | set(schema.get("properties", {}))
