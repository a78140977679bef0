"""AgentServer stays within its limits of time, number and bytes, and one caller does not hold up another."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from aop.agent import AgentContext, TaskLimits
from aop.agent.server.endpoint import A2AEndpoint
from aop.net.asgi import Message
from tests.agent.served import BLOCKING, ServedAgent, echo, message, served_agent
from tests.support.waiting import becomes_true, promptly

CANARY = "canary-7c1e"


def limits(**members: Any) -> TaskLimits:
    return TaskLimits(**({"seconds": 60.0, "max_output_bytes": 65_536} | members))


async def wait_for_ever(_: dict[str, Any], context: AgentContext) -> None:
    await asyncio.Event().wait()


async def flood(_: dict[str, Any], context: AgentContext) -> AsyncIterator[str]:
    while True:
        yield "x" * 1000
        await asyncio.sleep(0)


async def ended_as(agent: ServedAgent) -> str:
    status = (await agent.result("message/send", message({}) | BLOCKING))["status"]
    return f"{status['state']}: {status['message']['parts'][0]['text']}"


async def test_work_that_takes_longer_than_the_card_allows_fails(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"wait": wait_for_ever}, timeoutMs=50) as agent, promptly(5):
        assert await ended_as(agent) == "failed: The work took longer than the Agent may take."


async def test_a_result_larger_than_the_card_allows_fails(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"flood": flood}, maxOutputBytes=10_000) as agent, promptly(5):
        assert await ended_as(agent) == "failed: The result is larger than the Agent may send."


async def test_all_tasks_together_hold_no_more_bytes_than_they_may(tmp_path: Path) -> None:
    few = limits(max_output_bytes=1_000_000, max_bytes=20_000)
    async with served_agent(tmp_path, {"flood": flood, "echo": echo}, limits=few) as agent, promptly(5):
        assert (await ended_as(agent)).startswith("failed")
        done = await agent.result("message/send", message({}) | BLOCKING, skill="echo")
        assert done["status"]["state"] == "completed"


async def test_more_tasks_than_it_may_run_are_refused_until_one_has_ended(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"wait": wait_for_ever}, limits=limits(max_running=2)) as agent:
        first, _ = [await agent.result("message/send", message({})) for _ in range(2)]
        body = {"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": message({})}
        refused = await agent.post(body)
        assert (refused.status, json.loads(refused.body)["id"]) == (503, 7)
        await agent.result("tasks/cancel", {"id": first["id"]})

        async def has_room() -> bool:
            return (await agent.post(body)).status == 200

        await becomes_true(has_room)


async def test_the_oldest_tasks_that_ended_are_forgotten_first(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}, limits=limits(max_kept=3)) as agent:
        ids = [(await agent.result("message/send", message({}) | BLOCKING))["id"] for _ in range(5)]
        assert [await agent.code("tasks/get", {"id": task_id}) for task_id in ids[:2]] == [-32001] * 2
        assert [await agent.state(task_id) for task_id in ids[2:]] == ["completed"] * 3


async def test_a_task_that_ended_long_ago_is_forgotten(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}, limits=limits(keep_seconds=0)) as agent:
        done = await agent.result("message/send", message({}) | BLOCKING)
        assert await agent.code("tasks/get", {"id": done["id"]}) == -32001


async def test_history_gives_way_to_the_result(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}, maxOutputBytes=4_000) as agent:
        large = await agent.result("message/send", message({"text": "x" * 1_500}) | BLOCKING)
        assert "history" not in await agent.result("tasks/get", {"id": large["id"], "historyLength": 1})
        small = await agent.result("message/send", message({"text": "x"}) | BLOCKING)
        assert "history" in await agent.result("tasks/get", {"id": small["id"], "historyLength": 1})


async def test_a_reader_that_does_not_read_is_given_up_and_holds_up_nobody(tmp_path: Path) -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"{}"

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    endpoint = A2AEndpoint("/", {}, cast("Any", None), send_seconds=0.05)
    async with promptly(2):
        await endpoint._stream(1, cast("Any", source()), send)


async def test_a_call_is_one_record_without_anything_that_was_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(values: dict[str, Any], context: AgentContext) -> None:
        raise KeyError(values["text"])

    caplog.set_level(logging.INFO, "aop.agent")
    async with served_agent(tmp_path, {"echo": echo, "fail": fail}) as agent:
        await agent.result("message/send", message({"text": CANARY}) | BLOCKING)
        await agent.result("message/send", message({"text": CANARY}) | BLOCKING, skill="fail")
        await agent.code("tasks/get", {"id": CANARY})
        await agent.code(CANARY, {})
    records = [json.loads(record.message) for record in caplog.records if record.name == "aop.agent"]
    assert CANARY not in caplog.text
    assert [(record["method"], record["skill"], record["outcome"]) for record in records] == [
        ("message/send", "echo", "completed"),
        ("message/send", "fail", "failed"),
        ("tasks/get", "echo", "refused"),
        ("unknown", "echo", "refused"),
    ]
    assert [record.get("error") for record in records] == [None, "KeyError", "TaskNotFound", "MethodNotFound"]
    assert records[1]["place"].startswith("test_server_limits.py:")
    assert len({record["traceId"] for record in records}) == 4
