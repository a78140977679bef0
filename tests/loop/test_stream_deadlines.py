"""Time and streams: the deadline ends one in band, a reader that stalls delays nobody else."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from aop.base.clock import from_text
from tests.support.cards import some_limits
from tests.support.loop import Changes, Platform, running_platform
from tests.support.peers import Behaviour, Received, hold
from tests.support.postgres import PostgresForTests
from tests.support.stream import requesting, require_agreement, require_sent, streaming
from tests.support.streaming_agent import (
    a_whole_stream,
    endless,
    piece,
    status,
    streamed,
    task,
)
from tests.support.waiting import becomes_true, generous, generous_ms

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]

HOLDING: dict[str, tuple[Behaviour, bool]] = {
    "no answer": (hold, False),
    "no event": (streamed(end="open"), False),
    "a task": (streamed(task(), end="open"), True),
    "comments": (streamed(*[step for _ in range(40) for step in (b":\n\n", 0.02)], end="open"), False),
    "working": (streamed(task(), *[step for _ in range(40) for step in (status("working"), 0.02)], end="open"), True),
    "chunks": (endless(1, seconds=0.01), True),
}


def require_ended_at_its_deadline(record: dict[str, Any]) -> None:
    """Which is counted from receipt, so that a busy machine leaves less of it for the Invocation."""
    granted = from_text(record["deadlineAt"]) - from_text(record["createdAt"])
    taken = timedelta(milliseconds=record["latencyMs"])
    assert granted - timedelta(milliseconds=5) <= taken < granted + timedelta(seconds=generous(1))


@pytest.mark.rows("TMO-01", "TMO-04")
@pytest.mark.parametrize("holding", HOLDING)
async def test_the_deadline_ends_a_stream_in_band_whatever_bytes_still_come(platform: Platform, holding: str) -> None:
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=generous_ms(0.1)))
    platform.agent.script(streamed(*a_whole_stream(1)))
    async with streaming(platform, agentId=card["agentId"]) as caller:
        await caller.whole()  # the Card is in the Router's cache now
    behaviour, cancels = HOLDING[holding]
    platform.agent.script_alone(behaviour)
    async with streaming(platform, agentId=card["agentId"]) as caller:
        terminal = await caller.whole()
    assert terminal["type"] == "timed_out"
    detail = await require_agreement(platform, caller)
    require_ended_at_its_deadline(detail["invocation"])
    await require_sent(platform, caller, cancels=cancels)


@pytest.mark.rows("TMO-05")
async def test_a_terminal_event_after_the_deadline_is_too_late(platform: Platform) -> None:
    milliseconds = generous_ms(0.1)
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=milliseconds))
    platform.agent.script(streamed(task(), piece(0, 0, 1), 0.002 * milliseconds, status("completed")))
    async with streaming(platform, agentId=card["agentId"]) as caller:
        assert (await caller.whole())["type"] == "timed_out"
    await asyncio.sleep(0.0012 * milliseconds)
    await require_agreement(platform, caller)


@pytest.mark.rows("TMO-02")
async def test_the_platforms_maximum_bounds_a_stream_too(postgres: PostgresForTests) -> None:
    changes = Changes(router={"PLATFORM_INVOCATION_DEADLINE_MS": str(generous_ms(0.1))})
    async with running_platform(await postgres.new_platform(), changes) as platform:
        platform.agent.script(streamed(task(), end="open"))
        async with streaming(platform) as caller:
            assert (await caller.whole())["type"] == "timed_out"
        detail = await require_agreement(platform, caller)
        require_ended_at_its_deadline(detail["invocation"])


@pytest.mark.rows("TMO-03")
async def test_a_deadline_past_before_acceptance_is_an_error_with_ids_and_no_work(platform: Platform) -> None:
    for _ in range(50):  # on a fast machine a millisecond may be enough for the acceptance, of which a stream tells
        card, _, _ = await platform.installed(limits=some_limits(timeoutMs=1))
        heard = len(platform.agent.received)
        async with requesting(platform, agentId=card["agentId"]) as caller:
            await caller.head()
            if caller.values("content-length"):
                error = json.loads(await caller.text())
                break
    assert (caller.status, error["code"]) == (504, "TIMEOUT")
    assert await platform.types(error["invocationId"]) == ["created", "timed_out"]
    assert len(platform.agent.received) == heard


async def test_a_stalled_reader_is_bounded_by_the_deadline(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=generous_ms(0.25), maxOutputBytes=2**31 - 1))
    platform.agent.script(endless("x" * 4000))
    async with streaming(platform, agentId=card["agentId"], window=4096) as caller:
        detail = await platform.ended(caller.invocation_id)
        assert detail["events"][-1]["type"] == "timed_out"
        assert (await caller.whole())["type"] == "timed_out"
        await require_agreement(platform, caller)


async def test_a_stalled_reader_never_delays_another_stream(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(maxOutputBytes=2**31 - 1))
    sent: list[Received] = []

    async def flood(request: Received) -> None:
        sent.append(request)
        await endless("x" * 4000)(request)

    async def all_held_back() -> bool:
        return len(sent) == 3 and all(request.writer.transport.get_write_buffer_size() > 0 for request in sent)

    for _ in range(3):
        platform.agent.script(flood)
    async with (
        streaming(platform, agentId=card["agentId"], window=4096),
        streaming(platform, agentId=card["agentId"], window=4096),
        streaming(platform, agentId=card["agentId"], window=4096),
    ):
        await becomes_true(all_held_back)
        for _ in range(5):
            platform.agent.script(streamed(*a_whole_stream(20)))
            begun = asyncio.get_running_loop().time()
            async with streaming(platform) as caller:
                await caller.whole()
            assert asyncio.get_running_loop().time() - begun < generous(1)
        assert await all_held_back()
