"""Events that repeat all but their value: the short way of reading them may never tell anything else than the long."""

import json
from typing import Any

import pytest

from aop.a2a.answers import STREAM_KINDS, read_result
from aop.a2a.repetition import Repetition
from tests.support.every import every
from tests.support.loop import Platform, open_skill
from tests.support.peers import Received
from tests.support.stream import require_agreement, require_sent, streaming
from tests.support.streaming_agent import HEAD, artifact, event_of, piece, send_body, status, streamed, task

VALUES = [
    b"1",
    b'""',
    b'"\xc3\xa9"',
    b'{"a":[1.10,{}]}',
    b"[]",
    b"null",
    b'{"text":"a"}',
    b"123456789012345678901234567890",
]
NO_VALUES = [
    b"",
    b"1 2",
    b"1,2",
    b'1}],"x":[{"data":2',
    b'"a","b":"c"',
    b'{"a":1,"a":2}',
    b'"\\ud800"',
    b'"\xff"',
    b"NaN",
    b"[" * 97 + b"]" * 97,
]


def envelope(value: bytes, **members: Any) -> bytes:
    result = artifact("%", append=True, **members)
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode().replace(b'"%"', value)


def learned(event: bytes) -> Repetition:
    repetition = Repetition("1")
    repetition.learn(event, read_result(event, "1", STREAM_KINDS))
    return repetition


@pytest.mark.parametrize("first", VALUES)
def test_another_value_in_the_same_place_is_that_value(first: bytes) -> None:
    repetition = learned(envelope(first))
    assert [repetition.value(envelope(value)) for value in VALUES] == [(value, json.loads(value)) for value in VALUES]
    assert repetition.value(envelope(b"\t7 ")) == (b"7", 7)


@pytest.mark.parametrize("other", NO_VALUES)
def test_what_is_no_single_strict_value_is_left_to_the_full_reading(other: bytes) -> None:
    assert learned(envelope(b"1")).value(envelope(other)) is None


def test_a_number_beyond_the_doubles_is_left_to_the_full_reading() -> None:
    assert learned(envelope(b"1")).value(envelope(b"1e400")) is None


def test_an_event_that_differs_anywhere_else_is_left_to_the_full_reading() -> None:
    repetition = learned(envelope(b"1"))
    for members in ({"taskId": "task-8"}, {"contextId": "ctx-2"}, {"name": "b"}, {"last": True}, {"extra": 1}):
        assert repetition.value(envelope(b"1", **members)) is None
    assert repetition.value(envelope(b"1").replace(b'"id": "1"', b'"id": "2"')) is None
    assert repetition.value(envelope(b"1") + b" ") is None


@pytest.mark.parametrize("members", [{"append": False}, {"last": True}])
def test_only_a_further_piece_of_an_artifact_that_goes_on_may_be_repeated(members: dict[str, Any]) -> None:
    result = artifact(1, **{"append": True, **members})
    event = json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode()
    assert learned(event).value(event) is None


def test_a_text_stays_a_text() -> None:
    event = envelope(b'"one"').replace(b'"kind": "data", "data"', b'"kind": "text", "text"')
    repetition = learned(event)
    assert repetition.value(event.replace(b'"one"', b'"two"')) == (b'"two"', "two")
    assert repetition.value(event.replace(b'"one"', b"1")) is None


def text_of(value: bytes) -> bytes:
    return envelope(value).replace(b'"kind": "data", "data"', b'"kind": "text", "text"')


def in_runs(repetition: Repetition, events: list[bytes]) -> list[object]:
    """What came together, each chunk with its value or the event that must be read in full."""
    read = list[object]()
    for run in repetition.runs(events):
        read += [run] if isinstance(run, bytes) else zip(*run, strict=True)
    return read


WIDE = b'"' + b"x" * 9_000 + b'"'
DEEP = b"[" * 5_000 + b"]" * 5_000
SHORT = envelope(b"99").partition(b"99")[0] + b"}"


@every("first", [envelope(b"1"), text_of(b'"one"')])
@every("other", [*VALUES, *NO_VALUES, b"1e400", b" 7\t", b'{"a":1,"b":2}', WIDE, DEEP])
@every("place", [0, 1, 20, 39])
def test_events_that_came_together_are_read_as_one_by_one(first: bytes, other: bytes, place: int) -> None:
    is_text = b'"kind": "text"' in first
    write, value = (text_of, b'"%d"') if is_text else (envelope, b'{"text":"%d"}')
    events = [write(value % number) for number in range(40)]
    events[place] = write(other)
    alone = learned(first)
    assert in_runs(learned(first), events) == [alone.value(event) or event for event in events]
    assert in_runs(learned(first), [events[place]] * 40) == [alone.value(events[place]) or events[place]] * 40


