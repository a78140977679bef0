"""Result streams through Gateway and Router: framing, order, chunks, and the one terminal that the Ledger tells too."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.agent import input_of
from tests.support.loop import Platform, open_skill
from tests.support.peers import Received
from tests.support.stream import require_agreement, require_sent, streaming
from tests.support.streaming_agent import (
    a_whole_stream,
    artifact,
    event_of,
    message,
    piece,
    status,
    streamed,
    task,
)
from tests.support.vectors import VECTORS, cases
from tests.support.waiting import generous, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES: list[dict[str, Any]] = json.loads((VECTORS / "a2a-stream.json").read_bytes())["cases"]


@pytest.mark.rows("STR-01", "STR-02")
async def test_a_clean_run_is_numbered_without_gap_and_ends_with_one_terminal(platform: Platform) -> None:
    platform.agent.script(streamed(*a_whole_stream(3)))
    async with streaming(platform, b'{ "n" : 1.10 }') as caller:
        await caller.whole()
    assert caller.types == ["accepted", "chunk", "chunk", "chunk", "completed"]
    assert caller.chunks == [0, 1, 2]
    assert caller.values("content-type") == ["text/event-stream"]
    assert caller.values("cache-control") == ["no-store"]
    assert caller.values("x-accel-buffering") == ["no"]
    assert caller.values("x-platform-trace-id") == [caller.events[0]["traceId"]]
    assert set(caller.events[-1]) == {"schemaVersion", "sequence", "type", "status", *caller.events[0]} - {"chunk"}
    detail = await require_agreement(platform, caller)
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "stream", "succeeded"]
    (request,) = platform.agent.calls(None, caller.invocation_id)
    assert request.json["method"] == "message/stream"
    assert request.json["params"]["configuration"] == {"acceptedOutputModes": ["application/json", "text/plain"]}
    assert request.values("accept") == ["text/event-stream"]
    assert input_of(request) == b'{ "n" : 1.10 }'


@pytest.mark.rows("STR-02")
async def test_each_event_arrives_before_the_next_is_made(platform: Platform) -> None:
    gates = [asyncio.Event() for _ in range(3)]
    platform.agent.script(
        streamed(task(), gates[0], piece(0, 0, 2), gates[1], piece(1, 1, 2), gates[2], status("completed"))
    )
    async with streaming(platform) as caller:
        for number in range(2):
            gates[number].set()
            assert (await caller.event("chunk"))["chunk"] == number
        gates[2].set()
        await caller.event("completed")
        assert await caller.frame() is None
    assert b"\r" not in caller.body
    assert caller.body == b"".join(frame.raw for frame in caller.frames)


@pytest.mark.rows("STR-02")
async def test_a_long_silence_is_broken_by_one_comment_though_both_hops_send_their_own(platform: Platform) -> None:
    go_on = asyncio.Event()
    platform.agent.script(streamed(task(), go_on, *a_whole_stream(1)[1:]))
    async with streaming(platform) as caller:
        begun = caller.frames[0].at
        frame = await caller.frame()
        assert frame is not None
        assert (frame.raw, frame.event) == (b":\n\n", None)
        assert 7.5 <= frame.at - begun <= generous(10)
        await asyncio.sleep(1)  # the Router's own comment was due at the same time
        go_on.set()
        await caller.whole()
    assert [frame.event for frame in caller.frames].count(None) == 1
    assert caller.chunks == [0]
    await require_agreement(platform, caller)


@pytest.mark.rows("STR-03")
async def test_artifacts_and_messages_make_one_chunk_each_and_other_events_none(platform: Platform) -> None:
    said = {"messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "on my way"}]}
    bound = {"taskId": "task-7", "contextId": "ctx-1"}
    late = {"artifactId": "late", "parts": [{"kind": "text", "text": "late"}, {"kind": "data", "data": 2}]}
    platform.agent.script(
        streamed(
            task("submitted"),
            status("working"),
            status("working", status={"state": "working", "message": said}),
            artifact({"a": 1}, "one"),
            message("between", **bound),
            artifact(None, "one", append=True, last=True),
            task("working", artifacts=[late]),
            task("completed", artifacts=[{"artifactId": "one", "parts": [{"kind": "data", "data": 0}]}, late]),
        )
    )
    async with streaming(platform) as caller:
        terminal = await caller.whole()
    assert caller.chunks == [{"a": 1}, "between", None, ["late", 2]]
    assert "result" not in terminal
    await require_agreement(platform, caller)


@pytest.mark.rows("STR-04")
async def test_messages_alone_are_ended_by_the_clean_end(platform: Platform) -> None:
    platform.agent.script(streamed(message("a"), message("b")))
    async with streaming(platform) as caller:
        assert (await caller.whole())["type"] == "completed"
    assert caller.chunks == ["a", "b"]
    await require_agreement(platform, caller)


@pytest.mark.rows("STR-03", "STR-09")
async def test_a_chunk_keeps_every_spelling_and_only_loses_line_ends(platform: Platform) -> None:
    spelled = rb'{"n": 1.10,"e":1e400, "u":"\u00e9\/", "big":123456789012345678901234567890}'

    async def behave(request: Received) -> None:
        body = event_of(request, message("%")).replace(b'"%"', spelled)
        pretty = body.replace(b'"parts"', b'\ndata: "parts"').replace(b'"u"', b'\r\ndata: "u"')
        events = [b"\xef\xbb\xbfid: 7\nevent: x\nretry: 1\n: comment\n" + body, b"\r\n", pretty]
        await request.answer(b"".join(events), 200, b"content-type: text/event-stream; charset=utf-8")

    platform.agent.script(behave)
    async with streaming(platform) as caller:
        await caller.whole()
    one_line = b'{"n":1.10,"e":1e400,"u":"\\u00e9\\/","big":123456789012345678901234567890}'
    assert [frame.raw.partition(b'"chunk":')[2] for frame in caller.frames[1:3]] == [
        spelled + b"}\n\n",
        one_line + b"}\n\n",
    ]
    await require_agreement(platform, caller)


@pytest.mark.rows("STR-03", "STR-04", "STR-05", "STR-06", "STR-07", "STR-08", "STR-15")
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_a_stream_goes_through_as_the_vectors_say(platform: Platform, case: dict[str, Any]) -> None:
    platform.agent.script(streamed(*case["results"], end="cut" if case["end"] == "broken" else "clean"))
    async with streaming(platform) as caller:
        terminal = await caller.whole()
    assert terminal["status"] == case["outcome"]["status"]
    for word in ("code", "reason"):
        assert terminal.get("error", {}).get(word) == case["outcome"].get(word)
    assert caller.chunks == case["chunks"]
    await require_agreement(platform, caller)
    await require_sent(platform, caller, cancels=case["cancelsTask"])


@pytest.mark.rows("STR-10", "REAS-01")
@pytest.mark.parametrize("good", [2, 6])
async def test_a_chunk_that_breaks_the_output_schema_is_not_sent(platform: Platform, good: int) -> None:
    card, _, _ = await platform.installed(skills=[open_skill(outputSchema={"type": "integer"})])
    pieces = [piece(number, number, 20) for number in range(good)]
    platform.agent.script(streamed(task(), *pieces, artifact("canary", append=True), end="open"))
    async with streaming(platform, agentId=card["agentId"]) as caller:
        terminal = await caller.whole()
    assert (terminal["type"], terminal["error"]["code"]) == ("failed", "A2A_PROTOCOL_ERROR")
    assert terminal["error"]["reason"] == "output_schema"
    assert caller.chunks == list(range(good))
    assert b"canary" not in caller.body
    await require_agreement(platform, caller)
    await require_sent(platform, caller, cancels=True)


@pytest.mark.rows("STR-06")
async def test_after_the_terminal_event_nothing_is_awaited(platform: Platform) -> None:
    platform.agent.script(
        streamed(*a_whole_stream(2), artifact("late", "other", last=True), status("failed"), end="open")
    )
    begun = asyncio.get_running_loop().time()
    async with streaming(platform) as caller:
        await caller.whole()
    assert caller.frames[-1].at - begun < generous(1)
    assert (caller.types[-1], caller.chunks) == ("completed", [0, 1])
    (request,) = platform.agent.calls(None, caller.invocation_id)
    async with promptly(1):
        await request.left.wait()
    await require_agreement(platform, caller)
    await require_sent(platform, caller, cancels=False)


@pytest.mark.rows("INV-05", "DOOR-08")
async def test_every_accept_header_that_allows_a_stream_gets_one(platform: Platform) -> None:
    for case in cases("accept"):
        if not case["stream"] or case["verdict"] != "acceptable":
            continue
        platform.agent.script(streamed(*a_whole_stream(1)))
        async with streaming(platform, accept=[value.encode() for value in case["accept"]]) as caller:
            assert (await caller.whole())["type"] == "completed", case["name"]
