"""The judge of Agents' answers decides as the conformance vectors of the A2A profile do."""

import json
from typing import Any

import msgspec
import pytest

from aop.a2a.answers import AgentFault
from aop.a2a.v0_3 import Task, TaskState
from aop.contracts.documents import compiled
from tests.support import profile
from tests.support.profile import RpcRefused, StreamJudge
from tests.support.vectors import each

_CODES = {TaskState.FAILED: "AGENT_EXECUTION_FAILED", TaskState.REJECTED: "AGENT_EXECUTION_FAILED"}


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


@each("a2a-stream")
def test_a_stream_vector_gives_its_chunks_and_breaks_where_it_says(case: dict[str, Any]) -> None:
    judge, chunks, broken = StreamJudge(), [], False
    try:
        for result in case["results"]:
            chunks += judge.read(raw(result))
        if case["end"] == "clean":
            judge.end()
    except AgentFault:
        broken = True
    assert chunks == case["chunks"]
    assert broken == (case["outcome"].get("code") == "A2A_PROTOCOL_ERROR")
    if not broken and judge.state in _CODES:
        assert case["outcome"]["code"] == _CODES[judge.state]


@each("json-rpc")
def test_a_json_rpc_vector_is_a_result_an_error_or_broken(case: dict[str, Any]) -> None:
    if "json" not in case["contentType"].lower():
        return  # the media type is looked at where the answer is received
    try:
        profile.message_or_task(profile.rpc_result(case["text"].encode(), "1"))
        verdict = "result"
    except RpcRefused:
        verdict = "error"
    except AgentFault:
        verdict = "protocol_error"
    assert verdict == case["verdict"]


@each("a2a-send")
def test_the_answer_to_message_send_gives_its_value_or_is_broken(case: dict[str, Any]) -> None:
    answer = case["exchanges"][0]["answer"]
    if answer["status"] != 200 or answer["contentType"] != "application/json" or len(case["exchanges"]) > 1:
        return
    body = answer["text"] if "text" in answer else json.dumps(answer["body"])
    accepts = compiled(case.get("outputSchema", {}), formats=False).is_valid
    try:
        found = profile.message_or_task(profile.rpc_result(body.encode(), "1"))
        is_completed = not isinstance(found, Task) or found.status.state is TaskState.COMPLETED
        value = profile.result_value(found, accepts) if is_completed else None
    except (AgentFault, RpcRefused) as problem:
        wanted = "AGENT_EXECUTION_FAILED" if isinstance(problem, RpcRefused) else "A2A_PROTOCOL_ERROR"
        assert case["outcome"]["code"] == wanted
        return
    if case["outcome"]["status"] == "succeeded":
        assert value == case["outcome"]["result"]
    elif case["outcome"].get("reason") == "output_schema":
        assert not accepts(value)


@each("tasks")
def test_the_answer_to_a_task_method_is_a_task_or_an_error(case: dict[str, Any]) -> None:
    answer = json.dumps(case["answer"]).encode()
    if "error" in case["answer"]:
        with pytest.raises(RpcRefused) as refused:
            profile.rpc_result(answer, case["request"]["id"])
        assert refused.value.code == case["answer"]["error"]["code"]
    elif case["name"].endswith(("made-up state", "a message instead")):
        with pytest.raises(AgentFault):
            profile.task(profile.rpc_result(answer, case["request"]["id"]))
    else:
        profile.task(profile.rpc_result(answer, case["request"]["id"]))
