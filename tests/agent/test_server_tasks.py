"""AgentServer runs each Skill as a Task: results, chunks, rejections, cancel, history, and streams taken up again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aop.a2a.v0_3 import TaskState
from aop.agent import AgentContext, AgentSkill, InputRefused, NestedCallFailed, current
from aop.agent.server.task import NEXT_STATES, SkillTask
from aop.contracts.errors import ErrorCode
from tests.agent.agents import ask
from tests.agent.served import BLOCKING, PATH, ServedAgent, echo, message, message_of, served_agent
from tests.support.waiting import becomes_true, promptly


class Count(msgspec.Struct, forbid_unknown_fields=True):
    to: int


async def count(limits: Count, _: AgentContext) -> AsyncIterator[dict[str, int]]:
    for number in range(limits.to):
        yield {"number": number}


async def words(text: str, _: AgentContext) -> AsyncIterator[str]:
    for word in text.split():
        yield f"{word} "


async def either(value: dict[str, Any] | str, _: AgentContext) -> Any:
    return value


class Held:
    """A Skill that gives one chunk and then waits until it is let go; it counts how often it was stopped."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()
        self.stopped = 0

    async def run(self, _: dict[str, Any], context: AgentContext) -> AsyncIterator[str]:
        try:
            yield "one"
            self.begun.set()
            await self.go.wait()
            yield "two"
        except asyncio.CancelledError:
            self.stopped += 1
            raise


def texts(events: list[dict[str, Any]]) -> list[str]:
    parts = [part for event in events if event["kind"] == "artifact-update" for part in event["artifact"]["parts"]]
    return [part["text"] for part in parts]


async def test_a_plain_result_is_the_one_artifact_of_a_completed_task(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}) as agent:
        task = await agent.result("message/send", message({"a": [1, None]}) | BLOCKING)
        assert task["status"]["state"] == "completed"
        assert [artifact["parts"] for artifact in task["artifacts"]] == [[{"kind": "data", "data": {"a": [1, None]}}]]


async def test_chunks_of_text_are_one_text_and_other_chunks_an_array_unless_the_skill_joins_them(
    tmp_path: Path,
) -> None:
    joined = AgentSkill(count, join=lambda chunks: {"total": len(chunks)})
    async with served_agent(tmp_path, {"words": words, "count": count, "joined": joined}) as agent:
        told = await agent.result("message/send", message("a b") | BLOCKING)
        assert told["artifacts"][0]["parts"] == [{"kind": "text", "text": "a b "}]
        listed = await agent.result("message/send", message({"to": 2}) | BLOCKING, skill="count")
        assert listed["artifacts"][0]["parts"][0]["data"] == [{"number": 0}, {"number": 1}]
        total = await agent.result("message/send", message({"to": 2}) | BLOCKING, skill="joined")
        assert total["artifacts"][0]["parts"][0]["data"] == {"total": 2}


async def test_a_stream_appends_each_chunk_to_one_artifact_and_then_ends(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"words": words}) as agent:
        events = [event async for event in agent.events("message/stream", message("a b c"))]
        assert [event["kind"] for event in events] == ["task", *["artifact-update"] * 3, "status-update"]
        assert texts(events) == ["a ", "b ", "c "]
        pieces = [(event["artifact"]["artifactId"], event["append"]) for event in events[1:-1]]
        assert pieces == [("result", False), ("result", True), ("result", True)]
        assert (events[-1]["status"]["state"], events[-1]["final"]) == ("completed", True)


async def test_a_text_part_is_the_input_of_a_skill_that_takes_a_text(tmp_path: Path) -> None:
    part = {"kind": "text", "text": "a b"}
    async with served_agent(tmp_path, {"words": words, "echo": echo, "either": either}) as agent:
        for skill, state in (("words", "completed"), ("either", "completed"), ("echo", "input-required")):
            done = await agent.result("message/send", message_of([part]) | BLOCKING, skill=skill)
            assert done["status"]["state"] == state


async def test_a_task_that_waits_for_input_goes_on_with_data_in_its_own_context_alone(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}) as agent:
        waiting = await agent.result("message/send", message_of([{"kind": "text", "text": "hi"}]))
        same = {"taskId": waiting["id"]}
        assert await agent.code("message/send", message({}, **same, contextId="other")) == -32602
        done = await agent.result("message/send", message({}, **same) | BLOCKING)
        assert (done["id"], done["status"]["state"]) == (waiting["id"], "completed")
        assert await agent.code("message/send", message({}, **same)) == -32602


@pytest.mark.parametrize("data", [{}, {"to": "2"}, {"to": 2.5}, {"to": 1e300}, {"to": 2, "x": 1}, [1]])
async def test_an_input_that_does_not_fit_the_function_is_rejected_with_the_reason(tmp_path: Path, data: Any) -> None:
    async with served_agent(tmp_path, {"count": count}) as agent:
        status = (await agent.result("message/send", message(data) | BLOCKING))["status"]
        assert status["state"] == "rejected"
        assert "count" in status["message"]["parts"][0]["text"]
        # To a schema, 2.0 is an integer.
        assert (await agent.result("message/send", message({"to": 2.0}) | BLOCKING))["status"]["state"] == "completed"


async def _refuse(_: dict[str, Any], context: AgentContext) -> None:
    raise InputRefused("not on Sundays")


async def _fail(_: dict[str, Any], context: AgentContext) -> None:
    raise KeyError("secret-input")


async def _canceled_child(_: dict[str, Any], context: AgentContext) -> None:
    raise NestedCallFailed(ErrorCode.CANCELED, "gone")


async def _own_timeout(_: dict[str, Any], context: AgentContext) -> None:
    raise TimeoutError


