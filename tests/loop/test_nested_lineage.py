"""Agents that call Agents through the Router: one Trace, one root Task, right parents, each its own Release."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aop.agent import AgentContext, NestedCallFailed
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode
from tests.support.agent import data, delegation_of, echo, rpc_error, saying
from tests.support.loop import Changes, running_platform
from tests.support.nested import (
    ANY_PORT,
    Crew,
    a_message_stream,
    nested_body,
    running_crew,
    running_parent,
)
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.asyncio(loop_scope="module")
Record = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crew(postgres: PostgresForTests) -> AsyncIterator[Crew]:
    allowed = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": ANY_PORT}
    urls = await postgres.new_platform()
    changes = Changes(control_plane=allowed, router=allowed)
    async with running_platform(urls, changes) as platform, running_crew(platform) as crew:
        yield crew
    await postgres.drop(urls.migration.rpartition("/")[2])


async def leaf(context: AgentContext, skill_input: Any) -> Any:
    return {"by": context.agent_id, "given": skill_input}


def calling(*targets: str) -> Any:
    """An act that calls these Agents at the same time and gives their results."""

    async def act(context: AgentContext, skill_input: Any) -> Any:
        return await asyncio.gather(*(context.call(target, "work", skill_input) for target in targets))

    return act


async def trace_of(crew: Crew, agent_id: str, content: bytes = b"{}") -> tuple[Any, list[Record]]:
    """The result of a root call, and its Trace, which must be sound."""
    reply = await crew.platform.invoke(content, agentId=agent_id)
    assert reply.status == 200, reply.body
    trace = await crew.platform.read(f"/traces/{reply.json['traceId']}")
    assert document("trace/2").violations(trace) == ()
    records: list[Record] = trace["invocations"]
    assert {record["rootTaskId"] for record in records} == {reply.json["rootTaskId"]}
    assert {record["traceId"] for record in records} == {reply.json["traceId"]}
    assert records[0]["invocationId"] == reply.json["invocationId"]
    seen: dict[str, Record] = {}
    for record in records:
        parent = record.get("parentInvocationId")
        if parent is None:
            assert record["caller"] == {"type": "user", "id": "alice"}
        else:
            assert record["caller"] == {"type": "agent", "id": seen[parent]["targetAgentId"]}
            assert record["createdAt"] >= seen[parent]["createdAt"]
        seen[record["invocationId"]] = record
    return reply.json["result"], records


@pytest.mark.rows("NEST-01")
async def test_each_of_two_agents_can_call_the_other(crew: Crew) -> None:
    targets = dict[str, str]()

    async def either(context: AgentContext, skill_input: Any) -> Any:
        if context.parent_invocation_id is not None:
            return await leaf(context, skill_input)
        return await context.call(targets[context.agent_id], "work", {"from": context.agent_id})

    first, second = await crew.hire(either), await crew.hire(either)
    targets.update({first: second, second: first})
    pins = set()
    for caller, target in targets.items():
        result, records = await trace_of(crew, caller)
        assert result == {"by": target, "given": {"from": caller}}
        root, child = records
        assert (root["targetAgentId"], child["targetAgentId"]) == (caller, target)
        assert child["parentInvocationId"] == root["invocationId"]
        assert child["caller"] == {"type": "agent", "id": caller}
        assert {record["status"] for record in records} == {"succeeded"}
        pins.add((root["agentReleaseId"], root["agentCardDigest"], child["agentReleaseId"], child["agentCardDigest"]))
        detail = await crew.platform.detail(child["invocationId"])
        assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "succeeded"]
    (one, other) = pins
    assert one == (*other[2:], *other[:2])
    assert len(set(one)) == 4


@pytest.mark.rows("NEST-02")
async def test_three_levels_and_a_fan_out_are_one_trace(crew: Crew) -> None:
    bottom, side = await crew.hire(leaf), await crew.hire(leaf)
    middle = await crew.hire(calling(bottom, bottom))
    top = await crew.hire(calling(middle, side, middle))
    result, records = await trace_of(crew, top, b'{"n":1.50}')
    below = {"by": bottom, "given": {"n": 1.5}}
    assert result == [[below, below], {"by": side, "given": {"n": 1.5}}, [below, below]]
    assert [record["targetAgentId"] for record in records].count(bottom) == 4
    levels = dict[str, int]()
    for record in records:
        levels[record["invocationId"]] = levels.get(record.get("parentInvocationId", ""), -1) + 1
    assert sorted(levels.values()) == [0, 1, 1, 1, 2, 2, 2, 2]
    # Parents before children, siblings by creation: level by level, each level in the order of its parents.
    assert list(levels.values()) == sorted(levels.values())
    assert len({record["agentReleaseId"] for record in records}) == 4


@pytest.mark.rows("NEST-03")
async def test_what_an_agent_learns_of_its_place_is_exact_at_every_level(crew: Crew) -> None:
    bottom = await crew.hire(leaf)
    top = await crew.hire(calling(bottom))
    _, (root, child) = await trace_of(crew, top)
    contexts = {context.invocation_id: context for _, context in crew.seen}
    for record in (root, child):
        context = contexts[record["invocationId"]]
        assert (context.root_task_id, context.trace_id) == (record["rootTaskId"], record["traceId"])
        assert context.parent_invocation_id == record.get("parentInvocationId")
        assert (context.agent_id, context.agent_version) == (record["targetAgentId"], record["agentCardVersion"])
        assert (context.release_id, context.card_digest) == (record["agentReleaseId"], record["agentCardDigest"])
        assert (context.workspace_id, context.capability) == (record["workspaceId"], record["capability"])


@pytest.mark.rows("NEST-03")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_childs_delegation_is_one_deeper_and_names_the_child(crew: Crew, stream: bool) -> None:
    platform = crew.platform
    accept = ((b"accept", b"text/event-stream" if stream else b"application/json"),)
    async with running_parent(platform) as parent:
        platform.agent.script(a_message_stream(1) if stream else echo)
        reply = await parent.call(headers=accept, stream=stream)
        (request,) = (call for call in platform.agent.received[-1:])
        token = delegation_of(request)
        assert document("agent-delegation/2").violations(token.claims) == ()
        child = (await platform.detail(request.values("x-platform-invocation-id")[0]))["invocation"]
        assert token.claims["depth"] == parent.claims["depth"] + 1 == 1
        for name in ("workspaceId", "rootTaskId", "traceId", "invocationId"):
            assert token.claims[name] == child[name]
        assert (token.claims["agentId"], token.claims["releaseId"]) == (child["targetAgentId"], child["agentReleaseId"])
        assert request.values("x-platform-parent-invocation-id") == [parent.invocation_id]
        assert parent.delegation.encode() not in reply.body
        assert request.values("x-platform-delegation")[0].encode() not in reply.body


@pytest.mark.rows("NEST-07")
@pytest.mark.parametrize(("depth", "fails"), [(16, False), (17, True)])
async def test_a_chain_is_sixteen_deep_at_most(crew: Crew, depth: int, fails: bool) -> None:
    refused = list[NestedCallFailed]()

    async def deeper(context: AgentContext, skill_input: Any) -> Any:
        if skill_input["left"] == 0:
            return "bottom"
        try:
            return await context.call(context.agent_id, "work", {"left": skill_input["left"] - 1})
        except NestedCallFailed as failed:
            refused.append(failed)
            return str(failed.code)

    agent_id = await crew.hire(deeper)
    result, records = await trace_of(crew, agent_id, b'{"left":%d}' % depth)
    assert (result, len(records)) == ("FORBIDDEN" if fails else "bottom", 17)
    assert [failed.code for failed in refused] == [ErrorCode.FORBIDDEN] * fails
    assert [failed.invocation_id for failed in refused] == [None] * fails
    parents = [record.get("parentInvocationId") for record in records]
    assert parents == [None, *(record["invocationId"] for record in records[:-1])]


@pytest.mark.rows("NEST-11")
async def test_a_streamed_child_names_its_own_id_in_the_shared_trace_and_root_task(crew: Crew) -> None:
    platform = crew.platform
    async with running_parent(platform) as parent:
        platform.agent.script(a_message_stream({"n": 1}, "two"))
        reply = await parent.call(headers=((b"accept", b"text/event-stream"),), stream=True)
    assert (reply.status, reply.header("content-type")) == (200, "text/event-stream")
    frames = [json.loads(line.removeprefix("data: ")) for line in reply.body.decode().split("\n\n") if line]
    assert all(document("invocation-stream-event/2").violations(frame) == () for frame in frames)
    assert [frame["type"] for frame in frames] == ["accepted", "chunk", "chunk", "completed"]
    assert [frame.get("chunk") for frame in frames] == [None, {"n": 1}, "two", None]
    (ids,) = {(frame["invocationId"], frame["rootTaskId"], frame["traceId"]) for frame in frames}
    assert ids[0] not in {parent.invocation_id, None}
    assert ids[1:] == (parent.claims["rootTaskId"], parent.claims["traceId"])
    assert (reply.header("x-platform-invocation-id"), reply.header("x-platform-root-task-id")) == ids[:2]
    detail = await platform.detail(ids[0])
    assert detail["invocation"]["parentInvocationId"] == parent.invocation_id
    assert detail["events"][3]["chunkCount"] == 2


@pytest.mark.rows("NEST-11")
async def test_the_kit_streams_a_child_and_tells_how_it_failed(crew: Crew) -> None:
    target = crew.platform.card["agentId"]

    async def act(context: AgentContext, skill_input: Any) -> Any:
        chunks: list[Any] = []
        stream = context.stream(target, "work", skill_input)
        try:
            async with stream:
                async for chunk in stream:
                    chunks.append(chunk)
        except NestedCallFailed as failed:
            return [failed.invocation_id, *chunks, str(failed.code)]
        return [stream.invocation_id, *chunks]

    agent_id = await crew.hire(act)
    ends = {"good": a_message_stream(1, {"b": 2}), "failing": rpc_error(-1), "gone": saying(b"", 500)}
    told: dict[str, list[Any]] = {
        "good": [1, {"b": 2}],
        "failing": ["AGENT_EXECUTION_FAILED"],
        "gone": ["AGENT_UNAVAILABLE"],
    }
    for name, behaviour in ends.items():
        crew.platform.agent.script(behaviour)
        result, records = await trace_of(crew, agent_id)
        assert result == [records[1]["invocationId"], *told[name]]


@pytest.mark.rows("NEST-10")
async def test_a_failing_child_fails_its_parent_only_if_the_parent_lets_it(crew: Crew) -> None:
    target = crew.platform.card["agentId"]
    agent_id = await crew.hire(calling(target))
    crew.platform.agent.script(rpc_error(-1))
    reply = await crew.platform.invoke(agentId=agent_id)
    await crew.platform.require_failed(reply, 502, "AGENT_EXECUTION_FAILED")
    records = (await crew.platform.read(f"/traces/{reply.json['traceId']}"))["invocations"]
    assert [record["status"] for record in records] == ["failed", "failed"]


@pytest.mark.rows("NEST-01")
async def test_the_bytes_of_an_input_reach_the_child_unchanged(crew: Crew) -> None:
    platform, content = (
        crew.platform,
        b'{ "n": 1.50E+2, "t": "\\u0041\xc3\xa9", "big": 123456789012345678901234567890 }',
    )
    async with running_parent(platform) as parent:
        reply = await parent.router.post(
            "/agent/v1/invocations", nested_body(parent.target, content), token=parent.delegation
        )
    assert content in platform.agent.received[-1].body
    assert content in reply.body
    assert data(reply.json["result"]) == data(json.loads(content))
