"""The sample Agent summarizer: tells texts word by word, and stops in the middle when told to."""

import asyncio
import time
from contextlib import aclosing
from typing import Any

import pytest

from aop.a2a.v0_3 import Task, TaskState
from aop.net.http import HttpClient
from tests.agent.samples import RunningSample
from tests.conformance.talk import Talk, data
from tests.support import profile
from tests.support.profile import RpcRefused, StreamJudge
from tests.support.waiting import becomes_true, generous

TEXT = (
    "The harbour opened in 1901. Ships brought timber to the harbour. On Sundays it was quiet. "
    "When the timber trade ended, the harbour was closed."
)
SUMMARY = "The harbour opened in 1901. Ships brought timber to the harbour."

pytestmark = [pytest.mark.parametrize("sample", ["summarizer"], indirect=True), pytest.mark.second_ring]


@pytest.fixture
def talk(sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(sample, client, "summarize")


@pytest.fixture
def reading(sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(sample, client, "read-aloud")


async def state_of(talk: Talk, task_id: str | None) -> TaskState:
    return profile.task(await talk.call("tasks/get", {"id": task_id, "historyLength": 1})).status.state


async def test_a_summary_keeps_the_sentences_that_say_most_in_their_order(talk: Talk) -> None:
    found = await talk.send(data({"text": TEXT, "sentences": 2}))
    assert profile.result_value(found) == SUMMARY


async def test_ranked_sentences_come_with_place_and_score_the_best_first(talk: Talk) -> None:
    ranking = Talk(talk.sample, talk.client, "rank-sentences")
    found = profile.result_value(await ranking.send(data({"text": TEXT})))["sentences"]
    scores = [sentence["score"] for sentence in found]
    assert scores == sorted(scores, reverse=True)
    assert sorted(sentence["position"] for sentence in found) == [1, 2, 3, 4]
    assert " ".join(one["text"] for one in sorted(found, key=lambda one: one["position"])) == TEXT


@pytest.mark.parametrize("text", ["  two\n words ", "\n", "one", "ein Müller 日本語"])
async def test_the_words_of_a_stream_put_together_are_the_text(reading: Talk, text: str) -> None:
    judge, chunks = StreamJudge(), []
    async for event in reading.events({"text": text, "wordsPerMinute": 6000}):
        chunks += judge.read(event)
    judge.end()
    assert "".join(chunks) == text
    assert len(chunks) == max(1, len(text.split()))


async def test_words_come_as_they_are_told(reading: Talk) -> None:
    judge, times = StreamJudge(), []
    async for event in reading.events({"text": "one two three four", "wordsPerMinute": 600}):
        times += [time.monotonic() for _ in judge.read(event)]
    assert times[-1] - times[0] > 0.25


@pytest.mark.parametrize("words", [0, 1, 3])
async def test_a_cancel_in_the_middle_ends_the_stream_with_canceled_at_once(reading: Talk, words: int) -> None:
    judge, chunks, asked = StreamJudge(), 0, 0.0
    async for event in reading.events({"text": "word " * 1000, "wordsPerMinute": 600}):
        chunks += len(judge.read(event))
        if chunks == words and not asked:
            asked = time.monotonic()
            found = profile.task(await reading.call("tasks/cancel", {"id": judge.task_id}))
            assert found.status.state is TaskState.CANCELED
    judge.end()
    assert judge.state is TaskState.CANCELED
    assert time.monotonic() - asked < generous(1)
    assert chunks <= words + 1
    with pytest.raises(RpcRefused) as refused:
        await reading.call("tasks/cancel", {"id": judge.task_id})
    assert refused.value.code == -32002


async def test_a_call_that_does_not_block_can_be_canceled(reading: Talk) -> None:
    started = await reading.task(data({"text": "word " * 1000}), blocking=False)
    assert started.status.state is TaskState.WORKING
    await reading.call("tasks/cancel", {"id": started.id})
    assert await state_of(reading, started.id) is TaskState.CANCELED


async def test_a_call_that_does_not_block_can_be_followed_to_its_end(reading: Talk) -> None:
    started = await reading.task(data({"text": "a few words", "wordsPerMinute": 1200}), blocking=False)

    async def ended() -> bool:
        return await state_of(reading, started.id) is not TaskState.WORKING

    await becomes_true(ended)
    found = profile.task(await reading.call("tasks/get", {"id": started.id, "historyLength": 1}))
    assert profile.result_value(found) == "a few words"


async def test_a_stream_that_is_left_goes_on_until_it_is_canceled(reading: Talk) -> None:
    judge = StreamJudge()
    async with aclosing(reading.events({"text": "word " * 1000})) as events:
        judge.read(await anext(events))
    assert await state_of(reading, judge.task_id) is TaskState.WORKING
    found = profile.task(await reading.call("tasks/cancel", {"id": judge.task_id}))
    assert found.status.state is TaskState.CANCELED


@pytest.mark.parametrize(
    "skill_input",
    [{"text": ""}, {"text": 1}, {"text": "x", "sentences": 0}, {"text": "x", "sentences": True}, {"text": "x", "y": 1}],
)
async def test_an_input_it_does_not_take_is_rejected_with_a_reason(talk: Talk, skill_input: dict[str, Any]) -> None:
    found = await talk.task(data(skill_input))
    assert found.status.state is TaskState.REJECTED
    assert isinstance(found, Task)
    assert profile.result_value(found)


async def test_100_streams_at_once_are_told_whole_each(reading: Talk) -> None:
    async def one(number: int) -> str:
        judge, chunks = StreamJudge(), []
        async for event in reading.events({"text": f"This is stream {number}.", "wordsPerMinute": 3000}):
            chunks += judge.read(event)
        judge.end()
        return "".join(chunks)

    told = await asyncio.gather(*(one(number) for number in range(100)))
    assert told == [f"This is stream {number}." for number in range(100)]