@pytest.mark.parametrize("place", [0, 1, 20, 39])
def test_another_event_among_those_that_repeat_is_left_to_the_full_reading(place: int) -> None:
    for other in (SHORT, envelope(b"7", last=True), envelope(b"7") + b" ", b"", b"7"):
        events = [envelope(b"%d" % number) for number in range(40)]
        events[place] = other
        expected = [(b"%d" % number, number) for number in range(40)]
        assert in_runs(learned(envelope(b"1")), events) == [*expected[:place], other, *expected[place + 1 :]]


@pytest.mark.parametrize("size", [1, 8_000, 16_000, 17_000, 40_000])
def test_long_events_that_came_together_are_read_as_one_by_one(size: int) -> None:
    events = [envelope(json.dumps(str(number) * size).encode()) for number in range(6)]
    for first in (envelope(b"1"), events[0]):
        alone = learned(first)
        assert in_runs(learned(first), events) == [alone.value(event) or event for event in events]
        assert in_runs(learned(first), [envelope(b"7"), *events]) == [(b"7", 7), *in_runs(learned(first), events)]


def test_a_short_event_beside_one_with_blanks_is_no_repetition() -> None:
    """Together they are as long as two that repeat."""
    before, _, behind = envelope(b"99").partition(b"99")
    events = [before + b"99" + b" " * len(behind) + behind, before]
    assert in_runs(learned(envelope(b"99")), events) == [(b"99", 99), before]


def test_events_that_came_together_and_repeat_are_one_run() -> None:
    events = [envelope(b"%d" % number) for number in range(10)]
    sizes = [1 if isinstance(run, bytes) else len(run[0]) for run in learned(envelope(b"1")).runs(events)]
    assert sizes == [10]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.rows("STR-07", "STR-08")
@pytest.mark.parametrize("wrong", [2, 3, 17, 38])
async def test_a_chunk_that_may_not_be_sent_ends_those_that_came_with_it(platform: Platform, wrong: int) -> None:
    card, _, _ = await platform.installed(skills=[open_skill(outputSchema={"type": "integer"})])

    async def behave(request: Received) -> None:
        pieces = (piece("no" if number == wrong else number, number, 40) for number in range(40))
        await request.send(HEAD)
        await send_body(request, b"".join(event_of(request, result) for result in (task(), *pieces)))
        await request.wait_for_leaving()

    platform.agent.script(behave)
    async with streaming(platform, agentId=card["agentId"]) as caller:
        assert (await caller.whole())["error"]["reason"] == "output_schema"
    assert caller.chunks == list(range(wrong))
    await require_agreement(platform, caller)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.rows("STR-07", "STR-08")
@pytest.mark.parametrize(
    ("last", "code"),
    [
        (artifact(9, append=False), "A2A_PROTOCOL_ERROR"),
        (artifact(9, append=True, contextId="ctx-2"), "A2A_PROTOCOL_ERROR"),
        (status("rejected"), "AGENT_EXECUTION_FAILED"),
        (status("failed"), "AGENT_EXECUTION_FAILED"),
    ],
)
async def test_the_rules_hold_after_many_repetitions(platform: Platform, last: dict[str, Any], code: str) -> None:
    platform.agent.script(streamed(task(), *(piece(n, n, 99) for n in range(10)), last, end="open"))
    async with streaming(platform) as caller:
        assert (await caller.whole())["error"]["code"] == code
    assert caller.chunks == list(range(10))
    await require_agreement(platform, caller)
    await require_sent(platform, caller, cancels=last["kind"] != "status-update")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.rows("STR-07")
async def test_a_piece_behind_the_last_one_is_refused_although_it_repeats(platform: Platform) -> None:
    async def behave(request: Received) -> None:
        await request.send(HEAD)
        again = event_of(request, artifact(1, append=True))
        ends = event_of(request, artifact(1, append=True, last=True))
        await send_body(request, event_of(request, artifact(0)) + again * 3 + ends + again)
        await request.wait_for_leaving()

    platform.agent.script(behave)
    async with streaming(platform) as caller:
        assert (await caller.whole())["error"]["code"] == "A2A_PROTOCOL_ERROR"
    assert caller.chunks == [0, 1, 1, 1, 1]
    await require_agreement(platform, caller)
