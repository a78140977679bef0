"""Callers who leave a JSON Invocation: it is recorded as canceled, and the Agent is told once, if there is a Task."""

import asyncio

import pytest

from tests.support.agent import a_message, a_task, credential_of, data, invocation_of, rpc_error
from tests.support.loop import Platform, invoking
from tests.support.peers import Behaviour, after, hold
from tests.support.waiting import promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("CAN-04", "CAN-06")
async def test_leaving_while_a_task_is_followed_cancels_it_once(platform: Platform) -> None:
    platform.agent.script(a_task("working"))
    before = len(platform.agent.calls("tasks/cancel"))
    async with invoking(platform):
        request = await platform.agent.arrival("tasks/get", len(platform.agent.calls("tasks/get")) + 2)
    invocation_id = invocation_of(request)
    cancel = await platform.agent.arrival("tasks/cancel", before + 1)
    assert invocation_of(cancel) == invocation_id
    detail = await platform.ended(invocation_id)
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "canceled"]
    assert detail["invocation"]["errorCode"] == "CANCELED"
    await asyncio.sleep(0.1)
    assert platform.agent.methods(invocation_id).count("tasks/cancel") == 1
    requests = platform.agent.calls(None, invocation_id)
    assert len({credential_of(item).claims["jti"] for item in requests}) == len(requests)
    assert cancel.json["params"] == {"id": "task-7"}
    assert cancel.values("x-platform-delegation") == []


@pytest.mark.second_ring
@pytest.mark.rows("CAN-05")
async def test_leaving_while_the_first_message_blocks_closes_the_connection_to_the_agent(platform: Platform) -> None:
    platform.agent.script(hold)
    async with invoking(platform):
        request = await platform.agent.arrival("message/send", len(platform.agent.calls("message/send")) + 1)
    async with promptly(2):
        await request.left.wait()
    detail = await platform.ended(invocation_of(request))
    assert detail["events"][-1]["type"] == "canceled"
    await asyncio.sleep(0.1)
    assert platform.agent.methods(invocation_of(request)) == ["message/send"]


@pytest.mark.second_ring
@pytest.mark.rows("CAN-08")
@pytest.mark.parametrize("answer", [rpc_error(-32002), rpc_error(-32001), hold, a_task("completed", [data(1)])])
async def test_whatever_the_agent_says_to_a_cancel_changes_nothing(platform: Platform, answer: Behaviour) -> None:
    platform.agent.script(a_task("working"))
    usual, platform.agent.on_cancel = platform.agent.on_cancel, answer
    before = len(platform.agent.calls("tasks/cancel"))
    async with invoking(platform):
        await platform.agent.arrival("tasks/get", len(platform.agent.calls("tasks/get")) + 1)
    cancel = await platform.agent.arrival("tasks/cancel", before + 1)
    detail = await platform.ended(invocation_of(cancel))
    assert detail["events"][-1]["type"] == "canceled"
    await asyncio.sleep(0.1)
    assert len(platform.agent.calls("tasks/cancel", invocation_of(cancel))) == 1
    platform.agent.on_cancel = usual


@pytest.mark.rows("CAN-05")
async def test_a_caller_who_sends_more_bytes_is_treated_as_gone(platform: Platform) -> None:
    """A second request on the same connection would hide the caller's leaving; the connection is closed instead."""
    platform.agent.script(hold)
    body = platform.request()
    head = (
        f"POST /v1/workspaces/space/invocations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {platform.token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode()
    count = len(platform.agent.calls("message/send")) + 1
    reader, writer = await asyncio.open_connection("127.0.0.1", platform.gateway.port)
    writer.write(head + body)
    request = await platform.agent.arrival("message/send", count)
    writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
    async with promptly(2):
        assert await reader.read() == b""
    writer.close()
    assert (await platform.ended(invocation_of(request)))["events"][-1]["type"] == "canceled"


@pytest.mark.second_ring
@pytest.mark.rows("CAN-04")
async def test_an_answer_that_came_first_stands(platform: Platform) -> None:
    release = asyncio.Event()
    platform.agent.script(after(release, a_message(data(1))))
    async with invoking(platform) as call:
        request = await platform.agent.arrival("message/send", len(platform.agent.calls("message/send")) + 1)
        release.set()
        assert await call == 200
    assert (await platform.types(invocation_of(request)))[-1] == "succeeded"
