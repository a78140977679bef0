"""Comparing two versions of an Agent: what is answered, who may ask, and what happens when too many do."""

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from aop.contracts.documents import document
from aop.control_plane.gateway.access import MAX_COMPARISONS
from tests.cards.hostile import LETTERS, many_constants
from tests.cards.test_checks import children_of
from tests.support.cards import a_card, a_skill, broken
from tests.support.effort import effort
from tests.support.errors import require_error
from tests.support.metrics import numbers
from tests.support.units import Reply, RunningUnit
from tests.support.waiting import becomes_true

AGENT = "/v1/agents/acme:summarizer"
TEXT, SHORT = {"type": "string"}, {"type": "string", "maxLength": 1}


def address(from_version: str, version: str, agent: str = AGENT) -> str:
    return f"{agent}/versions/{version}/compatibility?from={from_version}"


async def registered(gateway: RunningUnit, token: str, *skills: list[dict[str, Any]]) -> None:
    """Versions 1.0.0, 2.0.0 and so on, with these Skills."""
    for number, each in enumerate(skills, 1):
        card = a_card(version=f"{number}.0.0", skills=each, permissions=[])
        reply = await gateway.post("/v1/agents", card, token=token)
        assert reply.status == 201, reply.body


async def test_each_skill_of_both_versions_is_judged_for_callers_and_for_readers(
    gateway: RunningUnit, alice: str
) -> None:
    odd = {"type": "string", "pattern": "^a"}
    older = [a_skill("gone"), a_skill("a", inputSchema=TEXT, outputSchema=odd)]
    newer = [a_skill("new"), a_skill("a", inputSchema=SHORT, outputSchema=TEXT)]
    await registered(gateway, alice, older, newer)
    forward = await gateway.get(address("1.0.0", "2.0.0"), token=alice)
    assert (forward.status, forward.header("cache-control")) == (200, "no-store")
    assert document("agent-compatibility/1").violations(forward.json) == ()
    assert forward.json == {
        "agentId": "acme:summarizer",
        "from": "1.0.0",
        "version": "2.0.0",
        "skills": [
            {
                "skillId": "a",
                "inputs": {"compatible": "no", "example": "aa"},
                "outputs": {"compatible": "not_decided"},
            }
        ],
    }
    back = (await gateway.get(address("2.0.0", "1.0.0"), token=alice)).json["skills"]
    assert [(one["inputs"], one["outputs"]) for one in back] == [({"compatible": "yes"}, {"compatible": "yes"})]


async def test_a_version_is_compatible_with_itself(gateway: RunningUnit, alice: str) -> None:
    await registered(gateway, alice, [a_skill("a", inputSchema={"pattern": "^a"}), a_skill("b")])
    answer = (await gateway.get(address("1.0.0", "1.0.0"), token=alice)).json
    assert (answer["from"], answer["version"]) == ("1.0.0", "1.0.0")
    yes = {"compatible": "yes"}
    assert answer["skills"] == [{"skillId": name, "inputs": yes, "outputs": yes} for name in ("a", "b")]


