"""The watched topology at work: a Card is asked for once, a change is obeyed at once, a lost watch trusts nothing."""

import json
import re

import pytest

from aop.contracts.publication import ReleaseState
from tests.support.loop import Platform
from tests.support.settings import CONTROL_PLANE_TO_ROUTER

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def resolves(platform: Platform) -> float:
    metrics = (await platform.gateway.get("/metrics")).body.decode()
    counted = re.findall(r'aop_http_requests_total\{[^}]*resolve-agent"[^}]*\} ([0-9.]+)', metrics)
    return sum(map(float, counted))


@pytest.mark.rows("TOP-04", "OPS-13")
async def test_a_cached_card_needs_no_second_question_until_its_release_changes(platform: Platform) -> None:
    card, release, _ = await platform.installed()
    before = await resolves(platform)
    assert (await platform.invoke(agentId=card["agentId"])).status == 200
    assert await resolves(platform) == before + 1
    assert (await platform.invoke(agentId=card["agentId"])).status == 200
    assert await resolves(platform) == before + 1
    await platform.move(release, ReleaseState.SUSPENDED)
    recorded = await platform.recorded()
    reply = await platform.invoke(agentId=card["agentId"])
    await platform.require_refused(reply, 409, "AGENT_RELEASE_SUSPENDED", recorded)
    assert await resolves(platform) == before + 1


@pytest.mark.rows("TOP-03")
@pytest.mark.parametrize(
    ("state", "code"),
    [(ReleaseState.SUSPENDED, "AGENT_RELEASE_SUSPENDED"), (ReleaseState.REVOKED, "AGENT_RELEASE_REVOKED")],
)
async def test_the_router_refuses_what_was_authorized_just_before_the_change(
    platform: Platform, state: ReleaseState, code: str
) -> None:
    card, release, _ = await platform.installed()
    body = {
        "invocationId": "inv_" + "0" * 31 + "1",
        "rootTaskId": "task_" + "0" * 31 + "1",
        "traceId": "a" * 32,
        "workspaceId": "space",
        "targetAgentId": card["agentId"],
        "capability": "work",
        "caller": {"type": "user", "id": "alice"},
        "agentCardVersion": "1.0.0",
        "agentReleaseId": release.release_id,
        "agentCardDigest": release.card_digest,
        "authorizationDigest": release.card_digest,
        "input": {},
        "stream": False,
    }
    await platform.move(release, state)
    await platform.sees(release, str(state))
    recorded = await platform.recorded()
    reply = await platform.router.post(
        "/internal/v1/invocations", json.dumps(body).encode(), token=CONTROL_PLANE_TO_ROUTER
    )
    await platform.require_refused(reply, 409, code, recorded)
    assert reply.json["traceId"] == "a" * 32
