"""Every sample Agent takes the requests of the A2A profile and answers in its documents, whatever it is built on."""

import json
from typing import Any

import msgspec
import pytest

from aop.a2a.v0_3 import TaskState
from aop.contracts.documents import document
from aop.net.http import HttpClient
from tests.agent.samples import RunningSample
from tests.conformance.talk import Talk, data, message, rpc, text
from tests.support import profile
from tests.support.contracts import CONTRACTS
from tests.support.profile import RpcRefused, StreamJudge

_REQUESTS = CONTRACTS / "a2a-profile" / "0.2" / "examples" / "valid"
REQUESTS = sorted(_REQUESTS.glob("*[rR]equest/*.json"))
_RESULTS = {"message/send": "sendResult", "tasks/get": "taskResult", "tasks/cancel": "taskResult"}


@pytest.fixture
def talk(sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(sample, client, sample.card.skills[0].id)


def first_example(sample: RunningSample) -> dict[str, Any]:
    given: dict[str, Any] = msgspec.json.decode(sample.card.skills[0].input_schema)["examples"][0]
    return given


def require_document(name: str, value: object) -> None:
    assert document(f"a2a-profile/0.2#{name}").violations(value) == ()


@pytest.mark.second_ring
@pytest.mark.rows("OPS-14")
@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_request_of_the_profile_gets_an_answer_of_the_profile(talk: Talk, path: Any) -> None:
    request = json.loads(path.read_bytes())
    if request["method"] == "message/stream":
        judge = StreamJudge()
        async for frame in talk.frames(request):
            require_document("response", json.loads(frame))
            require_document("streamResult", json.loads(frame)["result"])
            judge.read(profile.rpc_result(frame, request["id"]))
        judge.end()
        return
    answer = await talk.post(request)
    assert answer.status == 200
    body = json.loads(answer.body)
    require_document("response", body)
    assert body["id"] == request["id"]
    if request["method"] == "message/send":
        require_document(_RESULTS[request["method"]], body["result"])
    else:
        assert body["error"]["code"] == -32001


@pytest.mark.rows("OPS-14")
async def test_every_event_of_a_good_stream_is_of_the_profile(talk: Talk, sample: RunningSample) -> None:
    judge, kinds = StreamJudge(), []
    async for event in talk.events(first_example(sample)):
        value = json.loads(bytes(event))
        require_document("streamResult", value)
        kinds.append(value["kind"])
        judge.read(event)
    judge.end()
    assert judge.state is TaskState.COMPLETED
    assert (kinds[0], kinds[-1]) == ("task", "status-update")
    assert "artifact-update" in kinds


@pytest.mark.second_ring
@pytest.mark.rows("OPS-14")
async def test_the_result_of_a_task_is_the_same_when_asked_for_again(talk: Talk, sample: RunningSample) -> None:
    done = await talk.task(data(first_example(sample)))
    assert done.status.state is TaskState.COMPLETED
    again = await talk.call("tasks/get", {"id": done.id, "historyLength": 1})
    require_document("taskResult", json.loads(bytes(again)))
    assert profile.result_value(profile.task(again)) == profile.result_value(done)


@pytest.mark.second_ring
async def test_a_text_only_message_needs_input_and_its_task_goes_on_with_data(
    talk: Talk, sample: RunningSample
) -> None:
    asked = await talk.task(text("hello"))
    assert asked.status.state is TaskState.INPUT_REQUIRED
    done = await talk.task(data(first_example(sample)), taskId=asked.id, contextId=asked.context_id)
    assert (done.id, done.status.state) == (asked.id, TaskState.COMPLETED)


@pytest.mark.second_ring
async def test_a_task_that_waits_for_input_can_be_canceled_once(talk: Talk) -> None:
    asked = await talk.task(text("hello"))
    found = profile.task(await talk.call("tasks/cancel", {"id": asked.id}))
    assert found.status.state is TaskState.CANCELED
    with pytest.raises(RpcRefused) as refused:
        await talk.call("tasks/cancel", {"id": asked.id})
    assert refused.value.code == -32002


@pytest.mark.second_ring
async def test_an_input_the_skill_does_not_take_is_rejected(talk: Talk) -> None:
    for given in ({}, {"unknown": 1}):
        assert (await talk.task(data(given))).status.state is TaskState.REJECTED


@pytest.mark.second_ring
async def test_a_capability_it_does_not_offer_is_rejected(talk: Talk, sample: RunningSample) -> None:
    other = Talk(talk.sample, talk.client, "book-trip")
    assert (await other.task(data(first_example(sample)))).status.state is TaskState.REJECTED


@pytest.mark.second_ring
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b'{"jsonrpc":"1.0","id":"7","method":"tasks/get","params":{"id":"x"}}', -32600),
        (rpc("tasks/get", {}), -32602),
        (rpc("message/send", {"message": {"kind": "message"}}), -32602),
        (rpc("message/stream", message([])["message"]), -32602),
    ],
    ids=["no JSON", "other version", "no task id", "no message", "no message to stream"],
)
async def test_a_broken_request_gets_a_json_rpc_error(talk: Talk, body: object, code: int) -> None:
    answer = await talk.post(body)
    assert answer.status == 200
    found = json.loads(answer.body)
    if code != -32700:  # then there is no id to repeat, and a2a-sdk leaves it out instead of saying null
        require_document("response", found)
    assert found["error"]["code"] == code