@pytest.mark.parametrize(
    ("skill", "state", "note"),
    [
        (_refuse, "rejected", "not on Sundays"),
        (_fail, "failed", "The work failed."),
        (_own_timeout, "failed", "The work failed."),
        (_canceled_child, "canceled", None),
    ],
)
async def test_what_a_skill_raises_decides_how_its_task_ends(
    tmp_path: Path, skill: Any, state: str, note: str | None
) -> None:
    async with served_agent(tmp_path, {"skill": skill}) as agent:
        status = (await agent.result("message/send", message({}) | BLOCKING))["status"]
        assert status["state"] == state
        assert (status["message"]["parts"][0]["text"] if "message" in status else None) == note


async def test_a_skill_knows_its_context_in_both_ways(tmp_path: Path) -> None:
    seen: list[tuple[AgentContext, AgentContext]] = []

    async def read_context(_: dict[str, Any], context: AgentContext) -> None:
        seen.append((context, current()))

    async with served_agent(tmp_path, {"read_context": read_context}) as agent:
        await agent.result("message/send", message({}) | BLOCKING)
        ((context, same),) = seen
        assert context is same
        assert (context.capability, context.workspace_id) == ("read_context", "workspace-under-test")


async def test_a_cancel_ends_the_task_and_its_stream_at_once_and_only_once(tmp_path: Path) -> None:
    held = Held()
    async with served_agent(tmp_path, {"held": held.run}) as agent:
        events = []
        async for event in agent.events("message/stream", message({})):
            events.append(event)
            if event["kind"] == "artifact-update":
                found = await agent.result("tasks/cancel", {"id": event["taskId"]})
                assert found["status"]["state"] == "canceled"
        assert (events[-1]["status"]["state"], events[-1]["final"]) == ("canceled", True)
        assert held.stopped == 1
        assert await agent.code("tasks/cancel", {"id": events[0]["id"]}) == -32002


async def test_a_blocking_caller_that_leaves_stops_the_work_and_a_stream_that_is_left_goes_on(tmp_path: Path) -> None:
    held = Held()
    async with served_agent(tmp_path, {"held": held.run}) as agent:
        call = asyncio.create_task(agent.result("message/send", message({}) | BLOCKING))
        async with promptly(5):
            await held.begun.wait()
        call.cancel()
        await asyncio.wait({call})

        async def is_stopped() -> bool:
            return held.stopped == 1

        await becomes_true(is_stopped)
        async with aclosing(agent.events("message/stream", message({}))) as events:
            task = await anext(events)
        held.go.set()

        async def is_completed() -> bool:
            return await agent.state(task["id"]) == "completed"

        await becomes_true(is_completed)


async def test_a_stream_is_taken_up_again_where_the_task_is_now(tmp_path: Path) -> None:
    held = Held()
    async with served_agent(tmp_path, {"held": held.run}) as agent:
        async with aclosing(agent.events("message/stream", message({}))) as events:
            task, first = await anext(events), await anext(events)
        assert texts([first]) == ["one"]
        again = agent.events("tasks/resubscribe", {"id": task["id"]})
        snapshot = await anext(again)
        assert [(artifact["artifactId"], len(artifact["parts"])) for artifact in snapshot["artifacts"]] == [
            ("result", 1)
        ]
        held.go.set()
        rest = [event async for event in again]
        assert (texts(rest), rest[-1]["status"]["state"]) == (["two"], "completed")
        (whole,) = [event async for event in agent.events("tasks/resubscribe", {"id": task["id"]})]
        assert (whole["status"]["state"], len(whole["artifacts"][0]["parts"])) == ("completed", 2)


@pytest.mark.parametrize(("asked_for", "messages"), [(None, 2), (0, 0), (1, 1), (9, 2)])
async def test_the_history_holds_the_latest_messages_as_they_were_sent(
    tmp_path: Path, asked_for: int | None, messages: int
) -> None:
    async with served_agent(tmp_path, {"echo": echo}) as agent:
        waiting = await agent.result("message/send", message_of([{"kind": "text", "text": "hi"}]))
        await agent.result("message/send", message({"n": 1}, taskId=waiting["id"]) | BLOCKING)
        query = {"id": waiting["id"]} | ({} if asked_for is None else {"historyLength": asked_for})
        history = (await agent.result("tasks/get", query)).get("history", [])
        assert len(history) == messages
        if messages:
            assert history[-1]["parts"] == [{"kind": "data", "data": {"n": 1}}]


async def test_a_task_is_known_to_its_own_workspace_alone(tmp_path: Path) -> None:
    async with served_agent(tmp_path, {"echo": echo}) as agent:
        done = await agent.result("message/send", message({}) | BLOCKING)
        assert await agent.state(done["id"]) == "completed"
        assert await _code_for_another_workspace(agent, done["id"]) == -32001


async def _code_for_another_workspace(agent: ServedAgent, task_id: str) -> int:
    draft = agent.router.draft({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task_id}})
    draft.claims["workspaceId"] = "other"
    request = draft.signed()
    answer = await ask(agent.client, agent.port, "POST", PATH, request.headers, request.body)
    return int(msgspec.json.decode(answer.body)["error"]["code"])


def test_a_task_moves_as_its_table_says_and_never_out_of_an_end() -> None:
    for start, allowed in NEXT_STATES.items():
        for state in TaskState:
            task = SkillTask("workspace", None, streamed=False)
            task.state = start
            assert task.move(state) == (state in allowed)
            assert task.state is (state if state in allowed else start)
    ends = {state for state, allowed in NEXT_STATES.items() if not allowed}
    assert ends == {TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED}
