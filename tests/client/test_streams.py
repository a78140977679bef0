"""Streams at the caller: chunks as they come, one terminal, and nothing believed that is not exact."""

import asyncio
from typing import Any

import pytest

from aop.client import (
    BrokenAnswer,
    Client,
    DeadlinePassed,
    InvocationFailed,
    PlatformError,
    StreamInterrupted,
)
from aop.contracts.errors import ErrorCode
from aop.contracts.invocation import StreamEventType
from aop.serving.edge.streaming import SILENCE_SECONDS
from tests.client.gateway import (
    END,
    TRACE,
    TRACED,
    an_error,
    frame,
    saying,
    scripted_gateway,
)
from tests.client.streams import (
    ACCEPTED,
    CHUNKS,
    COMPLETED,
    IDS,
    TERMINALS,
    WHOLE,
    a_stream,
    event,
    interruption,
    opened,
)
from tests.support.peers import Behaviour, Received, hold
from tests.support.vectors import each
from tests.support.waiting import promptly


async def test_the_chunks_of_a_stream_are_iterated_and_its_terminal_is_kept() -> None:
    async with opened(a_stream(*WHOLE)) as (stream, gateway):
        async with stream:
            assert (stream.invocation_id, stream.root_task_id, stream.trace_id) == tuple(IDS.values())
            assert stream.terminal is None
            assert [chunk async for chunk in stream] == [{"a": 1}, None, "x"]
        assert stream.terminal is not None
        assert stream.terminal.type is StreamEventType.COMPLETED
        assert [chunk async for chunk in stream] == []
    (request,) = gateway.received
    assert request.values("accept") == ["text/event-stream"]
    assert request.json == {"agentId": "acme:adder", "capability": "add", "input": {"n": 1}, "stream": True}


async def test_a_stream_is_iterated_without_a_block_too_and_leaves_its_connection_to_the_next_call() -> None:
    async with scripted_gateway(a_stream(*WHOLE)) as gateway, Client(gateway.origin, "token") as client:
        for _ in range(2):
            chunks = [chunk async for chunk in client.stream("demo", "acme:adder", "add", {})]
            assert chunks == [{"a": 1}, None, "x"]
    assert {request.connection for request in gateway.received} == {1}


async def test_every_event_can_be_had_as_it_is() -> None:
    async with opened(a_stream(*WHOLE)) as (stream, _), stream:
        assert [event.type.value for event in [event async for event in stream.events()]] == [
            one["type"] for one in WHOLE
        ]


async def test_events_that_arrive_together_can_be_had_together_and_the_terminal_comes_alone() -> None:
    together = b"".join(frame(one) for one in WHOLE)
    async with opened(a_stream(together)) as (stream, _), stream:
        assert [one.type.value for one in await stream.next_events()] == [one["type"] for one in WHOLE[:-1]]
        assert stream.terminal is None
        assert await stream.next_events() == [stream.terminal]


async def test_what_was_sound_before_a_break_is_had_before_the_break_is_told() -> None:
    async with opened(a_stream(b"".join(frame(one) for one in WHOLE[:-1]))) as (stream, _), stream:
        assert len(await stream.next_events()) == len(WHOLE) - 1
        with pytest.raises(StreamInterrupted) as caught:
            await stream.next_events()
        assert caught.value.rule == "interrupted"


async def test_a_chunk_is_given_out_before_the_next_is_made() -> None:
    gates = [asyncio.Event() for _ in CHUNKS]
    steps = [step for pair in zip(gates, CHUNKS, strict=True) for step in pair]
    async with opened(a_stream(ACCEPTED, *steps, COMPLETED)) as (stream, _), stream:
        for gate, one in zip(gates, CHUNKS, strict=True):
            gate.set()
            assert await anext(stream) == one["chunk"]


async def test_heartbeats_and_any_cutting_of_the_bytes_change_nothing() -> None:
    wire = b":\n\n".join(frame(one) for one in WHOLE)
    async with opened(a_stream(*(wire[at : at + 7] for at in range(0, len(wire), 7)))) as (stream, _):
        assert [chunk async for chunk in stream] == [{"a": 1}, None, "x"]


@pytest.mark.parametrize(
    ("kind", "code"), [("failed", "AGENT_UNAVAILABLE"), ("timed_out", "TIMEOUT"), ("canceled", "CANCELED")]
)
async def test_any_other_terminal_raises_behind_the_chunks(kind: str, code: str) -> None:
    error = {"code": code, "message": "Said.", **IDS}
    last = event(2, kind, kind, error=error)
    async with opened(a_stream(ACCEPTED, CHUNKS[0], last)) as (stream, _):
        assert await anext(stream) == {"a": 1}
        with pytest.raises(InvocationFailed) as failed:
            await anext(stream)
        assert stream.terminal is not None
        assert stream.terminal.type.value == kind
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert (failed.value.code, failed.value.invocation_id) == (ErrorCode(code), IDS["invocationId"])
    async with opened(a_stream(ACCEPTED, CHUNKS[0], last)) as (stream, _):
        assert [event.type.value for event in [event async for event in stream.events()]][-1] == kind


@pytest.mark.parametrize("entered", [True, False])
async def test_a_refusal_before_the_stream_is_the_platforms_error(entered: bool) -> None:
    async with opened(an_error("AGENT_NOT_INSTALLED", 404)) as (stream, gateway):
        with pytest.raises(PlatformError) as refused:
            await (stream.__aenter__() if entered else anext(stream))
        with pytest.raises(RuntimeError, match="read once"):
            await anext(stream)
    assert len(gateway.received) == 1
    assert (refused.value.code, refused.value.invocation_id) == (ErrorCode.AGENT_NOT_INSTALLED, None)


