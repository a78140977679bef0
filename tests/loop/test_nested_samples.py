"""The nested demo: one sample Agent calls the two others through the Router, and the Trace tells who called whom."""

import json
import socket
from asyncio import TaskGroup
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aop.contracts.invocation import StreamEvent, StreamEventType
from tests.agent.samples import RunningSample
from tests.support.postgres import PostgresForTests
from tests.support.sample_platform import (
    SamplePlatform,
    origin_of,
    router_listener,
    running_sample_platform,
    running_samples,
)
from tests.support.waiting import becomes_true

BRIEF, ITEMS, SUMMARY = "aop:meeting-brief", "aop:action-items", "aop:summarizer"
NOTES = (
    "Budget meeting. The budget for the workshop is too small.\n"
    "Alice will send the budget to the board by Friday.\n"
    "ACTION: Bob to book a room for the workshop."
)
LONG = "\n".join(f"Alice will look at report {number} of the workshop." for number in range(30))
SLOW = {"notes": LONG, "sentences": 20, "paceMs": 1000}

Samples = tuple[socket.socket, dict[str, RunningSample]]
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samples]:
    listener = router_listener()
    with running_samples(tmp_path_factory.mktemp("samples"), origin_of(listener)) as running:
        yield listener, running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests, samples: Samples) -> AsyncIterator[SamplePlatform]:
    urls = await postgres.new_platform()
    async with running_sample_platform(urls, *samples) as running:
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])


