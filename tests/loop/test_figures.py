"""The figures of a Workspace at the Gateway: what they count, whom they are for, and which windows are refused."""

from datetime import timedelta
from typing import Any

import pytest

from aop.base.clock import from_text, to_text
from aop.contracts.documents import document
from tests.support.agent import a_message, data, rpc_error
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform
from tests.support.nested import running_parent

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING = {"running": 0, "succeeded": 0, "failed": 0, "canceled": 0, "timedOut": 0}


async def figures(platform: Platform, query: str = "") -> Any:
    reply = await platform.gateway.get(f"/v1/workspaces/{SPACE}/figures{query}", token=platform.token)
    assert reply.status == 200, reply.body
    assert document("figures/1").violations(reply.json) == ()
    return reply.json


@pytest.mark.rows("FIND-03")
async def test_the_last_hour_is_counted_by_outcome_agent_skill_code_and_reason(platform: Platform) -> None:
    before = (await figures(platform))["total"]
    assert before == {"counts": {"calls": 0, **NOTHING}, "agents": [], "skills": [], "errors": []}
    for answer in (rpc_error(-32000, "no"), a_message(data(1)), a_message(data(1))):
        platform.agent.script(answer)
        await platform.invoke()
    async with running_parent(platform) as parent:
        assert (await parent.call()).status == 200
        found = await figures(platform)
    total, agent_id = found["total"], platform.card["agentId"]
    expected = {**NOTHING, "calls": 5, "running": 1, "succeeded": 3, "failed": 1}
    assert total["counts"] == expected
    assert total["agents"] == [{"agentId": agent_id, "counts": expected}]
    assert sum(skill["counts"]["calls"] for skill in total["skills"]) == 5
    assert total["errors"] == [
        {"code": "AGENT_EXECUTION_FAILED", "calls": 1, "reasons": [{"reason": "rpc_error", "calls": 1}]}
    ]
    assert 0 <= total["latency"]["p50"] <= total["latency"]["max"]
    assert len(found["buckets"]) == 60
    assert sum(bucket["counts"]["calls"] for bucket in found["buckets"]) == 5
    assert from_text(found["until"]) - from_text(found["since"]) == timedelta(hours=1)


async def test_figures_are_for_owner_and_callers_alone(platform: Platform, bob: str) -> None:
    path = f"/v1/workspaces/{SPACE}/figures"
    require_error(await platform.gateway.get(path, token=bob), 403, "FORBIDDEN", "4", "not_caller")
    nowhere = await platform.gateway.get("/v1/workspaces/nowhere/figures", token=platform.token)
    require_error(nowhere, 404, "NOT_FOUND", "4", "workspace_unknown")
    assert (await platform.owner.ask("PUT", f"/{SPACE}/callers/bob")).status == 201
    assert (await platform.gateway.get(path, token=bob)).status == 200


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("since=2026-01-01T00:00:30Z", "/since"),
        ("until=2026-01-01T00:00:00.000001Z", "/until"),
        ("until=2026-01-01", "/until"),
        ("until=0001-01-01T00:00:00Z", "/until"),
        ("since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z", "/until"),
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "/until"),
        ("since=2026-01-01T00:00:00Z&until=2026-01-01T06:41:00Z", "/step"),
        *((f"step={step}", "/step") for step in ("0", "59", "90", "86401", "86460", "060", "-60", "6e1", "", "٦٠")),
        ("step=60&step=60", "/step"),
        ("limit=1", ""),
    ],
)
async def test_a_window_of_another_form_is_refused(platform: Platform, query: str, pointer: str) -> None:
    path = f"/v1/workspaces/{SPACE}/figures?{query}".replace("٦٠", "%D9%A6%D9%A0")
    reply = await platform.gateway.get(path, token=platform.token)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert [violation["pointer"] for violation in reply.json["violations"]] == [pointer]


async def test_the_widest_windows_are_answered_and_the_last_step_may_be_shorter(platform: Platform) -> None:
    whole = await figures(platform, "?since=2025-01-01T00:00:00Z&until=2026-02-05T00:00:00Z&step=86400")
    assert len(whole["buckets"]) == 400
    odd = await figures(platform, "?since=2026-01-01T02:00:00%2B02:00&until=2026-01-01T00:05:00Z&step=120")
    begin = from_text("2026-01-01T00:00:00Z")
    assert [bucket["start"] for bucket in odd["buckets"]] == [
        to_text(begin + timedelta(minutes=minutes)) for minutes in (0, 2, 4)
    ]
