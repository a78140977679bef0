"""Unmodified clients of the official SDKs use the door with nothing but an address and a token."""

import asyncio
from typing import Any

import pytest

from interop.callers import CALLERS, SdkCaller, made
from interop.door import plan_for, problems
from interop.environments import prepare
from tests.support.door_agents import A2AAgents

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]

SHORT = [caller for caller in CALLERS if caller.short]


@pytest.mark.rows("DOOR-01", "DOOR-03", "DOOR-04")
async def test_clients_of_the_official_sdks_send_stream_fail_leave_and_cancel(agents: A2AAgents) -> None:
    prepare({caller.folder for caller in SHORT}, print)
    platform = agents.door.platform
    plan = plan_for(agents.chat, agents.typed)

    async def run(caller: SdkCaller) -> dict[str, Any]:
        return await made(caller, platform.token, plan)

    outcomes = dict(zip(SHORT, await asyncio.gather(*map(run, SHORT)), strict=True))
    assert [f"{caller.name} {one}" for caller, found in outcomes.items() for one in problems(caller, found)] == []
    for found in outcomes.values():
        detail = await platform.ended(found["leave"]["task"])
        assert detail["invocation"]["status"] == "canceled"


@pytest.mark.rows("DOOR-05")
@pytest.mark.parametrize("caller", SHORT, ids=lambda caller: caller.name)
async def test_a_client_with_a_foreign_token_gets_no_card(agents: A2AAgents, caller: SdkCaller) -> None:
    outcome = await made(caller, "foreign", plan_for(agents.chat, agents.typed)[:1])
    (found,) = outcome.values()
    assert "401" in found["error"]["text"]
    assert "card" not in found
