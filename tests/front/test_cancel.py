"""Whoever leaves or cancels reaches the Agent behind the front, in both modes, and only once."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from tests.agent.served import message_of
from tests.front import proto
from tests.front.played import before, plain
from tests.front.served import ServedFront
from tests.support.agent import a_task, rpc_error
from tests.support.peers import Behaviour, Received
from tests.support.waiting import PATIENCE_SECONDS, becomes_true

TEXT = message_of([{"kind": "text", "text": "how are you?"}])


@pytest.mark.rows("FRONT-01")
@pytest.mark.parametrize("streaming", [True, False], ids=["streams", "does not stream"])
@pytest.mark.parametrize("method", ["message/send", "message/stream"])
async def test_a_caller_that_leaves_cancels_the_task_once(tmp_path: Path, method: str, streaming: bool) -> None:
    working = proto.streamed(proto.task("WORKING"), end="open") if streaming else proto.answered(proto.task("WORKING"))
    if method == "message/stream" and not streaming:
        return
    async with before(tmp_path, working, limits={"streaming": streaming}) as (front, agent):
        agent.on_get = proto.answered(proto.task("WORKING")["task"])
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": TEXT}
        call = asyncio.create_task(front.post(body))
        await becomes_true(partial(_is_running, front))
        call.cancel()
        await asyncio.wait([call])
        await becomes_true(agent.is_canceled)
        assert await front.code("tasks/get", {"id": "t-1"}) == -32001


async def _is_running(front: ServedFront) -> bool:
    return "result" in await front.rpc("tasks/get", {"id": "t-1"})


@pytest.mark.rows("FRONT-01")
async def test_a_caller_that_leaves_before_the_task_has_a_name_cancels_it_when_it_has_one(tmp_path: Path) -> None:
    named = asyncio.Event()

    async def late(request: Received) -> None:
        await named.wait()
        await proto.streamed(proto.task("WORKING"), end="open")(request)

    async with before(tmp_path, late) as (front, agent):
        call = asyncio.create_task(front.result("message/send", TEXT))
        await becomes_true(agent.is_asked)
        call.cancel()
        await asyncio.wait([call])
        named.set()
        await becomes_true(agent.is_canceled)


WORKING = {"a2a-0.3": a_task("working"), "a2a-1.0": proto.answered(proto.task("WORKING"))}


@pytest.mark.rows("FRONT-01")
@pytest.mark.parametrize("speaks", WORKING)
@pytest.mark.parametrize(
    ("then", "cancels"),
    [(rpc_error(-32001), 0), (plain(b'{"jsonrpc":"2.0","id":"of another"}'), 1)],
    ids=["says that there is none", "says nothing of it"],
)
async def test_a_task_whose_call_ends_is_canceled_unless_its_agent_says_that_there_is_none(
    tmp_path: Path, speaks: str, then: Behaviour, cancels: int
) -> None:
    async with before(tmp_path, WORKING[speaks], speaks, limits={"streaming": False}) as (front, agent):
        agent.on_get = then
        await front.post({"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": TEXT})
    assert agent.cancels() == cancels


async def test_tasks_cancel_reaches_the_agent_once_and_only_from_its_workspace(tmp_path: Path) -> None:
    async with before(tmp_path, proto.streamed(proto.task("WORKING"), end="open")) as (front, agent):
        agent.on_cancel = proto.answered(proto.task("CANCELED")["task"])
        call = asyncio.create_task(front.result("message/send", TEXT))
        await becomes_true(partial(_is_running, front))
        stranger = front.router.draft({"jsonrpc": "2.0", "id": 1, "method": "tasks/cancel", "params": {"id": "t-1"}})
        stranger.claims["workspaceId"] = "of-somebody-else"
        foreign = await front.client.request(
            front.target,
            "POST",
            front.path,
            headers=stranger.signed().headers,
            body=stranger.body,
            deadline=asyncio.get_running_loop().time() + PATIENCE_SECONDS,
            max_body=65_536,
        )
        assert json.loads(foreign.body)["error"]["code"] == -32001
        first = await front.result("tasks/cancel", {"id": "t-1"})
        second = await front.result("tasks/cancel", {"id": "t-1"})
        assert first["status"]["state"] == second["status"]["state"] == "canceled"
        call.cancel()
        await asyncio.wait([call])
    assert agent.cancels() == 1