@pytest.mark.parametrize(
    "behave",
    [
        saying({}, 200),
        saying(b"", 200, b"content-type: text/event-stream"),
        saying(b"", 200, b"content-type: text/event-stream; x=y", TRACED),
        saying(b"x" * 2_000_000, 404),
    ],
    ids=["JSON", "no trace", "parameters", "large"],
)
async def test_an_answer_that_is_no_stream_is_broken(behave: Behaviour) -> None:
    async with opened(behave) as (stream, _):
        with pytest.raises(BrokenAnswer):
            await anext(stream)


@each("stream")
async def test_a_stream_is_judged_as_the_vectors_say(case: dict[str, Any]) -> None:
    given, verdict = [], {"verdict": "complete"}
    async with opened(a_stream(*case["events"])) as (stream, _):
        try:
            async for one in stream.events():
                given.append(one.sequence)
        except StreamInterrupted as error:
            verdict = (
                {"verdict": "interrupted"}
                if error.rule == "interrupted"
                else {"verdict": "violation", "rule": error.rule}
            )
    assert verdict == {name: case[name] for name in ("verdict", "rule") if name in case}
    sound = case["events"][: case.get("at")]
    if verdict["verdict"] != "complete":  # then no terminal was believed
        sound = [one for one in sound if one["type"] not in TERMINALS]
    assert given == [one["sequence"] for one in sound]
    assert (stream.terminal is None) == (verdict["verdict"] != "complete")


@pytest.mark.parametrize(
    ("steps", "end", "rule"),
    [
        ([], b"", "transfer"),
        ([frame(CHUNKS[1])[:20]], END, "interrupted"),
        ([b"event: x\n\n"], END, "framing"),
        ([b"data: {}\ndata: {}\n\n"], END, "framing"),
        ([frame(CHUNKS[1]).replace(b"\n", b"\r\n")], END, "framing"),
        ([frame(event(2, "chunk", "running", chunkIndex=1, chunk="x" * 4096))], END, "frame_size"),
        ([frame({**CHUNKS[1], "traceId": TRACE[::-1]})], END, "ids"),
        ([b"data: nonsense\n\n"], END, "schema"),
    ],
    ids=["cut", "cut frame", "other field", "two lines", "CR", "oversize", "foreign", "no JSON"],
)
async def test_a_delivery_that_breaks_is_interrupted_behind_what_was_sound(
    steps: list[bytes], end: bytes, rule: str
) -> None:
    error, chunks = await interruption(a_stream(ACCEPTED, CHUNKS[0], *steps, end=end), max_answer_bytes=2048)
    assert (error.rule, chunks) == (rule, [{"a": 1}])
    assert (error.invocation_id, error.trace_id) == (IDS["invocationId"], TRACE)


async def test_a_stream_of_another_trace_than_its_header_is_refused() -> None:
    foreign = {**ACCEPTED, "traceId": TRACE[::-1]}
    error, _ = await interruption(a_stream(foreign))
    assert error.rule == "lineage"


async def test_the_time_of_a_stream_is_bounded_before_and_inside_it() -> None:
    async with scripted_gateway(hold) as gateway, Client(gateway.origin, "token") as client:
        with pytest.raises(DeadlinePassed):
            await anext(client.stream("demo", "acme:adder", "add", {}, timeout=0.1))
    async with scripted_gateway(a_stream(ACCEPTED, end=None)) as gateway, Client(gateway.origin, "token") as client:
        with pytest.raises(StreamInterrupted) as raised:
            await anext(client.within(0.2).stream("demo", "acme:adder", "add", {}))
    assert raised.value.rule == "deadline"


async def test_a_connection_without_even_a_heartbeat_is_dead() -> None:
    error, chunks = await interruption(a_stream(ACCEPTED, CHUNKS[0], end=None), silence=0.1)
    assert (error.rule, chunks) == ("silence", [{"a": 1}])


async def test_a_silence_as_long_as_three_missed_comments_is_a_dead_connection() -> None:
    """The number a caller depends on; the tests above and below set shorter ones of their own."""
    async with opened(a_stream(*WHOLE)) as (stream, _):
        assert stream.silence_seconds == 30.0
        assert 3 * SILENCE_SECONDS < stream.silence_seconds < 4 * SILENCE_SECONDS
        async with stream:
            assert stream._events is not None
            assert stream._events.silence_seconds == 30.0


@pytest.mark.parametrize("end", [b"", None], ids=["cut", "open"])
async def test_a_terminal_stands_even_if_the_response_does_not_end_properly(end: bytes | None) -> None:
    async with opened(a_stream(*WHOLE, end=end)) as (stream, _):
        stream.silence_seconds = 0.2
        assert [chunk async for chunk in stream] == [{"a": 1}, None, "x"]
        assert stream.terminal is not None


async def test_leaving_the_block_closes_the_connection() -> None:
    left = asyncio.Event()

    async def behave(request: Received) -> None:
        await a_stream(ACCEPTED, CHUNKS[0], end=None)(request)
        left.set()

    async with opened(behave) as (stream, _):
        async with stream:
            assert await anext(stream) == {"a": 1}
        async with promptly(2):
            await left.wait()
        assert stream.terminal is None
