"""What an A2A client writes is read, and what it gets is written, as the vectors of the contract say."""

import json
from typing import Any

import msgspec
import pytest

from aop.a2a.messages import read_message
from aop.a2a.rpc import RpcFault
from aop.a2a.v0_3 import TaskState
from aop.a2a.versions import A2AVersion
from aop.a2a.writing import FORMS, StreamWriter, TaskView
from aop.contracts.errors import Envelope, ErrorCode, Reason, code_entries
from aop.door.a2a.errors import is_answered_by_http, rpc_fault
from aop.door.faults import GatewayFault
from tests.support.vectors import cases, each

TRACE = "0af7651916cd43dd8448eb211c80319c"
DONE = TaskView("inv_1", "ctx-1", TaskState.COMPLETED, "2026-11-16T09:30:00.000000Z", {"traceId": TRACE})


@pytest.mark.rows("DOOR-01")
@each("door-message")
def test_a_message_is_read_as_the_vector_says(case: dict[str, Any]) -> None:
    params = msgspec.Raw(json.dumps(case["params"]).encode())
    try:
        read = read_message(A2AVersion(case["version"]), params)
        found = {"input": json.loads(bytes(read.input)), "skillId": read.skill_id, "contextId": read.context_id}
    except RpcFault as fault:
        found = {"error": fault.code}
    assert found == case["verdict"]


@pytest.mark.rows("DOOR-01")
@each("door-result")
def test_a_result_is_a_completed_task_with_one_artifact(case: dict[str, Any]) -> None:
    form = FORMS[A2AVersion(case["version"])]
    assert json.loads(form.sent(form.task(DONE, json.dumps(case["value"]).encode()))) == case["verdict"]


@pytest.mark.rows("DOOR-01")
@pytest.mark.parametrize("request_id", ["r-1", 7, None])
@each("door-stream")
def test_chunks_are_parts_of_one_artifact_and_one_event_is_the_last(case: dict[str, Any], request_id: Any) -> None:
    writer = StreamWriter(FORMS[A2AVersion(case["version"])], request_id, DONE)
    chunks = b"".join(writer.chunk(json.dumps(chunk).encode()) for chunk in case["chunks"])
    frames = (writer.opening() + chunks + writer.status(DONE)).split(b"\n\n")
    assert frames.pop() == b""
    assert all(frame.startswith(b"data: ") and b"\n" not in frame for frame in frames)
    events = [json.loads(frame.removeprefix(b"data: ")) for frame in frames]
    assert [event.pop("result") for event in events] == case["verdict"]
    assert all(event == {"jsonrpc": "2.0", "id": request_id} for event in events)


@pytest.mark.rows("DOOR-05")
@each("door-error")
def test_an_error_before_acceptance_has_its_code(case: dict[str, Any]) -> None:
    fault = GatewayFault(ErrorCode(case["code"]), Reason(case["reason"]) if "reason" in case else None)
    assert case["verdict"] == ("http" if is_answered_by_http(fault) else rpc_fault(fault).code)


def test_every_code_of_an_invocation_has_a_vector() -> None:
    listed = {entry.code for entry in code_entries().values() if Envelope.INVOCATION in entry.envelopes}
    assert {case["code"] for case in cases("door-error")} == listed


@pytest.mark.parametrize("version", A2AVersion)
def test_values_keep_their_spelling(version: A2AVersion) -> None:
    value = b'{"n":1.10,"big":12345678901234567890123,"e":"\\u00e9"}'
    form = FORMS[version]
    assert value in form.task(DONE, value)
    assert value in StreamWriter(form, "1", DONE).chunk(value)
