"""Bounds of a stream: sizes, time, the pace of progress facts, and a Ledger that does not write."""

import asyncio
import json

import pytest

from aop.local.state import DatabaseUrls
from tests.loop.test_overload import hasty, locked
from tests.support.cards import some_limits
from tests.support.loop import Changes, Platform, running_platform
from tests.support.peers import Received
from tests.support.postgres import PostgresForTests
from tests.support.stream import StreamCaller, require_agreement, require_sent, streaming
from tests.support.streaming_agent import (
    HEAD,
    a_whole_stream,
    endless,
    event_of,
    message,
    piece,
    send_body,
    streamed,
    task,
)
from tests.support.waiting import generous

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOO_LARGE = "AGENT_RESPONSE_TOO_LARGE"


async def failed_with(platform: Platform, caller: StreamCaller, code: str, reason: str | None = None) -> None:
    terminal = await caller.whole(20)
    assert (terminal["type"], terminal["error"]["code"]) == ("failed", code)
    assert terminal["error"].get("reason") == reason
    await require_agreement(platform, caller)


@pytest.mark.rows("STR-11", "REAS-01")
async def test_a_chunk_over_the_frame_limit_is_not_sent_and_uses_up_no_number(
    postgres: PostgresForTests, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """And the logs of both units say how the stream ended, though its status had been 200."""
    limit = 1000
    changes = Changes(router={"PLATFORM_SSE_FRAME_MAX_BYTES": str(limit)})
    async with running_platform(await postgres.new_platform(), changes) as platform:
        platform.agent.script(streamed(task(), piece("", 0, 3), end="open"))
        async with streaming(platform) as caller:
            room = limit - len(caller_frame := (await caller.frame() or caller.frames[0]).raw)
        assert caller_frame.endswith(b'"chunk":""}\n\n')
        platform.agent.script(streamed(task(), piece("x" * room, 0, 3), piece("y" * (room + 1), 1, 3), end="open"))
        async with streaming(platform) as caller:
            await failed_with(platform, caller, TOO_LARGE, "frame_size")
        assert caller.types == ["accepted", "chunk", "failed"]
        assert len(caller.frames[1].raw) == limit
        await require_sent(platform, caller, cancels=True)
    records = [json.loads(line) for line in capfdbinary.readouterr().err.splitlines()]
    said = [record for record in records if record.get("invocationId") == caller.invocation_id]
    logged = {(each["unit"], each["status"], each.get("code"), each.get("reason")) for each in said}
    assert logged == {(unit, 200, TOO_LARGE, "frame_size") for unit in ("control-plane", "router")}


@pytest.mark.rows("STR-11")
async def test_a_chunk_just_over_a_megabyte_frame_is_too_large_and_one_below_passes(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(maxOutputBytes=8_388_608))
    for size, passes in ((1_048_000, True), (1_048_576 - 140, False)):
        platform.agent.script(streamed(message("x" * size)))
        async with streaming(platform, agentId=card["agentId"]) as caller:
            terminal = await caller.whole()
        assert (terminal["type"], len(caller.chunks)) == (("completed", 1) if passes else ("failed", 0))
        assert passes or terminal["error"]["code"] == TOO_LARGE
        await require_agreement(platform, caller)


@pytest.mark.rows("STR-11")
async def test_an_event_over_its_limit_ends_the_stream_before_it_is_whole(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(maxOutputBytes=8_388_608))

    async def behave(request: Received) -> None:
        await request.send(HEAD)
        await send_body(request, event_of(request, task()) + event_of(request, piece(0, 0, 3)))
        await send_body(request, b"data: " + b"x" * 1_048_576)
        await request.wait_for_leaving()

    platform.agent.script(behave)
    async with streaming(platform, agentId=card["agentId"]) as caller:
        await failed_with(platform, caller, TOO_LARGE, "event_size")
    assert caller.chunks == [0]
    await require_sent(platform, caller, cancels=True)


@pytest.mark.rows("STR-11")
@pytest.mark.parametrize("by", ["card", "setting"])
async def test_an_infinite_stream_ends_at_the_total(postgres: PostgresForTests, by: str) -> None:
    changes = Changes(
        router={"PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES": "300000" if by == "setting" else "8388608"},
        card={"limits": some_limits(maxOutputBytes=300_000 if by == "card" else 8_388_608)},
    )
    async with running_platform(await postgres.new_platform(), changes) as platform:
        platform.agent.script(endless("x" * 1000))
        async with streaming(platform) as caller:
            await failed_with(platform, caller, TOO_LARGE, "body_size")
        assert 200 <= len(caller.chunks) < 300
        await require_sent(platform, caller, cancels=True)


@pytest.mark.rows("STR-11")
@pytest.mark.parametrize("size", [1 << 20, 700, 90])
async def test_events_before_the_limit_are_delivered_however_the_bytes_were_cut(platform: Platform, size: int) -> None:
    card, _, _ = await platform.installed(limits=some_limits(maxOutputBytes=2000))

    async def behave(request: Received) -> None:
        results = (task(), piece(0, 0, 3), piece(1, 1, 3), piece("x" * 2000, 2, 3), piece("canary", 3, 9))
        body = b"".join(event_of(request, result) for result in results)
        await request.send(HEAD)
        for start in range(0, len(body), size):
            await send_body(request, body[start : start + size])
            await asyncio.sleep(0.001)
        await request.wait_for_leaving()

    platform.agent.script(behave)
    async with streaming(platform, agentId=card["agentId"]) as caller:
        await failed_with(platform, caller, TOO_LARGE, "body_size")
    assert caller.chunks == [0, 1]
    await require_sent(platform, caller, cancels=True)


@pytest.mark.rows("STR-13")
async def test_a_thousand_chunks_in_two_seconds_make_at_most_nine_facts(platform: Platform) -> None:
    async def behave(request: Received) -> None:
        await request.send(HEAD)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, result in enumerate(a_whole_stream(1000)):
            await asyncio.sleep(begun + number / 501 - loop.time())
            await send_body(request, event_of(request, result))
        await request.send(b"0\r\n\r\n")

    platform.agent.script(behave)
    async with streaming(platform) as caller:
        await caller.whole()
    assert len(caller.chunks) == 1000
    detail = await require_agreement(platform, caller)
    facts = [event for event in detail["events"] if event["type"] == "stream"]
    took = caller.frames[-1].at - caller.frames[0].at
    assert 2 <= len(facts) <= 1 + max(2.0, took) / 0.25, "four in a second, however slow the machine is"
    assert facts[-1]["chunkIndex"] == 999


@pytest.mark.rows("STR-13")
async def test_the_terminal_does_not_wait_for_the_next_progress(platform: Platform) -> None:
    platform.agent.script(streamed(*a_whole_stream(5)))
    async with streaming(platform) as caller:
        await caller.whole()
    assert caller.frames[-1].at - caller.frames[1].at < generous(0.2)
    detail = await require_agreement(platform, caller)
    assert [event["type"] for event in detail["events"][3:]] == ["stream", "succeeded"]


@pytest.mark.rows("STR-14")
async def test_a_failed_progress_write_ends_the_stream_and_the_task(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores, hasty()) as platform:
        platform.agent.script(streamed(task(), piece(0, 0, 2), end="open"))
        async with streaming(platform) as caller:
            async with locked(postgres, stores, "ledger.event"):
                terminal = await caller.whole()
                assert caller.types == ["accepted", "chunk", "failed"]
                assert terminal["error"]["code"] == "DEPENDENCY_ERROR"
                await require_sent(platform, caller, cancels=True)
            await require_agreement(platform, caller)


@pytest.mark.rows("STR-14")
async def test_a_failed_terminal_write_is_told_in_band_and_recorded_once_the_store_is_back(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores, hasty()) as platform:
        end = asyncio.Event()
        whole = a_whole_stream(1)
        platform.agent.script(streamed(*whole[:-1], end, whole[-1]))
        async with streaming(platform) as caller:
            await caller.event("chunk")
            async with locked(postgres, stores, "ledger.event"):
                end.set()
                terminal = await caller.whole()
            assert caller.types == ["accepted", "chunk", "failed"]
            assert terminal["error"]["code"] == "DEPENDENCY_ERROR"
        await require_agreement(platform, caller)
        assert platform.agent.methods(caller.invocation_id) == ["message/stream"]
