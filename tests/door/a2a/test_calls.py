"""What an A2A client gets at the door, in both versions: results, Tasks of the Ledger, refusals, and errors."""

from collections.abc import Iterator
from typing import Any

import pytest

from interop.door import BREAK, EARLY, HELLO
from tests.door.a2a.reading import (
    GET,
    RESUBSCRIBE,
    SAID,
    SEND,
    STREAM,
    ask,
    both_versions,
    events_of,
    params,
    rpc,
    state_of,
    task_of,
    values_of,
)
from tests.support.agent import data
from tests.support.door_agents import PIECES, A2AAgents

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("DOOR-01")
@both_versions
async def test_a_send_gives_the_task_that_the_ledger_has(agents: A2AAgents, version: str) -> None:
    message = params(HELLO, version=version, contextId="ctx-9")
    reply = await ask(agents, agents.chat, SEND[version], message, version=version)
    found = task_of(reply.json)
    assert (reply.status, state_of(reply.json), found["contextId"]) == (200, "completed", "ctx-9")
    assert values_of(found["artifacts"]) == [SAID]
    detail = await agents.door.platform.detail(found["id"])
    assert detail["invocation"]["status"] == "succeeded"
    assert found["metadata"]["traceId"] == detail["invocation"]["traceId"] == reply.header("x-platform-trace-id")
    read = (await ask(agents, agents.chat, GET[version], {"id": found["id"], "historyLength": 2}, version=version)).json
    assert (state_of(read), read["result"]["history"]) == ("completed", [])
    assert "artifacts" not in read["result"]
    again = await ask(agents, agents.chat, RESUBSCRIBE[version], {"id": found["id"]}, version=version)
    assert again.json["error"]["code"] == -32004


@pytest.mark.rows("DOOR-01")
@both_versions
async def test_a_stream_has_the_task_its_chunks_and_one_end(agents: A2AAgents, version: str) -> None:
    reply = await ask(agents, agents.chat, STREAM[version], params(HELLO, version=version), version=version)
    assert reply.header("content-type") == "text/event-stream"
    first, *chunks, last = events_of(reply.body)
    assert (state_of(first), state_of(last)) == ("working", "completed")
    assert [part for chunk in chunks for part in values_of([task_of(chunk)["artifact"]])] == list(PIECES)
    assert {task_of(one).get("id") or task_of(one)["taskId"] for one in (first, *chunks, last)} == {
        task_of(first)["id"]
    }
    assert task_of(first)["contextId"] == task_of(first)["id"]
    detail = await agents.door.platform.detail(task_of(first)["id"])
    assert {task_of(one)["metadata"]["traceId"] for one in (first, last)} == {detail["invocation"]["traceId"]}
    assert {task_of(one)["artifact"]["artifactId"] for one in chunks} == {"result"}
    assert [task_of(one).get("append", False) for one in chunks] == [False, True, True]


@pytest.mark.rows("DOOR-01")
@both_versions
async def test_the_last_status_of_a_stream_has_the_time_of_its_end(agents: A2AAgents, version: str) -> None:
    reply = await ask(agents, agents.chat, STREAM[version], params(HELLO, version=version), version=version)
    first, *_, last = (task_of(one) for one in events_of(reply.body))
    detail = await agents.door.platform.detail(first["id"])
    assert first["status"]["timestamp"] < last["status"]["timestamp"]
    assert detail["events"][-1]["occurredAt"] <= last["status"]["timestamp"]


@pytest.mark.rows("DOOR-01")
@both_versions
async def test_an_agent_without_streaming_is_a_stream_of_one_artifact_and_one_end(
    agents: A2AAgents, version: str
) -> None:
    message = params({"n": 1}, version=version, skill="typed")
    first, chunk, last = events_of((await ask(agents, agents.typed, STREAM[version], message, version=version)).body)
    assert (state_of(first), state_of(last)) == ("working", "completed")
    assert values_of([task_of(chunk)["artifact"]]) == [{"n": 1}]


@pytest.mark.rows("DOOR-04")
@both_versions
@pytest.mark.parametrize(
    ("methods", "word", "facts"),
    [
        (SEND, BREAK, {"code": "AGENT_EXECUTION_FAILED", "reason": "task_failed"}),
        (STREAM, BREAK, {"code": "AGENT_EXECUTION_FAILED", "reason": "task_failed"}),
        (STREAM, EARLY, {"code": "A2A_PROTOCOL_ERROR", "reason": "stream_ended_early"}),
    ],
    ids=["send", "stream", "early end"],
)
async def test_what_failed_is_a_failed_task_with_code_reason_and_trace(
    agents: A2AAgents, version: str, methods: dict[str, str], word: str, facts: dict[str, str]
) -> None:
    reply = await ask(agents, agents.chat, methods[version], params(word, version=version), version=version)
    last = [reply.json] if methods is SEND else events_of(reply.body)
    assert [state_of(one) for one in last if "status" in task_of(one)].pop() == "failed"
    ended = task_of(last[-1])
    assert facts.items() <= ended["metadata"].items()
    detail = await agents.door.platform.detail(ended["metadata"]["invocationId"])
    assert (detail["invocation"]["errorCode"], detail["invocation"]["reason"]) == tuple(facts.values())
    (said,) = ended["status"]["message"]["parts"]
    assert all(word in said["text"] for word in (*facts.values(), detail["invocation"]["traceId"]))
    assert methods is STREAM or ended["history"] == [ended["status"]["message"]]
    found = {"id": detail["invocation"]["invocationId"]}
    read = (await ask(agents, agents.chat, GET[version], found, version=version)).json["result"]
    assert facts.items() <= read["metadata"].items()
    assert read["history"] == [read["status"]["message"]]
    none = (await ask(agents, agents.chat, GET[version], {**found, "historyLength": 0}, version=version)).json
    assert none["result"]["history"] == []


