"""One invocation as one connected trace: which spans there are, under which parents, and what they say."""

from itertools import pairwise
from typing import Any

import pytest

from aop.contracts.publication import ReleaseState
from aop.telemetry.spans import agent_span_id
from tests.support.agent import a_message, data, rpc_error
from tests.support.collector import OtlpCollector, Seen, children_of, require_connected
from tests.support.loop import Platform
from tests.support.nested import running_crew, running_parent
from tests.support.stream import streaming
from tests.support.streaming_agent import a_whole_stream, streamed

GATEWAY = "POST /v1/workspaces/:workspaceId/invocations"
DISPATCH = "POST /internal/v1/invocations"
NESTED = "POST /agent/v1/invocations"
PHASES = ["resolve", "accept", "agent", "terminal"]
INTERNAL, SERVER, CLIENT = 1, 2, 3
WHO = [f"{space}.agent.{fact}" for space in ("aop", "gen_ai") for fact in ("id", "name", "version")]

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]


def named(spans: list[Seen], name: str) -> Seen:
    (found,) = [span for span in spans if span.name == name]
    return found


async def release_is_known(platform: Platform) -> None:
    """The Card is in the Router's cache, so that nobody is asked for it."""
    assert (await platform.invoke()).status == 200


async def test_an_invocation_is_one_trace_with_the_platforms_own_id(
    platform: Platform, collector: OtlpCollector
) -> None:
    await release_is_known(platform)
    reply = await platform.invoke(b'{"n":1}')
    spans = await collector.trace(reply.json["traceId"], 6)
    root = require_connected(spans)
    assert (root.unit, root.name, root.kind) == ("aop-control-plane", GATEWAY, SERVER)
    (dispatch,) = children_of(spans, root)
    assert (dispatch.unit, dispatch.name, dispatch.kind) == ("aop-router", DISPATCH, SERVER)
    phases = children_of(spans, dispatch)
    assert [span.name for span in phases] == PHASES
    assert [span.kind for span in phases] == [INTERNAL, INTERNAL, CLIENT, INTERNAL]
    assert not any(span.failed for span in spans)
    for earlier, later in pairwise(phases):
        assert earlier.end <= later.start
    assert dispatch.start <= phases[0].start
    assert phases[-1].end <= dispatch.end


async def test_spans_say_what_ran_for_whom_and_how_it_ended(platform: Platform, collector: OtlpCollector) -> None:
    await release_is_known(platform)
    reply = await platform.invoke()
    spans = await collector.trace(reply.json["traceId"], 6)
    card = platform.card
    expected: dict[str, Any] = {
        "http.request.method": "POST",
        "http.route": "/internal/v1/invocations",
        "http.response.status_code": 200,
        "aop.invocation.id": reply.json["invocationId"],
        "aop.root_task.id": reply.json["rootTaskId"],
        "aop.workspace.id": "space",
        "aop.agent.id": card["agentId"],
        "aop.agent.name": card["name"],
        "aop.agent.version": card["version"],
        "gen_ai.agent.id": card["agentId"],
        "gen_ai.agent.name": card["name"],
        "gen_ai.agent.version": card["version"],
        "aop.release.id": platform.release.release_id,
        "aop.capability": "work",
        "aop.stream": False,
        "aop.outcome": "succeeded",
    }
    assert named(spans, DISPATCH).attributes == expected
    about = {name: expected[name] for name in ("aop.invocation.id", "aop.capability", *WHO)}
    call = {"gen_ai.operation.name": "invoke_agent", "a2a.method.name": "SendMessage", "a2a.protocol.version": "0.3.0"}
    assert named(spans, "agent").attributes == about | call
    assert named(spans, "accept").attributes == about
    gateway = named(spans, GATEWAY).attributes
    assert gateway["aop.invocation.id"] == reply.json["invocationId"]
    assert gateway["gen_ai.agent.id"] == card["agentId"]
    assert gateway["http.response.status_code"] == 200


async def test_the_agent_is_told_the_span_it_works_in(platform: Platform, collector: OtlpCollector) -> None:
    reply = await platform.invoke()
    spans = await collector.trace(reply.json["traceId"], 6)
    request = platform.agent.calls("message/send")[-1]
    assert request.values("traceparent") == [f"00-{reply.json['traceId']}-{named(spans, 'agent').span_id}-01"]


async def test_asking_for_a_card_is_part_of_the_trace(platform: Platform, collector: OtlpCollector) -> None:
    card, _, _ = await platform.installed()
    reply = await platform.invoke(agentId=card["agentId"])
    spans = await collector.trace(reply.json["traceId"], 7)
    require_connected(spans)
    (asked,) = children_of(spans, named(spans, "resolve"))
    assert (asked.unit, asked.name) == ("aop-control-plane", "POST /internal/v1/resolve-agent")


async def test_a_callers_own_trace_context_changes_nothing(platform: Platform, collector: OtlpCollector) -> None:
    theirs = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = ((b"traceparent", f"00-{theirs}-00f067aa0ba902b7-00".encode()),)
    reply = await platform.invoke(headers=headers)
    assert reply.json["traceId"] != theirs
    assert require_connected(await collector.trace(reply.json["traceId"], 6)).name == GATEWAY
    assert not [span for span in collector.spans if span.trace_id == theirs]


