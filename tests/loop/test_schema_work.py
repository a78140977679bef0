"""Checks of input and output through the whole platform: what is large is checked too, and what is too much is told."""

import json
from typing import Any

import pytest

from tests.cards.hostile import many_constants
from tests.support.agent import a_message, data, text
from tests.support.cards import some_limits
from tests.support.errors import require_error
from tests.support.loop import Platform, open_skill
from tests.support.stream import require_agreement, streaming
from tests.support.streaming_agent import piece, status, streamed, task

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIST_OF_TEXT = {"type": "object", "properties": {"x": {"items": {"type": "string"}}}}
ROOMY = some_limits(maxOutputBytes=16 << 20)


async def agent_with(platform: Platform, limits: dict[str, Any] = ROOMY, **schemas: Any) -> str:
    card, _, _ = await platform.installed(skills=[open_skill(**schemas)], limits=limits)
    return str(card["agentId"])


def wrong_at_the_end(size: int) -> Any:
    """About so many bytes, all of them good but the last."""
    return {"x": ["a" * 96] * (size // 99) + [5]}


@pytest.mark.second_ring
@pytest.mark.parametrize("size", [64 * 1024 + 1, 1 << 20], ids=["64 KiB and one byte", "1 MiB"])
async def test_a_large_output_that_breaks_its_schema_is_a_protocol_error(platform: Platform, size: int) -> None:
    agent = await agent_with(platform, outputSchema=LIST_OF_TEXT)
    platform.agent.script(a_message(data(wrong_at_the_end(size))))
    reply = await platform.invoke(agentId=agent)
    await platform.require_failed(reply, 502, "A2A_PROTOCOL_ERROR")


@pytest.mark.second_ring
async def test_a_large_chunk_that_breaks_its_schema_is_a_protocol_error(platform: Platform) -> None:
    agent = await agent_with(platform, outputSchema=LIST_OF_TEXT)
    wrong = wrong_at_the_end(64 * 1024 + 1)
    platform.agent.script(streamed(task(), piece({"x": ["a"]}, 0, 2), piece(wrong, 1, 2), status("completed")))
    async with streaming(platform, agentId=agent) as stream:
        events = await stream.rest()
    assert [event["type"] for event in events] == ["accepted", "chunk", "failed"]
    assert events[-1]["error"]["code"] == "A2A_PROTOCOL_ERROR"
    await require_agreement(platform, stream)


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-03")
async def test_an_answer_of_eight_mebibytes_that_takes_too_much_work_is_too_large(platform: Platform) -> None:
    agent = await agent_with(platform, outputSchema=many_constants())
    platform.agent.script(a_message(data({"x": ["c2999"] * 800_000})))
    reply = await platform.invoke(agentId=agent)
    await platform.require_failed(reply, 502, "AGENT_RESPONSE_TOO_LARGE")
    assert reply.json["reason"] == "schema_work"


@pytest.mark.rows("SAFE-03")
async def test_a_chunk_that_takes_too_much_work_ends_the_stream_with_that_reason(platform: Platform) -> None:
    agent = await agent_with(platform, outputSchema=many_constants())
    platform.agent.script(streamed(task(), piece({"x": ["c2999"] * 100_000}, 0, 1), status("completed")))
    async with streaming(platform, agentId=agent) as stream:
        events = await stream.rest()
    assert (events[-1]["error"]["code"], events[-1]["error"]["reason"]) == ("AGENT_RESPONSE_TOO_LARGE", "schema_work")
    await require_agreement(platform, stream)


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-02")
@pytest.mark.parametrize("blanks", [0, 64 * 1024], ids=["long input", "short input in a long body"])
async def test_a_call_with_a_long_body_is_checked_as_any_other(platform: Platform, blanks: int) -> None:
    agent = await agent_with(platform, inputSchema=LIST_OF_TEXT)
    size = 1000 if blanks else 200_000
    good, wrong = {"x": ["a" * 96] * (size // 99)}, wrong_at_the_end(size)
    platform.agent.script(a_message(data({"n": 1})))
    reply = await platform.invoke(json.dumps(good).encode() + b" " * blanks, agentId=agent)
    assert reply.status == 200
    reply = await platform.invoke(json.dumps(wrong).encode() + b" " * blanks, agentId=agent)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert [item["pointer"] for item in reply.json["violations"]] == [f"/input/x/{len(wrong['x']) - 1}"]


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-02", "REAS-01")
async def test_an_input_that_takes_too_much_work_is_refused_before_acceptance(platform: Platform) -> None:
    agent = await agent_with(platform, inputSchema=many_constants())
    before = await platform.recorded()
    reply = await platform.invoke(json.dumps({"x": ["c2999"] * 80_000}).encode(), agentId=agent)
    require_error(reply, 413, "PAYLOAD_TOO_LARGE", "4")
    assert reply.json["reason"] == "schema_work"
    assert await platform.recorded() == before


@pytest.mark.second_ring
async def test_an_input_whose_check_is_not_done_at_the_deadline_is_recorded_as_timed_out(platform: Platform) -> None:
    agent = await agent_with(platform, some_limits(timeoutMs=1), inputSchema=many_constants())
    reply = await platform.invoke(json.dumps({"x": ["c2999"] * 800}).encode(), agentId=agent)
    await platform.require_failed(reply, 504, "TIMEOUT", "created")


@pytest.mark.second_ring
async def test_a_schema_that_allows_anything_is_no_work_however_large_the_answer(platform: Platform) -> None:
    agent = await agent_with(platform, outputSchema={})
    value = {"x": ["abcdefghij"] * 200_000}
    platform.agent.script(a_message(data(value)))
    reply = await platform.invoke(agentId=agent)
    assert reply.status == 200, reply.body[:300]
    assert reply.json["result"] == value


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-03")
@pytest.mark.parametrize(("parts", "status"), [(4_000, 200), (200_000, 502)])
async def test_an_answer_of_very_many_parts_is_too_large(platform: Platform, parts: int, status: int) -> None:
    agent = await agent_with(platform, outputSchema={})
    padding = text("x" * 150_000)  # so that the answer is not a short one
    platform.agent.script(a_message(padding, *[text("a")] * parts))
    reply = await platform.invoke(agentId=agent)
    assert reply.status == status, reply.body[:300]
    if status != 200:
        await platform.require_failed(reply, 502, "AGENT_RESPONSE_TOO_LARGE")
        assert reply.json["reason"] == "schema_work"