@pytest.mark.parametrize(
    ("version", "method", "parameters", "code"),
    [
        (None, "message/send", params(HELLO, taskId="inv_1"), -32001),
        (None, "tasks/get", {"id": "inv_1"}, -32001),
        (None, "tasks/get", {"id": "no id at all/"}, -32001),
        (None, "tasks/get", {}, -32602),
        (None, "tasks/cancel", {"id": "inv_1"}, -32001),
        (None, "tasks/resubscribe", {"id": "inv_1"}, -32001),
        (None, "tasks/pushNotificationConfig/set", {}, -32003),
        (None, "tasks/pushNotificationConfig/get", {}, -32003),
        (None, "tasks/pushNotificationConfig/list", {}, -32003),
        (None, "tasks/pushNotificationConfig/delete", {}, -32003),
        (None, "agent/getAuthenticatedExtendedCard", {}, -32007),
        (None, "SendMessage", params(HELLO, version="1.0"), -32601),
        ("0.3.1", "tasks/list", {}, -32601),
        ("1.0", "GetTask", {"id": "inv_1"}, -32001),
        ("1.0", "CancelTask", {"id": "inv_1"}, -32001),
        ("1.0", "ListTasks", {}, -32004),
        ("1.0", "SubscribeToTask", {"id": "inv_1"}, -32001),
        ("1.0", "CreateTaskPushNotificationConfig", {}, -32003),
        ("1.0", "GetTaskPushNotificationConfig", {}, -32003),
        ("1.0", "ListTaskPushNotificationConfigs", {}, -32003),
        ("1.0", "DeleteTaskPushNotificationConfig", {}, -32003),
        ("1.0", "GetExtendedAgentCard", {}, -32004),
        ("1.0", "message/send", params(HELLO), -32601),
        ("2.0", "SendMessage", params(HELLO, version="1.0"), -32009),
        ("one", "SendMessage", params(HELLO, version="1.0"), -32009),
    ],
)
async def test_what_is_not_offered_is_refused_as_the_protocol_says(
    agents: A2AAgents, version: str | None, method: str, parameters: Any, code: int
) -> None:
    recorded = await agents.door.platform.recorded()
    reply = await ask(agents, agents.chat, method, parameters, version=version)
    assert (reply.status, reply.json["error"]["code"], reply.json["id"]) == (
        200,
        code,
        "r-1" if code != -32009 else None,
    )
    (info,) = reply.json["error"]["data"]
    assert info["@type"].endswith("ErrorInfo")
    assert info["metadata"]["traceId"] == reply.header("x-platform-trace-id")
    assert await agents.door.platform.recorded() == recorded


def no_utf8() -> Iterator[bytes]:
    """Bytes that are none, in one member after the other."""
    members = params("hi", contextId="c", other="o", metadata={"skillId": "s"})
    for method, found in (("message/send", members), ("message/stream", members), ("tasks/get", {"id": "t"})):
        whole = rpc(method, found)
        for name in (b"id", b"method", b"contextId", b"messageId", b"skillId", b"text", b"other", b"role"):
            before, member, after = whole.rpartition(b'"%b": "' % name)
            if member:
                yield before + member + b"\xff" + after


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{", b"application/json", 200, -32700),
        (b"[]", b"application/json", 200, -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "tasks/get"}', b"application/json", 200, -32600),
        (rpc("tasks/get", {"id": "inv_1"}), b"text/plain", 415, -32005),
        (rpc("tasks/get", {"id": "inv_1"}, "i" * 257), b"application/json", 200, -32600),
        (rpc("tasks/get", {"id": "inv_1"}, 2**64), b"application/json", 200, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "params": %b}' % (b"[" * 100_000), b"application/json", 200, -32700),
        *((body, b"application/json", 200, -32700) for body in no_utf8()),
        (rpc("tasks/get", {"id": "i" * 1_000_000}), b"application/json", 200, -32001),
        (rpc("tasks/cancel", {"id": "i" * 1_000_000}), b"application/json", 200, -32001),
        (rpc("tasks/get", {"id": "inv_1"}, "i" * 1_000_000), b"application/json", 200, -32600),
        (rpc("tasks/get", {"id": "inv_1"}, 1.5), b"application/json", 200, -32600),
        (rpc("tasks/get", {"id": "inv_1"}, [1]), b"application/json", 200, -32600),
    ],
    ids=lambda value: str(value)[:90],
)
@pytest.mark.rows("SOUND-04")
async def test_a_body_that_is_no_request_has_its_code(
    agents: A2AAgents, body: bytes, content_type: bytes, status: int, code: int
) -> None:
    path = agents.chat.removeprefix(agents.door.unit.origin)
    headers = [(b"content-type", content_type)]
    reply = await agents.door.unit.ask("POST", path, body, token=agents.door.platform.token, headers=headers)
    assert (reply.status, reply.json["error"]["code"]) == (status, code)


