"""The semantic rules of a Card, CARD-1 to CARD-6: all that are broken are told, in order, by place and rule."""

import json
from typing import Any

from aop.cards.rules import card_violations
from aop.contracts.documents import document
from tests.support.cards import a_card, a_skill, some_limits


def broken(card: dict[str, Any], text: str | None = None) -> list[tuple[str, str]]:
    raw = json.dumps(card) if text is None else text
    value = json.loads(raw)
    assert document("agent-card/0.2").violations(value) == ()
    return [(item.pointer, item.rule) for item in card_violations(raw.encode(), value)]


def test_a_card_without_fault_breaks_nothing() -> None:
    assert broken(a_card()) == []


def test_the_rules_that_need_no_schema_vetting_are_told_together() -> None:
    permission = {"id": "p", "description": "Does something."}
    card = a_card(
        skills=[a_skill("a"), a_skill("a", requiredPermissions=["q"], outputSchema={"const": "@"})],
        permissions=[permission, permission],
        limits=some_limits(timeoutMs=1.0),
    )
    assert broken(card, json.dumps(card).replace('"@"', "9007199254740992")) == [
        ("/skills/1/id", "CARD-1"),
        ("/permissions/1/id", "CARD-2"),
        ("/skills/1/requiredPermissions/0", "CARD-3"),
        ("/limits/timeoutMs", "CARD-4"),
        ("/skills/1/outputSchema", "CARD-5"),
    ]


def test_every_unusable_schema_is_told() -> None:
    bad = {"$ref": "#/nowhere"}
    skills = [a_skill("a", inputSchema=bad), a_skill("b"), a_skill("c", outputSchema=bad)]
    assert broken(a_card(skills=skills)) == [("/skills/0/inputSchema", "CARD-6"), ("/skills/2/outputSchema", "CARD-6")]


def test_a_schema_is_not_blamed_for_what_a_refused_one_has_cost() -> None:
    costly: dict[str, Any] = {"patternProperties": {rf"\p{{L}}{{300}}{number}": {} for number in range(50)}}
    skills = [a_skill("a", inputSchema=costly), *(a_skill(f"b{n}", inputSchema={"pattern": "^a$"}) for n in range(9))]
    assert broken(a_card(skills=skills)) == [("/skills/0/inputSchema", "CARD-6")]


def test_schemas_that_are_too_costly_only_together_are_told_of_once() -> None:
    skills = [a_skill(f"s{number}", inputSchema={"pattern": r"^\p{L}{1,64}$"}) for number in range(100)]
    [(pointer, rule)] = broken(a_card(skills=skills))
    assert (pointer.startswith("/skills/"), rule) == (True, "CARD-6")


def test_case_and_code_points_of_permissions_matter() -> None:
    permissions = [{"id": "read", "description": "Reads."}]
    skills = [a_skill(requiredPermissions=["read", "Read", "read."])]
    assert broken(a_card(skills=skills, permissions=permissions)) == [
        ("/skills/0/requiredPermissions/1", "CARD-3"),
        ("/skills/0/requiredPermissions/2", "CARD-3"),
    ]
