"""Calls through the front to Agents of A2A 0.3 and 1.0: what reaches them, what comes back, and what bounds it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aop.local.ports import any_free_port
from tests.agent.agents import ask, require_rejection
from tests.agent.served import message, message_of
from tests.front import proto
from tests.front.played import before
from tests.front.served import SKILL, ServedFront, served_front
from tests.support import streaming_agent as old
from tests.support.agent import a_message, a_task, data, rpc_error
from tests.support.doubled_answers import echoed
from tests.support.peers import Received, hold, listening
from tests.support.waiting import PATIENCE_SECONDS, becomes_true

TEXT = message_of([{"kind": "text", "text": "how are you?"}])
CHUNKS = [
    proto.task("SUBMITTED"),
    proto.status("WORKING"),
    proto.artifact({"text": "he"}),
    proto.artifact({"text": "llo"}, append=True, lastChunk=True),
    proto.status("COMPLETED"),
]
FILES: list[dict[str, Any]] = [
    {"raw": "aGk=", "mediaType": "text/plain"},
    {"url": "https://x.example/a", "filename": "a"},
    {"data": 1.50},
]


async def test_an_agent_of_a2a_1_0_is_called_in_both_modes(tmp_path: Path) -> None:
    async with before(tmp_path, proto.streamed(*CHUNKS)) as (front, agent):
        whole = await front.result("message/send", TEXT)
        events = [event async for event in front.events("message/stream", TEXT)]
    parts = [{"kind": "text", "text": "he"}, {"kind": "text", "text": "llo"}]
    assert whole == {
        "kind": "task",
        "id": "t-1",
        "contextId": "c-1",
        "status": {"state": "completed"},
        "artifacts": [{"artifactId": "a", "parts": parts}],
    }
    assert [event["kind"] for event in events] == ["task", "status-update"] + ["artifact-update"] * 2 + [
        "status-update"
    ]
    assert events[3] == {
        "kind": "artifact-update",
        "taskId": "t-1",
        "contextId": "c-1",
        "artifact": {"artifactId": "a", "parts": parts[1:]},
        "append": True,
        "lastChunk": True,
    }
    assert events[-1]["final"] is True
    for request in agent.received:
        assert request.json["method"] == "SendStreamingMessage"
        assert request.values("a2a-version") == ["1.0"]
        said = request.json["params"]["message"]
        assert said["parts"] == [{"text": "how are you?"}]
        assert (said["role"], said["metadata"]) == ("ROLE_USER", {"skillId": SKILL})


async def test_parts_of_a2a_1_0_keep_their_bytes_and_become_parts_of_0_3(tmp_path: Path) -> None:
    async with before(tmp_path, proto.streamed(proto.message(*FILES))) as (front, _):
        answer = await front.post({"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": message({"a": 1})})
    assert json.loads(answer.body)["result"]["parts"] == [
        {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/plain"}},
        {"kind": "file", "file": {"uri": "https://x.example/a", "name": "a"}},
        {"kind": "data", "data": 1.5},
    ]


async def test_an_agent_that_does_not_stream_is_asked_until_it_has_ended(tmp_path: Path) -> None:
    states = iter(["SUBMITTED", "WORKING", "COMPLETED"])

    async def next_state(request: Received) -> None:
        await proto.answered(proto.task(next(states), artifacts=[])["task"])(request)

    async with before(tmp_path, proto.answered(proto.task("SUBMITTED")), limits={"streaming": False}) as (front, agent):
        agent.on_get = next_state
        assert (await front.result("message/send", TEXT))["status"] == {"state": "completed"}
        assert await front.code("message/stream", TEXT) == -32004
    assert agent.methods() == ["SendMessage", "GetTask", "GetTask", "GetTask"]
    assert agent.received[0].json["params"]["configuration"]["returnImmediately"] is True


async def test_an_agent_of_a2a_0_3_gets_the_skill_and_its_answers_pass_unchanged(tmp_path: Path) -> None:
    result = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}, "metadata": {"mine": 1}}
    async with before(tmp_path, old.streamed(result, end="open"), "a2a-0.3") as (front, agent):
        events = [event async for event in front.events("message/stream", message({"n": 1}))]
    assert events == [result]
    (request,) = agent.received
    assert request.target == "/base"
    assert request.json["params"]["message"]["metadata"] == {"skillId": SKILL}
    assert request.json["params"]["message"]["parts"] == [data({"n": 1})]


@pytest.mark.parametrize("speaks", ["a2a-0.3", "a2a-1.0"])
async def test_a_json_rpc_error_keeps_its_code_in_both_modes(tmp_path: Path, speaks: str) -> None:
    async with before(tmp_path, rpc_error(-32009), speaks) as (front, _):
        assert await front.code("message/send", TEXT) == -32009
        assert await front.code("message/stream", TEXT) == -32009


async def test_an_agent_that_was_restarted_is_called_again_at_once(tmp_path: Path) -> None:
    """No connection to the one before is used, and while nobody listens a call is a 502."""

    async def answer(received: Received) -> None:
        await received.send(echoed(received))

    port, statuses = any_free_port(), list[int]()
    async with served_front(tmp_path, f"http://127.0.0.1:{port}/", limits={"streaming": False}) as front:
        for _ in range(10):
            async with listening(answer, port=port):
                await front.result("message/send", TEXT)
                await asyncio.gather(*(front.result("message/send", TEXT) for _ in range(4)))
            statuses.append(
                (await front.post({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT})).status
            )
    assert statuses == [502] * 10


@pytest.mark.second_ring
async def test_a_connection_that_the_agent_may_close_at_any_moment_is_not_used(tmp_path: Path) -> None:
    """Servers of Agents close an idle connection after 5 seconds or more; a request that meets this is lost."""
    connections: list[int] = []

    async def answer(received: Received) -> None:
        connections.append(received.connection)
        await received.send(echoed(received))

    async with before(tmp_path, answer, limits={"streaming": False}) as (front, _):
        await front.result("message/send", TEXT)
        await asyncio.sleep(2.1)
        await front.result("message/send", TEXT)
    assert len(set(connections)) == 2


async def test_a_dead_agent_is_a_502_and_a_full_front_a_503(tmp_path: Path) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT}
    async with served_front(tmp_path, "http://127.0.0.1:9/") as front:
        assert (await front.post(body)).status == 502
    async with before(tmp_path, hold, front={"limits": {"maxCalls": 1}}) as (front, agent):
        call = asyncio.create_task(front.post(body))
        await becomes_true(agent.is_asked)
        full = await front.post(body)
        assert (full.status, full.header(b"retry-after")) == (503, b"1")
        call.cancel()
        await asyncio.wait([call])


async def test_a_front_that_drains_is_alive_and_not_ready(tmp_path: Path) -> None:
    async with served_front(tmp_path, "http://127.0.0.1:9/") as front:
        assert front.readiness is not None
        found = []
        for _ in range(2):
            pages = [await ask(front.client, front.port, "GET", path) for path in ("/livez", "/readyz")]
            found.append([(page.status, json.loads(page.body)["status"]) for page in pages])
            front.readiness.drain()
    assert found == [[(200, "ok"), (200, "ok")], [(200, "ok"), (503, "unavailable")]]


async def test_the_front_holds_no_more_than_it_may(tmp_path: Path) -> None:
    large = a_message(data("x" * 300_000))
    few = {"limits": {"maxHeldBytes": 65_536}}
    async with before(tmp_path, large, "a2a-0.3", limits={"maxOutputBytes": 1_048_576}, front=few) as (front, _):
        answer = await front.post({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT})
    assert answer.status == 503


async def test_headers_of_the_platform_stay_at_the_front_unless_delegation_is_forwarded(tmp_path: Path) -> None:
    traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for delegation, passed in (("drop", {"traceparent"}), ("forward", {"traceparent", "x-platform-delegation"})):
        async with before(tmp_path, a_task("completed"), "a2a-0.3", delegation=delegation) as (front, agent):
            request = front.router.request(
                {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT}, capability=SKILL
            )
            await front.client.request(
                front.target,
                "POST",
                front.path,
                headers=[*request.headers, (b"traceparent", traced.encode())],
                body=request.body,
                deadline=asyncio.get_running_loop().time() + PATIENCE_SECONDS,
                max_body=65_536,
            )
        names = {name for name, _ in agent.received[0].headers}
        assert {name for name in names if name.startswith(("x-", "trace", "auth"))} == passed
        assert agent.received[0].values("traceparent") == [traced]


async def test_a_credential_of_another_agent_or_version_is_refused(tmp_path: Path) -> None:
    async with before(tmp_path, a_task("completed"), "a2a-0.3") as (front, agent):
        for router in (replace(front.router, agent_id="acme:other"), replace(front.router, agent_version="2.0.0")):
            other = ServedFront(router, front.port, front.client, SKILL, front.path)
            answer = await other.post({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT})
            require_rejection(answer, 403)
        assert agent.received == []
