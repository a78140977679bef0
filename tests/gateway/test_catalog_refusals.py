"""Agent Cards that break the schema or a rule: refused with rule and place, never with a value, and nothing stored."""

import json
from itertools import product
from typing import Any

import pytest

from aop.local.state import DatabaseUrls
from tests.support.cards import a_card, a_skill, broken, count_cards, some_limits
from tests.support.contracts import invalid_examples
from tests.support.units import RunningUnit

INVALID = [example for example in invalid_examples() if example.document == "agent-card/0.2"]
BAD_ENDPOINTS = (
    "https://user:secret@agents.example.com/",
    "https://@agents.example.com/",
    "https://user@agents.example.com/",
    "https://agents.example.com/a b",
    " https://agents.example.com/",
    "https://agents.example.com/\n",
    "ftp://agents.example.com/",
    "file:///etc/passwd",
    "//agents.example.com/",
    "https:///path",
    "https://agents.example.com/%zz",
)
BAD_LIMITS = {
    "0": "minimum",
    "-1": "minimum",
    "1.0": "CARD-4",
    "1e3": "CARD-4",
    "1E0": "CARD-4",
    '"5"': "type",
    "2147483648": "maximum",
    "null": "type",
    "true": "type",
    "1.5": "type",
}
UNSAFE_NUMBERS = ("1e400", "-1e400", "9007199254740993", "9007199254740992", "-9007199254740992", "1" * 400)
SAFE_NUMBERS = ("9007199254740991", "-9007199254740991", "9007199254740993.0", "1e308", "1e-400", "-0")


@pytest.mark.rows("CAT-05")
async def test_a_card_outside_the_schema_is_refused_with_places_and_without_values(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    without_name = {key: value for key, value in a_card().items() if key != "name"}
    cases: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
        (a_card(schemaVersion="0.1"), [("/schemaVersion", "const")]),
        (without_name, [("/name", "required")]),
        (a_card(canaryMember="canary"), [("", "additional_member")]),
        (a_card(owner_note="canary"), [("", "additional_member")]),
        (a_card(limits=some_limits(canaryMember=1)), [("/limits", "additional_member")]),
        (a_card(skills=[a_skill(canaryMember={"a": 1})]), [("/skills/0", "additional_member")]),
        (a_card(agent_id="canary value"), [("/agentId", "pattern")]),
    ]
    for card, expected in cases:
        reply = await gateway.post("/v1/agents", card, token=alice)
        assert broken(reply) == expected
        assert b"canary" not in reply.body
    assert await count_cards(stores) == (0, 0)


@pytest.mark.rows("CAT-05")
async def test_a_card_with_thirty_faults_is_told_of_twenty(gateway: RunningUnit, alice: str) -> None:
    skills = [a_skill(f"canary {number}") for number in range(30)]
    reply = await gateway.post("/v1/agents", a_card(skills=skills), token=alice)
    assert broken(reply) == [(f"/skills/{number}/id", "pattern") for number in range(20)]
    assert b"canary" not in reply.body
    repeated = [a_skill("same") for _ in range(31)]
    told = broken(await gateway.post("/v1/agents", a_card(skills=repeated), token=alice))
    assert told == [(f"/skills/{number}/id", "CARD-1") for number in range(1, 21)]


@pytest.mark.rows("CAT-05", "CAT-06", "CAT-07", "CAT-08", "CAT-09")
async def test_every_invalid_example_is_refused_by_its_rule_at_its_place(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    assert len(INVALID) > 60
    for example in INVALID:
        told = broken(await gateway.post("/v1/agents", example.body, token=alice))
        assert (example.pointer, example.rule) in told, example.path.stem
        assert {pointer for pointer, _ in told} == {example.pointer}, example.path.stem
    assert await count_cards(stores) == (0, 0)


@pytest.mark.rows("CAT-06")
async def test_repeated_ids_and_undeclared_permissions_are_named_by_rule_and_place(
    gateway: RunningUnit, alice: str
) -> None:
    permission = {"id": "p", "description": "Does something."}
    cases: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
        ({"skills": [a_skill("a"), a_skill("b"), a_skill("a")]}, [("/skills/2/id", "CARD-1")]),
        ({"skills": [a_skill()], "permissions": [permission, permission]}, [("/permissions/1/id", "CARD-2")]),
        (
            {"skills": [a_skill(requiredPermissions=["p", "q", "P"])], "permissions": [permission]},
            [("/skills/0/requiredPermissions/1", "CARD-3"), ("/skills/0/requiredPermissions/2", "CARD-3")],
        ),
    ]
    for members, expected in cases:
        assert broken(await gateway.post("/v1/agents", a_card(**members), token=alice)) == expected


@pytest.mark.rows("CAT-07")
async def test_an_endpoint_with_user_info_blanks_or_another_scheme_is_refused(gateway: RunningUnit, alice: str) -> None:
    for endpoint in BAD_ENDPOINTS:
        reply = await gateway.post("/v1/agents", a_card(endpoint=endpoint), token=alice)
        assert {pointer for pointer, _ in broken(reply)} == {"/protocol/endpoint"}, endpoint
        assert b"secret" not in reply.body


@pytest.mark.rows("CAT-08")
async def test_a_limit_out_of_range_or_not_in_plain_digits_is_refused(gateway: RunningUnit, alice: str) -> None:
    for member, (written, rule) in product(("timeoutMs", "maxInputBytes", "maxOutputBytes"), BAD_LIMITS.items()):
        text = json.dumps(a_card(limits=some_limits(**{member: "@"}))).replace('"@"', written)
        told = broken(await gateway.post("/v1/agents", text.encode(), token=alice))
        assert told == [(f"/limits/{member}", rule)], written


@pytest.mark.rows("CAT-08")
async def test_the_greatest_limits_pass_and_one_more_does_not(gateway: RunningUnit, alice: str) -> None:
    greatest = some_limits(timeoutMs=600_000, maxInputBytes=2_147_483_647, maxOutputBytes=2_147_483_647)
    assert (await gateway.post("/v1/agents", a_card(limits=greatest), token=alice)).status == 201
    over = a_card(version="2.0.0", limits=some_limits(timeoutMs=600_001))
    assert broken(await gateway.post("/v1/agents", over, token=alice)) == [("/limits/timeoutMs", "maximum")]


@pytest.mark.rows("CAT-08")
async def test_a_number_other_readers_might_not_read_alike_is_refused(gateway: RunningUnit, alice: str) -> None:
    def card(version: int, written: str) -> bytes:
        skill = a_skill(outputSchema={"type": "object", "properties": {"n": {"const": ["@"]}}})
        text = json.dumps(a_card(version=f"{version}.0.0", skills=[a_skill("other"), skill]))
        return text.replace('"@"', written).encode()

    for written in UNSAFE_NUMBERS:
        reply = await gateway.post("/v1/agents", card(0, written), token=alice)
        assert broken(reply) == [("/skills/1/outputSchema", "CARD-5")], written
    for number, written in enumerate(SAFE_NUMBERS):
        assert (await gateway.post("/v1/agents", card(number, written), token=alice)).status == 201, written
