"""Ids of requests to Agents behind the front: its own for each, so that no answer is that to another request."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent.served import message_of
from tests.front import proto
from tests.front.conftest import Fronted
from tests.front.played import PlayedAgent, before
from tests.support.agent import a_task, result_of
from tests.support.doubled_answers import Doubling, echoed, outcome_of
from tests.support.peers import Behaviour, Received

TEXT = message_of([{"kind": "text", "text": "how are you?"}])
WORKING = {"a2a-0.3": a_task("working"), "a2a-1.0": proto.answered(proto.task("WORKING"))}
WORKS_ON = WORKING | {"a2a-1.0": proto.answered(proto.task("WORKING")["task"])}
DONE = {"a2a-0.3": a_task("completed"), "a2a-1.0": proto.answered(proto.task("COMPLETED")["task"])}


def answering_to(request_id: str, behaviour: Behaviour) -> Behaviour:
    """The same, as an answer to another request."""

    async def behave(received: Received) -> None:
        received.json["id"] = request_id
        await behaviour(received)

    return behave


def ids(agent: PlayedAgent) -> list[Any]:
    return [json.loads(received.body)["id"] for received in agent.received]


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("speaks", WORKING)
@pytest.mark.parametrize(
    ("streaming", "stream"), [(True, True), (True, False), (False, False)], ids=["stream", "collected", "JSON"]
)
async def test_an_answer_sent_twice_is_not_the_result_of_the_next_call(
    fronted: Fronted, speaks: str, streaming: bool, stream: bool
) -> None:
    origin = Doubling()
    async with fronted(origin, speaks, limits={"streaming": streaming}) as router:
        replies = [await router.reply({"text": value}, stream=stream) for value in ("secret of one", "two", "three")]
    told = [outcome_of(reply.header("content-type"), reply.body) for reply in replies]
    assert told == [{"text": "secret of one"}, "A2A_PROTOCOL_ERROR", {"text": "three"}]
    assert origin.connections == [1, 1, 2]
    assert b"secret" not in replies[1].body


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("speaks", WORKING)
async def test_the_agent_gets_another_id_in_every_request_and_the_caller_its_own_back(
    tmp_path: Path, speaks: str
) -> None:
    async with before(tmp_path, WORKING[speaks], speaks, limits={"streaming": False}) as (front, agent):
        agent.on_get = WORKS_ON[speaks]

        async def cancel_and_end(received: Received) -> None:
            agent.on_get = DONE[speaks]
            if len(agent.received) == 2:
                assert "result" in await front.rpc("tasks/cancel", {"id": received.json["params"]["id"]})
            await DONE[speaks](received)

        agent.on_get, agent.on_cancel = cancel_and_end, WORKS_ON[speaks]
        for _ in range(2):
            await front.rpc("message/send", TEXT)
    assert len(set(ids(agent))) == len(agent.received) == 5
    assert {len(bytes.fromhex(request_id)) for request_id in ids(agent)} == {12}


@pytest.mark.parametrize("mentions", ["%id%", "%id% and %id%"])
@pytest.mark.parametrize("request_id", [7, "r-1", 'with "quotes"'])
async def test_an_answer_that_mentions_the_id_elsewhere_keeps_its_content(
    tmp_path: Path, mentions: str, request_id: str | int
) -> None:
    """A Message passes with its bytes but for the id of the response."""

    async def mention(received: Received) -> None:
        said = mentions.replace("%id%", received.json["id"])
        parts = [{"kind": "data", "data": {"id": received.json["id"], "said": said, "number": 1.50}}]
        message = {"kind": "message", "messageId": "m-1", "role": "agent", "parts": parts, "metadata": {"its": 1}}
        await result_of(message)(received)

    async with before(tmp_path, mention, "a2a-0.3", limits={"streaming": False}) as (front, agent):
        answer = await front.post({"jsonrpc": "2.0", "id": request_id, "method": "message/send", "params": TEXT})
    (sent,) = ids(agent)
    response = json.loads(answer.body)
    assert response["id"] == request_id
    assert response["result"]["metadata"] == {"its": 1}
    said = {"id": sent, "said": mentions.replace("%id%", sent), "number": 1.5}
    assert response["result"]["parts"] == [{"kind": "data", "data": said}]


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("speaks", WORKING)
@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
async def test_a_connection_with_an_answer_to_another_request_is_closed(
    tmp_path: Path, speaks: str, method: str
) -> None:
    foreign = answering_to("0" * 24, WORKS_ON[speaks])
    async with before(tmp_path, WORKING[speaks], speaks, limits={"streaming": False}) as (front, agent):
        agent.on_get, agent.on_cancel = foreign, foreign if method == "tasks/cancel" else WORKS_ON[speaks]
        await front.post({"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": TEXT})
        agent.behaviour = Doubling(echoed)
        for _ in range(20):  # nobody tells when the answer to a cancel is read
            assert "result" in await front.rpc("message/send", TEXT)
            agent.behaviour = Doubling(echoed)
    assert agent.methods()[1:3] in [["tasks/get", "tasks/cancel"], ["GetTask", "CancelTask"]]
    asked = agent.received[1 if method == "tasks/get" else 2]
    after = agent.received[agent.received.index(asked) + 1 :]
    assert asked.connection not in {received.connection for received in after}