DEPTHS = range(900, 1000)
"""Python 3.11 reads no deeper than its own stack allows, which is somewhere here; what is read later, less deep."""


@pytest.mark.rows("SOUND-04")
@pytest.mark.parametrize(
    ("method", "members"),
    [
        ("message/send", {"message": params({"n": "DEEP"})["message"]}),
        ("message/send", {"message": {**params()["message"], "parts": [{**data({}), "metadata": "DEEP"}]}}),
        ("message/send", {**params("hi"), "configuration": {"pushNotificationConfig": {"n": "DEEP"}}}),
        ("SendMessage", {"message": params(version="1.0")["message"] | {"parts": [{"data": {}, "mediaType": "DEEP"}]}}),
        ("tasks/get", {"id": "t", "other": "DEEP"}),
    ],
    ids=["data", "metadata", "configuration", "media type", "other"],
)
async def test_a_body_that_is_nested_as_deep_as_can_be_read_is_no_fault_of_the_door(
    agents: A2AAgents, method: str, members: dict[str, Any]
) -> None:
    path, version = agents.chat.removeprefix(agents.door.unit.origin), b"1.0" if method[0].isupper() else b"0.3"
    found = set()
    for depth in DEPTHS:
        body = rpc(method, members).replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        headers = [(b"a2a-version", version)]
        reply = await agents.door.unit.ask("POST", path, body, token=agents.door.platform.token, headers=headers)
        found.add((reply.status, reply.json["error"]["code"]))
    assert found <= {(200, -32700), (200, -32602), (200, -32001), (200, -32003)}
    assert len(found) > 1


@pytest.mark.rows("SOUND-04")
@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "9", "id": "%b"}' % (b"x" * 900_000),
        b'{"jsonrpc": "9", "id": %b}' % (b"7" * 4_000),
        b'{"jsonrpc": "%b", "id": 1, "method": "tasks/get"}' % (b"x" * 900_000),
        rpc("message/send", {"message": {"messageId": "m", "kind": "x" * 900_000, "role": "user", "parts": []}}),
    ],
    ids=["id", "number", "jsonrpc", "kind"],
)
async def test_a_refusal_does_not_repeat_at_length_what_was_sent(agents: A2AAgents, body: bytes) -> None:
    path = agents.chat.removeprefix(agents.door.unit.origin)
    reply = await agents.door.unit.ask("POST", path, body, token=agents.door.platform.token)
    assert reply.json["error"]["code"] in {-32600, -32602}
    assert len(reply.body) < 1_000


async def test_a_body_beyond_the_limit_is_refused_by_http(agents: A2AAgents) -> None:
    reply = await ask(agents, agents.chat, "message/send", params("x" * 1_200_000))
    assert (reply.status, reply.code, reply.json["reason"]) == (413, "PAYLOAD_TOO_LARGE", "body_size")


@pytest.mark.rows("DOOR-01")
@both_versions
async def test_a_refusal_before_acceptance_has_code_reason_trace_and_violations(
    agents: A2AAgents, version: str
) -> None:
    async def refused(address: str, *values: Any, skill: str | None) -> dict[str, Any]:
        message = params(*values, version=version, skill=skill)
        error = (await ask(agents, address, SEND[version], message, version=version)).json["error"]
        assert isinstance(error, dict)
        return error

    unknown = await refused(agents.chat, HELLO, skill="none")
    assert unknown["code"] == -32602
    assert (
        unknown["data"][0]["metadata"].items() >= {"code": "CAPABILITY_NOT_ALLOWED", "reason": "skill_unknown"}.items()
    )
    unnamed = await refused(agents.typed, HELLO, skill=None)
    assert unnamed["code"] == -32602
    assert "typed, chat" in unnamed["message"]
    wrong = await refused(agents.typed, {"n": "one"}, skill="typed")
    assert (wrong["code"], wrong["data"][0]["metadata"]["code"]) == (-32602, "VALIDATION_ERROR")
    assert wrong["data"][1]["fieldViolations"][0]["field"] == "/input/n"
    missing = await refused(agents.chat.rpartition("/")[0] + "/acme:nobody", HELLO, skill="chat")
    assert (missing["code"], missing["data"][0]["metadata"]["reason"]) == (-32004, "not_installed")
