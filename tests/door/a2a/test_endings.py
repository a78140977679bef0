"""How a call at the door ends before its result: its caller leaves, cancels it, or the way to the Gateway breaks."""

import asyncio
from typing import Any

import pytest

from interop.door import WAIT
from tests.door.a2a.reading import (
    CANCEL,
    GET,
    SEND,
    STREAM,
    ask,
    both_versions,
    events_of,
    params,
    rpc,
    state_of,
    task_of,
    token_of,
)
from tests.support.callers import asking
from tests.support.door_agents import A2AAgents
from tests.support.waiting import becomes_true, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("DOOR-03")
@both_versions
@pytest.mark.parametrize("methods", [SEND, STREAM], ids=["send", "stream"])
async def test_a_caller_who_leaves_cancels(agents: A2AAgents, version: str, methods: dict[str, str]) -> None:
    platform = agents.door.platform
    path = agents.chat.removeprefix(agents.door.unit.origin)
    headers = [agents.door.authorization, (b"a2a-version", version.encode())]
    before = len(platform.agent.calls())
    async with asking(agents.door.unit, path, rpc(methods[version], params(WAIT, version=version)), headers):
        await becomes_true(lambda: _is_running(agents, before))
    invocation_id = platform.agent.calls()[before].values("x-platform-invocation-id")[0]
    async with promptly(1):
        detail = await platform.ended(invocation_id)
    assert detail["invocation"]["status"] == "canceled"


async def _is_running(agents: A2AAgents, before: int) -> bool:
    return len(agents.door.platform.agent.calls()) > before


@pytest.mark.rows("DOOR-01", "DOOR-05")
@both_versions
async def test_only_its_own_bearer_cancels_a_running_task(agents: A2AAgents, version: str) -> None:
    platform = agents.door.platform
    other = await token_of(agents, "alice")
    streaming = asyncio.create_task(
        ask(agents, agents.chat, STREAM[version], params(WAIT, version=version, contextId="c-1"), version=version)
    )
    before = len(platform.agent.calls())
    await becomes_true(lambda: _is_running(agents, before))
    task = {"id": platform.agent.calls()[before].values("x-platform-invocation-id")[0]}

    async def canceled(address: str, token: str = "") -> Any:
        return (await ask(agents, address, CANCEL[version], task, version=version, token=token)).json

    async def is_known() -> bool:
        read = (await ask(agents, agents.chat, GET[version], task, version=version)).json
        return "result" in read and (state_of(read), read["result"]["contextId"]) == ("working", "c-1")

    await becomes_true(is_known)
    assert (await canceled(agents.chat, other))["error"]["code"] == -32001
    assert (await canceled(agents.typed))["error"]["code"] == -32001
    ended = await canceled(agents.chat)
    assert (state_of(ended), ended["result"]["contextId"]) == ("canceled", "c-1")
    last = events_of((await streaming).body)[-1]
    assert (state_of(last), task_of(last)["metadata"]["code"]) == ("canceled", "CANCELED")
    assert (await platform.detail(task["id"]))["invocation"]["status"] == "canceled"
    assert (await canceled(agents.chat))["error"]["code"] == -32001


async def test_a_broken_way_to_the_gateway_is_an_error_and_no_state(agents: A2AAgents) -> None:
    """The Invocation of a door that stops may have any end."""
    streaming = asyncio.create_task(ask(agents, agents.chat, "message/stream", params(WAIT)))
    before = len(agents.door.platform.agent.calls())
    await becomes_true(lambda: _is_running(agents, before))
    await agents.door.platform.gateway.server.stop(0)
    events = events_of((await streaming).body)
    assert events[-1]["error"]["data"][0]["metadata"]["reason"] == "outcome_unknown"
    assert all(state_of(one) == "working" for one in events[:-1] if "status" in task_of(one))
