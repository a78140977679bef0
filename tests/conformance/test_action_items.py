"""The sample Agent action-items: finds items, streams them one by one, and stops in the middle when told to."""

import asyncio
import json
import time
from typing import Any

import pytest

from aop.a2a.v0_3 import Task, TaskState
from aop.net.http import HttpClient
from tests.agent.agents import ask
from tests.agent.samples import RunningSample
from tests.conformance.talk import Talk, data, message, rpc
from tests.support import profile
from tests.support.profile import RpcRefused, StreamJudge

SKILL = "extract-action-items"
NOTES = """Weekly sync, 2 March. Attendees: Alice, Bob, Carol.
Alice will send the budget to the board by Friday. The weather was nice.
ACTION: Bob to book a room for the workshop tomorrow
- [ ] Carol: update the slides (due 2026-03-09)
TODO(dave): fix the login in 3 days
* @erin please review the contract until next week."""
ITEMS = [
    {"task": "send the budget to the board", "owner": "Alice", "due": "2026-03-06", "line": 2},
    {"task": "book a room for the workshop", "owner": "Bob", "due": "2026-03-03", "line": 3},
    {"task": "update the slides", "owner": "Carol", "due": "2026-03-09", "line": 4},
    {"task": "fix the login", "owner": "dave", "due": "2026-03-05", "line": 5},
    {"task": "review the contract", "owner": "@erin", "due": "2026-03-09", "line": 6},
]
MEETING = {"notes": NOTES, "meetingDate": "2026-03-02"}

pytestmark = [pytest.mark.parametrize("sample", ["action-items"], indirect=True), pytest.mark.second_ring]


@pytest.fixture
def talk(sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(sample, client, SKILL)


async def test_it_finds_owner_task_and_due_date(talk: Talk) -> None:
    found = await talk.send(data(MEETING))
    assert profile.result_value(found) == {"items": ITEMS}


async def test_without_the_day_of_the_meeting_the_words_stay(talk: Talk) -> None:
    found = await talk.send(data({"notes": "Bob will call the bank by Friday."}))
    assert profile.result_value(found)["items"][0]["due"] == "Friday"


async def test_notes_without_items_give_an_empty_list_in_both_modes(talk: Talk) -> None:
    skill_input = {"notes": "Nothing happened."}
    assert profile.result_value(await talk.send(data(skill_input))) == {"items": []}
    judge = StreamJudge()
    assert [c async for e in talk.events(skill_input) for c in judge.read(e)] == [{"items": []}]


async def test_a_stream_gives_each_item_as_it_is_found(talk: Talk) -> None:
    judge, seen = StreamJudge(), []
    async for event in talk.events({**MEETING, "paceMs": 100}):
        seen += [(time.monotonic(), chunk) for chunk in judge.read(event)]
    judge.end()
    assert [chunk for _, chunk in seen] == [{"items": [item]} for item in ITEMS]
    assert seen[-1][0] - seen[0][0] > 0.2
    assert judge.state is TaskState.COMPLETED


async def test_a_text_only_message_needs_input_and_the_task_goes_on_with_data(talk: Talk) -> None:
    asked = await talk.send([{"kind": "text", "text": NOTES}])
    assert isinstance(asked, Task)
    assert asked.status.state is TaskState.INPUT_REQUIRED
    done = await talk.send(data(MEETING), taskId=asked.id, contextId=asked.context_id)
    assert isinstance(done, Task)
    assert (done.id, done.status.state) == (asked.id, TaskState.COMPLETED)


@pytest.mark.parametrize(
    "skill_input", [{}, {"notes": 1}, {"notes": "x", "meetingDate": "2026-02-30"}, {"notes": "x", "paceMs": -1}]
)
async def test_an_input_the_skill_does_not_take_is_rejected(talk: Talk, skill_input: dict[str, Any]) -> None:
    found = await talk.send(data(skill_input))
    assert isinstance(found, Task)
    assert found.status.state is TaskState.REJECTED


async def test_another_capability_than_its_own_is_rejected(sample: RunningSample, client: HttpClient) -> None:
    request = sample.router.request(rpc("message/send", message(data(MEETING))), capability="book-trip")
    answer = await ask(client, sample.port, "POST", "/", request.headers, request.body)
    assert profile.task(profile.rpc_result(answer.body, "7")).status.state is TaskState.REJECTED


@pytest.mark.parametrize("attempt", range(5))
async def test_a_canceled_stream_ends_with_the_canceled_terminal(talk: Talk, attempt: int) -> None:
    judge, chunks = StreamJudge(), 0
    async for event in talk.events({**MEETING, "paceMs": 200 + attempt}):
        chunks += len(judge.read(event))
        if chunks == 1 and judge.state is TaskState.WORKING and not judge.ended:
            found = profile.task(await talk.call("tasks/cancel", {"id": judge.task_id}))
            assert found.status.state is TaskState.CANCELED
            chunks += 1
    judge.end()
    assert judge.state is TaskState.CANCELED
    again = profile.task(await talk.call("tasks/get", {"id": judge.task_id, "historyLength": 1}))
    assert again.status.state is TaskState.CANCELED
    with pytest.raises(RpcRefused) as refused:
        await talk.call("tasks/cancel", {"id": judge.task_id})
    assert refused.value.code == -32002


async def test_a_task_that_waits_for_input_can_be_canceled(talk: Talk) -> None:
    asked = await talk.send([{"kind": "text", "text": "hello"}])
    assert isinstance(asked, Task)
    found = profile.task(await talk.call("tasks/cancel", {"id": asked.id}))
    assert found.status.state is TaskState.CANCELED


async def test_50_calls_at_once_each_get_their_own_answer(talk: Talk) -> None:
    async def one(number: int) -> Any:
        return profile.result_value(await talk.send(data({"notes": f"Bob will do thing {number}."})))

    found = await asyncio.gather(*(one(number) for number in range(50)))
    assert [result["items"][0]["task"] for result in found] == [f"do thing {number}" for number in range(50)]


async def test_its_output_shows_no_credential_and_no_input(sample: RunningSample, client: HttpClient) -> None:
    canary = "canary-5f2d"
    request = sample.router.request(rpc("message/send", message(data({"notes": canary}))), capability=SKILL)
    await ask(client, sample.port, "POST", "/", request.headers, request.body)
    await ask(client, sample.port, "POST", "/", request.headers, request.body)
    shown = sample.output.read_text()
    token = dict(request.headers)[b"authorization"].decode()
    assert canary not in shown
    assert token.rpartition(".")[2] not in shown
    assert json.dumps(canary) not in shown