async def test_a_nested_call_stands_below_the_agent_span_of_its_parent(
    platform: Platform, collector: OtlpCollector
) -> None:
    async with running_crew(platform) as crew:

        async def add(context: Any, skill_input: Any) -> Any:
            return {"sum": skill_input["n"] + 1}

        async def ask(context: Any, skill_input: Any) -> Any:
            return await context.call(adder, "work", {"n": 1})

        adder = await crew.hire(add)
        asker = await crew.hire(ask)
        reply = await platform.invoke(agentId=asker)
        assert reply.json["result"] == {"sum": 2}
        spans = await collector.trace(reply.json["traceId"], 14)
    require_connected(spans)
    nested = named(spans, NESTED)
    (parent,) = [span for span in spans if span.span_id == nested.parent_id]
    assert (parent.name, parent.attributes["aop.agent.id"]) == ("agent", asker)
    assert nested.attributes["aop.parent_invocation.id"] == reply.json["invocationId"]
    assert nested.attributes["aop.agent.id"] == adder
    assert [span.name for span in children_of(spans, nested)] == PHASES


@pytest.mark.parametrize("named_trace", [None, "0" * 31 + "1"])
async def test_a_nested_call_that_names_no_span_of_its_trace_is_still_connected(
    platform: Platform, collector: OtlpCollector, named_trace: str | None
) -> None:
    headers = () if named_trace is None else ((b"traceparent", f"00-{named_trace}-{'a' * 16}-01".encode()),)
    async with running_parent(platform) as parent:
        platform.agent.script(a_message(data(1)))
        child = await parent.call(headers=headers)
        assert child.status == 200
        trace_id = child.json["traceId"]
        spans = await collector.trace(trace_id, 5)
    nested = named(spans, NESTED)
    assert nested.parent_id == agent_span_id(parent.invocation_id)
    spans = await collector.trace(trace_id, len(spans) + 6)
    require_connected(spans)


async def test_an_instrumented_agents_own_span_is_the_parent_of_its_calls(
    platform: Platform, collector: OtlpCollector
) -> None:
    async with running_parent(platform) as parent:
        platform.agent.script(a_message(data(1)))
        own = f"00-{parent.claims['traceId']}-{'b' * 16}-01".encode()
        child = await parent.call(headers=((b"traceparent", own),))
        spans = await collector.trace(child.json["traceId"], 5)
    assert named(spans, NESTED).parent_id == "b" * 16


async def test_an_agents_failure_marks_its_span_and_the_invocation(
    platform: Platform, collector: OtlpCollector
) -> None:
    platform.agent.script(rpc_error(-32000))
    reply = await platform.invoke()
    assert reply.status == 502
    spans = await collector.trace(reply.json["traceId"], 6)
    assert {span.name for span in spans if span.failed} == {"agent", DISPATCH, GATEWAY}
    assert named(spans, "agent").attributes["error.type"] == "AGENT_EXECUTION_FAILED"
    dispatch = named(spans, DISPATCH).attributes
    assert (dispatch["aop.outcome"], dispatch["error.type"]) == ("failed", "AGENT_EXECUTION_FAILED")


async def test_a_failed_stream_is_an_error_though_its_answer_was_200(
    platform: Platform, collector: OtlpCollector
) -> None:
    platform.agent.script(streamed(*a_whole_stream(3)[:3], end="cut"))
    async with streaming(platform) as caller:
        await caller.rest()
    trace_id = caller.events[0]["traceId"]
    spans = await collector.trace(trace_id, 6)
    dispatch = named(spans, DISPATCH)
    assert (dispatch.failed, dispatch.attributes["aop.outcome"]) == (True, "failed")
    assert dispatch.attributes["http.response.status_code"] == 200


async def test_a_streams_span_says_how_many_chunks_went_out(platform: Platform, collector: OtlpCollector) -> None:
    platform.agent.script(streamed(*a_whole_stream(5)))
    async with streaming(platform) as caller:
        await caller.rest()
    spans = await collector.trace(caller.events[0]["traceId"], 6)
    require_connected(spans)
    assert named(spans, DISPATCH).attributes["aop.stream.chunks"] == 5
    assert named(spans, "agent").attributes["a2a.method.name"] == "SendStreamingMessage"


async def test_a_refusal_before_acceptance_shows_the_phase_it_came_in(
    platform: Platform, collector: OtlpCollector
) -> None:
    card, release, _ = await platform.installed()
    await platform.move(release, ReleaseState.SUSPENDED)
    await platform.sees(release, "suspended")
    reply = await platform.invoke(agentId=card["agentId"])
    assert reply.status == 409
    (span,) = await collector.trace(reply.json["traceId"], 1)
    assert (span.name, span.attributes["error.type"]) == (GATEWAY, "AGENT_RELEASE_SUSPENDED")
    card, _, _ = await platform.installed(
        limits={"timeoutMs": 1000, "maxInputBytes": 4, "maxOutputBytes": 9, "streaming": True}
    )
    reply = await platform.invoke(b'{"too":"long"}', agentId=card["agentId"])
    assert reply.status == 413
    spans = await collector.trace(reply.json["traceId"], 5)
    require_connected(spans)
    assert named(spans, "accept").attributes["error.type"] == "PAYLOAD_TOO_LARGE"
    assert "aop.invocation.id" not in named(spans, DISPATCH).attributes


async def test_health_and_metrics_leave_no_span(platform: Platform, collector: OtlpCollector) -> None:
    for path in ("/livez", "/readyz", "/metrics"):
        assert (await platform.gateway.get(path)).status == 200
    reply = await platform.gateway.get("/v1/workspaces", token=platform.token)
    (span,) = await collector.trace(reply.header("x-platform-trace-id") or "", 1)
    assert span.name == "GET /v1/workspaces"
    assert not [span for span in collector.spans if span.attributes.get("http.route") in {"/livez", "/metrics"}]
