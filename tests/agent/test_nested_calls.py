"""Nested calls: what goes to the Router, what comes back, and how each broken answer ends."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from aop.agent import AgentContext, DelegationMissing, NestedCallFailed, NestedCallInterrupted
from aop.agent.call.calls import NestedCalls
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.result_stream import ResultStreamReader, StreamBroken
from tests.agent.scripted_router import (
    ACCEPTED,
    CHILD,
    CHUNKS,
    COMPLETED,
    DELEGATION,
    IDS,
    RESULT,
    TRACE,
    ScriptedRouter,
    a_context,
    a_stream,
    calling,
    collected,
    event,
)
from tests.support.vectors import each
from tests.support.waiting import promptly


async def test_a_call_sends_the_delegation_and_gives_the_result() -> None:
    router = ScriptedRouter(pieces=[json.dumps(RESULT).encode()])
    async with calling(router) as context:
        assert await context.call("acme:adder", "add", {"terms": [1, 2]}) == {"sum": 3}
    headers, body = router.requests[0]
    assert headers[b"authorization"] == f"Bearer {DELEGATION}".encode()
    assert (headers[b"accept"], headers[b"content-type"]) == (b"application/json", b"application/json")
    assert body == {"targetAgentId": "acme:adder", "capability": "add", "input": {"terms": [1, 2]}, "stream": False}
    assert document("nested-invocation-request/2").is_valid(body)


async def test_a_call_names_the_span_it_is_made_from_when_there_is_one() -> None:
    router = ScriptedRouter(pieces=[json.dumps(RESULT).encode()])
    given, own = f"00-{TRACE}-{'a' * 16}-01", f"00-{TRACE}-{'b' * 16}-01"
    async with calling(router) as context:
        await context.call("acme:adder", "add", {})
        traced = replace(context, traceparent=given)
        await traced.call("acme:adder", "add", {})
        await traced.call("acme:adder", "add", {}, traceparent=own)
    named = [headers.get(b"traceparent") for headers, _ in router.requests]
    assert named == [None, given.encode(), own.encode()]


async def test_two_calls_at_once_are_two_requests() -> None:
    router = ScriptedRouter(pieces=[json.dumps(RESULT).encode()])
    async with calling(router) as context:
        results = await asyncio.gather(*(context.call("acme:adder", "add", {}) for _ in range(2)))
    assert results == [{"sum": 3}] * 2
    assert len(router.requests) == 2


async def test_the_chunks_of_a_stream_come_in_order_and_end_after_completed() -> None:
    router = a_stream(ACCEPTED, b":\n\n", *CHUNKS, COMPLETED)
    async with calling(router) as context, context.stream("acme:adder", "add", {}) as chunks:
        assert [chunk async for chunk in chunks] == [{"a": 1}, None, "x"]
        assert chunks.invocation_id == CHILD
    headers, body = router.requests[0]
    assert (headers[b"accept"], body["stream"]) == (b"text/event-stream", True)


async def test_a_stream_cut_into_single_bytes_gives_the_same_chunks() -> None:
    whole = b"".join([ACCEPTED, *CHUNKS, COMPLETED])
    async with calling(a_stream(*(whole[n : n + 1] for n in range(len(whole))))) as context:
        assert await collected(context) == [{"a": 1}, None, "x"]


async def test_a_refusal_carries_the_platforms_code_and_no_child() -> None:
    error = {
        "code": "AGENT_NOT_INSTALLED",
        "message": "The Agent is not installed in this Workspace.",
        "traceId": TRACE,
    }
    for build in (_call, collected):
        async with calling(ScriptedRouter(404, pieces=[json.dumps(error).encode()])) as context:
            with pytest.raises(NestedCallFailed) as failed:
                await build(context)
        assert (failed.value.code, failed.value.invocation_id) == (ErrorCode.AGENT_NOT_INSTALLED, None)
        assert not isinstance(failed.value, NestedCallInterrupted)


@pytest.mark.rows("SAFE-12")
async def test_a_reason_reaches_the_author_and_one_of_another_code_is_not_believed() -> None:
    error = {"code": "DEPENDENCY_ERROR", "message": "m", "reason": "acceptance_unknown", "traceId": TRACE}
    async with calling(ScriptedRouter(503, pieces=[json.dumps(error).encode()])) as context:
        with pytest.raises(NestedCallFailed) as failed:
            await _call(context)
    assert (failed.value.reason, type(failed.value)) == (Reason.ACCEPTANCE_UNKNOWN, NestedCallFailed)
    wrong = json.dumps({**error, "reason": "schema_work"}).encode()
    async with calling(ScriptedRouter(503, pieces=[wrong])) as context:
        with pytest.raises(NestedCallInterrupted):
            await _call(context)


async def test_violations_of_the_input_reach_the_author() -> None:
    violation = {"pointer": "/input/terms", "rule": "required"}
    error = {"code": "VALIDATION_ERROR", "message": "m", "traceId": TRACE, "violations": [violation]}
    async with calling(ScriptedRouter(400, pieces=[json.dumps(error).encode()])) as context:
        with pytest.raises(NestedCallFailed) as failed:
            await _call(context)
    assert [(item.pointer, item.rule) for item in failed.value.violations] == [("/input/terms", "required")]


async def test_a_failed_child_raises_with_its_own_id_in_both_modes() -> None:
    error = {"code": "TIMEOUT", "message": "The invocation did not finish in time.", **IDS}
    terminal = event(1, "timed_out", "timed_out", error=error)
    for router in (ScriptedRouter(504, pieces=[json.dumps(error).encode()]), a_stream(ACCEPTED, terminal)):
        async with calling(router) as context:
            with pytest.raises(NestedCallFailed) as failed:
                await (_call if router.status == 504 else collected)(context)
        assert (failed.value.code, failed.value.invocation_id) == (ErrorCode.TIMEOUT, CHILD)


OTHER_TRACE = {**RESULT, "traceId": "f" * 32}


@pytest.mark.parametrize(
    "router",
    [
        ScriptedRouter(pieces=[b"<html>"]),
        ScriptedRouter(pieces=[json.dumps({**RESULT, "extra": 1}).encode()]),
        ScriptedRouter(pieces=[json.dumps(RESULT).encode()[:-1] + b',"result":1}']),
        ScriptedRouter(pieces=[json.dumps(OTHER_TRACE).encode()]),
        ScriptedRouter(502, content_type=b"text/html", pieces=[b"<html>bad gateway</html>"]),
        ScriptedRouter(302, pieces=[b""]),
    ],
    ids=["no JSON", "unknown member", "repeated member", "other lineage", "no Platform Error", "redirect"],
)
async def test_an_answer_that_is_no_result_of_this_lineage_is_interrupted(router: ScriptedRouter) -> None:
    async with calling(router) as context:
        with pytest.raises(NestedCallInterrupted) as failed:
            await _call(context)
    assert failed.value.code is ErrorCode.DEPENDENCY_ERROR
    assert DELEGATION not in str(failed.value)


FOREIGN = event(1, "chunk", "running", chunkIndex=0, chunk=1).replace(CHILD.encode(), f"inv_{'9' * 32}".encode())


@pytest.mark.parametrize(
    ("pieces", "chunks"),
    [
        ([], 0),
        ([ACCEPTED], 0),
        ([ACCEPTED, *CHUNKS], 3),
        ([ACCEPTED, CHUNKS[0], CHUNKS[2], COMPLETED], 1),
        ([CHUNKS[0]], 0),
        ([ACCEPTED, FOREIGN], 0),
        ([ACCEPTED.replace(TRACE.encode(), b"f" * 32)], 0),
        ([ACCEPTED, CHUNKS[0], b"data: {\n\n"], 1),
        ([ACCEPTED, CHUNKS[0], b"id: 4\n\n"], 1),
        ([ACCEPTED, CHUNKS[0][:-9]], 0),
    ],
    ids=(
        *("empty", "no terminal", "no terminal after chunks", "gap", "no accepted"),
        *("foreign id", "foreign trace", "no JSON", "other framing", "cut frame"),
    ),
)
async def test_a_stream_that_is_not_exact_is_interrupted_after_what_was_whole(pieces: list[bytes], chunks: int) -> None:
    for joined in ([b"".join(pieces)], pieces):
        async with calling(a_stream(*joined)) as context:
            stream = context.stream("acme:adder", "add", {})
            for _ in range(chunks):
                await anext(stream)
            with pytest.raises(NestedCallInterrupted):
                await anext(stream)


async def test_leaving_a_stream_early_closes_the_connection() -> None:
    router = a_stream(ACCEPTED, CHUNKS[0], silent=True)
    async with calling(router) as context:
        async with context.stream("acme:adder", "add", {}) as chunks:
            assert await anext(chunks) == {"a": 1}
        async with promptly(2):
            await router.left.wait()


@pytest.mark.parametrize("streamed", [False, True])
async def test_cancelling_a_call_closes_the_connection(streamed: bool) -> None:
    router = a_stream(ACCEPTED, silent=True) if streamed else ScriptedRouter(silent=True)
    async with calling(router) as context:
        task = asyncio.create_task((collected if streamed else _call)(context))
        async with promptly(2):
            await router.reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await router.left.wait()


async def test_a_call_ends_at_its_own_time_limit() -> None:
    async with calling(ScriptedRouter(silent=True)) as context:
        with pytest.raises(NestedCallInterrupted):
            await context.call("acme:adder", "add", {}, timeout=0.05)


async def test_a_router_out_of_reach_is_an_interrupted_call() -> None:
    context = a_context(NestedCalls("http://127.0.0.1:1"))
    for build in (_call, collected):
        with pytest.raises(NestedCallInterrupted):
            await build(context)


async def test_a_request_without_delegation_makes_no_calls() -> None:
    context = a_context(NestedCalls("http://127.0.0.1:1"), None)
    with pytest.raises(DelegationMissing):
        await _call(context)
    with pytest.raises(DelegationMissing):
        context.stream("acme:adder", "add", {})


@each("stream")
def test_a_stream_vector_is_complete_interrupted_or_broken_at_its_rule(case: dict[str, Any]) -> None:
    stream, verdict = ResultStreamReader(), {}
    for at, one in enumerate(case["events"]):
        try:
            stream.read(json.dumps(one).encode())
        except StreamBroken as broken:
            verdict = {"verdict": "violation", "at": at, "rule": broken.rule}
            break
    else:
        verdict = {"verdict": "complete" if stream.ended else "interrupted"}
    assert verdict == {key: case[key] for key in ("verdict", "at", "rule") if key in case}


async def _call(context: AgentContext) -> Any:
    return await context.call("acme:adder", "add", {})