async def test_who_may_not_read_one_of_the_cards_gets_what_reading_it_gives(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    skill = a_skill()
    await registered(gateway, alice, [skill], [skill], [skill])
    for version in ("1.0.0", "3.0.0"):
        assert (await gateway.post(f"{AGENT}/versions/{version}/publish", token=alice)).status == 200
    assert (await gateway.get(address("1.0.0", "3.0.0"), token=bob)).status == 200
    for old, new, unreadable in (
        ("2.0.0", "1.0.0", "2.0.0"),
        ("1.0.0", "2.0.0", "2.0.0"),
        ("9.0.0", "1.0.0", "9.0.0"),
        ("1.0.0", "9.0.0", "9.0.0"),
        ("9.0.0", "2.0.0", "2.0.0"),
        ("2.0.0", "9.0.0", "9.0.0"),
    ):
        alone = await gateway.get(f"{AGENT}/versions/{unreadable}", token=bob)
        assert _refusal(await gateway.get(address(old, new), token=bob)) == _refusal(alone), (old, new)
    assert (await gateway.get(address("1.0.0", "2.0.0"), token=alice)).status == 200
    assert (await gateway.post(f"{AGENT}/versions/1.0.0/disable", token=alice)).status == 200
    require_error(await gateway.get(address("1.0.0", "3.0.0"), token=bob), 403, "FORBIDDEN", "2")
    assert (await gateway.get(address("1.0.0", "3.0.0"), token=alice)).status == 200
    nothing = "/v1/agents/acme:nothing"
    alone = await gateway.get(f"{nothing}/versions/1.0.0", token=bob)
    assert _refusal(await gateway.get(address("1.0.0", "1.0.0", nothing), token=bob)) == _refusal(alone)
    require_error(await gateway.get(address("1.0.0", "3.0.0")), 401, "UNAUTHENTICATED", "2")


def _refusal(reply: Reply) -> tuple[int, str, str]:
    assert reply.status >= 400, reply.body
    return reply.status, reply.code, reply.json["reason"]


async def test_a_question_that_does_not_name_the_old_version_is_refused(gateway: RunningUnit, alice: str) -> None:
    await registered(gateway, alice, [a_skill()])
    path = f"{AGENT}/versions/1.0.0/compatibility"
    for query, expected in (
        ("", ("/from", "query_value")),
        ("?from=", ("/from", "query_value")),
        ("?from=%5E1.0", ("/from", "query_value")),
        ("?from=1.0", ("/from", "query_value")),
        ("?from=1.0.0%00", ("/from", "query_value")),
        ("?from=1.0.0&from=1.0.0", ("/from", "query_repeated")),
        ("?from=1.0.0&to=1.0.0", ("", "query_unknown")),
    ):
        assert broken(await gateway.get(path + query, token=alice)) == [expected], query
    reply = await gateway.get(f"{AGENT}/versions/newest/compatibility?from=1.0.0", token=alice)
    assert broken(reply) == [("/version", "path_value")]


@pytest.fixture
def held() -> Iterator[list[int]]:
    """Schema processes that stand still, until the test ends at the latest."""
    held: list[int] = []
    yield held
    _let_go(held)


def _let_go(held: list[int]) -> None:
    while held:
        os.kill(held.pop(), signal.SIGCONT)


async def test_comparisons_beyond_those_that_may_wait_are_refused_and_hold_up_nothing_else(
    gateway: RunningUnit, alice: str, held: list[int]
) -> None:
    await registered(gateway, alice, [a_skill(inputSchema=TEXT)], [a_skill(inputSchema=SHORT)])
    where = address("1.0.0", "2.0.0")
    both = await asyncio.gather(*(gateway.get(where, token=alice) for _ in range(2)))
    assert [one.status for one in both] == [200, 200]
    held += children_of(os.getpid())
    for process in held:
        os.kill(process, signal.SIGSTOP)
    waiting = [asyncio.create_task(gateway.get(where, token=alice)) for _ in range(MAX_COMPARISONS)]

    async def is_full() -> bool:
        jobs = [await numbers(gateway, f"aop_schema_jobs_{state}") for state in ("running", "waiting")]
        return sum(each[()] for each in jobs) == MAX_COMPARISONS

    await becomes_true(is_full)
    refused = await gateway.get(where, token=alice)
    require_error(refused, 503, "OVERLOADED", "2")
    assert refused.header("retry-after") == "1"
    assert (await gateway.get(f"{AGENT}/versions/1.0.0", token=alice)).status == 200
    _let_go(held)
    answers = await asyncio.gather(*waiting)
    assert [(one.status, one.body) for one in answers] == [(200, both[0].body)] * MAX_COMPARISONS
    assert (await gateway.get(where, token=alice)).status == 200


async def test_versions_made_to_cost_end_without_a_proof_and_hold_up_no_loop(gateway: RunningUnit, alice: str) -> None:
    older = [a_skill(f"s{at}", inputSchema=schema) for at, schema in enumerate((LETTERS, many_constants()))]
    newer = [{**one, "inputSchema": {**one["inputSchema"], "minProperties": 1}} for one in older]
    await registered(gateway, alice, older, newer)
    with effort() as spent:
        answer = await gateway.get(address("1.0.0", "2.0.0"), token=alice)
    assert {one["inputs"]["compatible"] for one in answer.json["skills"]} <= {"no", "not_decided"}
    assert spent.seconds < 0.1