def shape(records: list[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    """How often each path of Agents, from the root down, occurs."""
    paths: dict[str | None, tuple[str, ...]] = {None: ()}
    for record in records:
        paths[record["invocationId"]] = (*paths[record.get("parentInvocationId")], record["targetAgentId"])
    return Counter(paths[record["invocationId"]] for record in records)


def statuses(records: list[dict[str, Any]]) -> set[tuple[str, str | None]]:
    return {(record["status"], record.get("errorCode")) for record in records}


async def test_a_brief_joins_what_two_agents_found_in_one_trace(platform: SamplePlatform) -> None:
    given = {"notes": NOTES, "meetingDate": "2026-03-02", "sentences": 1}
    reply = await platform.invoke(BRIEF, "brief-meeting", given)
    assert reply.status == 200, reply.body
    brief = reply.json["result"]
    assert (brief["title"], brief["missing"]) == ("Budget meeting", [])
    assert brief["summary"] in NOTES
    assert [(item["owner"], item["due"]) for item in brief["actionItems"]] == [("Alice", "2026-03-06"), ("Bob", None)]

    records = await platform.trace(reply.json["traceId"])
    assert shape(records) == {(BRIEF,): 1, (BRIEF, ITEMS): 1, (BRIEF, SUMMARY): 1}
    assert records[0]["invocationId"] == reply.json["invocationId"]
    assert [record["caller"] for record in records] == [{"type": "user", "id": "alice"}] + [
        {"type": "agent", "id": BRIEF}
    ] * 2
    for record in records:
        release = platform.releases[record["targetAgentId"]]
        assert (record["agentReleaseId"], record["agentCardDigest"]) == (release.release_id, release.card_digest)
    assert len({record["agentCardDigest"] for record in records}) == 3
    assert statuses(records) == {("succeeded", None)}


@pytest.mark.rows("NEST-02")
async def test_a_digest_has_three_levels_and_fans_out_on_two_of_them(platform: SamplePlatform) -> None:
    meetings = [{"notes": NOTES}, {"notes": "Review. Carol will test the login by tomorrow."}]
    reply = await platform.invoke(BRIEF, "digest-meetings", {"meetings": meetings})
    assert reply.status == 200, reply.body
    digest = reply.json["result"]
    assert [brief["title"] for brief in digest["briefs"]] == ["Budget meeting", "Review"]
    assert digest["tasksByOwner"]["Carol"] == ["test the login"]
    records = await platform.trace(reply.json["traceId"])
    middle = (BRIEF, BRIEF)
    assert shape(records) == {(BRIEF,): 1, middle: 2, (*middle, ITEMS): 2, (*middle, SUMMARY): 2}
    assert statuses(records) == {("succeeded", None)}


async def test_the_two_children_of_a_brief_run_side_by_side(platform: SamplePlatform) -> None:
    reply = await platform.invoke(BRIEF, "brief-meeting", {"notes": NOTES, "sentences": 1, "paceMs": 100})
    one, other = (await platform.trace(reply.json["traceId"]))[1:]
    assert one["createdAt"] < other["updatedAt"]
    assert other["createdAt"] < one["updatedAt"]


async def test_leaving_a_stream_cancels_all_three_levels(platform: SamplePlatform) -> None:
    given = {"meetings": [SLOW, SLOW]}
    async with aclosing(platform.stream(BRIEF, "digest-meetings", given)) as events:
        accepted = await anext(events)
        await becomes_true(lambda: all_running(platform, accepted.trace_id, 7))
    await require_all_canceled(platform, accepted.trace_id, 7)


async def test_leaving_a_json_call_cancels_its_children_too(platform: SamplePlatform) -> None:
    async with TaskGroup() as tasks:
        call = tasks.create_task(platform.invoke(BRIEF, "brief-meeting", SLOW))
        trace_id = await newest_running_trace(platform)
        await becomes_true(lambda: all_running(platform, trace_id, 3))
        call.cancel()
    await require_all_canceled(platform, trace_id, 3)


async def newest_running_trace(platform: SamplePlatform) -> str:
    found: list[str] = []

    async def begun() -> bool:
        records = await platform.newest()
        found.extend(record["traceId"] for record in records if record["status"] == "running")
        return bool(found)

    await becomes_true(begun)
    return found[0]


async def all_running(platform: SamplePlatform, trace_id: str, count: int) -> bool:
    records = await platform.trace(trace_id)
    return len(records) == count and statuses(records) == {("running", None)}


async def require_all_canceled(platform: SamplePlatform, trace_id: str, count: int) -> None:
    async def ended() -> bool:
        return {status for status, _ in statuses(await platform.trace(trace_id))} == {"canceled"}

    await becomes_true(ended)
    records = await platform.trace(trace_id)
    assert (len(records), statuses(records)) == (count, {("canceled", "CANCELED")})


async def test_a_part_whose_agent_may_not_be_called_is_named_as_missing(platform: SamplePlatform) -> None:
    installation = platform.installations[SUMMARY]
    await platform.owner.set_status(installation, "disabled")
    try:
        reply = await platform.invoke(BRIEF, "brief-meeting", {"notes": NOTES})
    finally:
        await platform.owner.set_status(installation, "enabled")
    brief = reply.json["result"]
    assert brief["missing"] == [{"agentId": SUMMARY, "code": "INSTALLATION_DISABLED"}]
    assert (brief["summary"], len(brief["actionItems"])) == (None, 2)
    assert shape(await platform.trace(reply.json["traceId"])) == {(BRIEF,): 1, (BRIEF, ITEMS): 1}


async def test_a_text_streams_through_the_platform_word_by_word(platform: SamplePlatform) -> None:
    events = [event async for event in platform.stream(SUMMARY, "read-aloud", {"text": NOTES, "wordsPerMinute": 6000})]
    chunks = [event for event in events if event.type is StreamEventType.CHUNK]
    assert len(chunks) == len(NOTES.split())
    assert "".join(map(text_of, chunks)) == NOTES
    assert events[-1].type is StreamEventType.COMPLETED


async def test_a_caller_who_leaves_a_slow_stream_is_recorded_as_canceled(platform: SamplePlatform) -> None:
    async with aclosing(platform.stream(SUMMARY, "read-aloud", {"text": LONG, "wordsPerMinute": 300})) as events:
        async for event in events:
            if event.type is StreamEventType.CHUNK:
                break
    trace_id = event.trace_id

    async def ended() -> bool:
        return statuses(await platform.trace(trace_id)) == {("canceled", "CANCELED")}

    await becomes_true(ended)


def text_of(event: StreamEvent) -> str:
    assert event.chunk is not msgspec.UNSET
    text: str = json.loads(bytes(event.chunk))
    return text
