"""Agents that fail a stream: the caller is told in band, by the code of the contract, and the Ledger tells the same."""

import json
from typing import Any

import pytest

from tests.support.agent import a_message, a_task, data, rpc_error, saying, text
from tests.support.cards import some_limits
from tests.support.loop import SILENT_HOST, Platform
from tests.support.peers import Behaviour, Received, reset, sending
from tests.support.stream import requesting, require_agreement, require_sent, streaming
from tests.support.streaming_agent import HEAD, artifact, event_of, message, piece, send_body, status, streamed, task

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "canary-of-the-agent"
STREAM = b"content-type: text/event-stream"
SAID = {"kind": "message", "messageId": "m", "role": "agent", "parts": [text(CANARY)]}


def then(tail: bytes, *, chunks: int = 1) -> Behaviour:
    """A Task and some chunks, then these bytes of the body, in which `%id%` becomes the id; left open."""

    async def behave(request: Received) -> None:
        await request.send(HEAD)
        for result in (task(), *(piece(number, number, 99) for number in range(chunks))):
            await send_body(request, event_of(request, result))
        await send_body(request, tail.replace(b"%id%", str(request.json["id"]).encode()))
        await request.wait_for_leaving()

    return behave


def envelope(text: bytes) -> Behaviour:
    return then(b"data: " + text + b"\n\n")


AT_ONCE: dict[str, tuple[str, str | None, Behaviour]] = {
    "500": ("AGENT_UNAVAILABLE", "http_server_error", saying(CANARY.encode(), 500, STREAM)),
    "401": ("AGENT_UNAVAILABLE", "http_auth", saying(b"{}", 401)),
    "302": ("AGENT_UNAVAILABLE", "http_redirect", saying(b"", 302, b"location: /elsewhere")),
    "204": ("AGENT_UNAVAILABLE", "http_other_success", sending(b"HTTP/1.1 204 Said\r\n\r\n")),
    "reset": ("AGENT_UNAVAILABLE", "transfer_broken", reset),
    "closed": ("AGENT_UNAVAILABLE", "transfer_broken", sending(b"")),
    "not HTTP": ("AGENT_UNAVAILABLE", "transfer_broken", sending(b"SMTP ready\r\n\r\n")),
    "cut at once": ("AGENT_UNAVAILABLE", "transfer_broken", streamed(end="cut")),
    "JSON-RPC error as JSON": ("AGENT_EXECUTION_FAILED", "rpc_error", rpc_error(-32603, CANARY)),
    "a result as JSON": ("A2A_PROTOCOL_ERROR", "media_type", a_message(data(CANARY))),
    "a task as JSON": ("A2A_PROTOCOL_ERROR", "media_type", a_task("completed")),
    "garbage as JSON": ("A2A_PROTOCOL_ERROR", "not_json", saying(CANARY.encode())),
    "media type": ("A2A_PROTOCOL_ERROR", "media_type", saying(b"", 200, b"content-type: text/plain")),
    "no media type": ("A2A_PROTOCOL_ERROR", "media_type", saying(b"", 200, b"x: y")),
    "two media types": ("A2A_PROTOCOL_ERROR", "media_type", saying(b"", 200, STREAM, STREAM)),
    "encoded": ("A2A_PROTOCOL_ERROR", "media_type", saying(b"", 200, STREAM, b"content-encoding: gzip")),
    "empty": ("A2A_PROTOCOL_ERROR", "stream_ended_early", saying(b"", 200, STREAM)),
    "only comments": ("A2A_PROTOCOL_ERROR", "stream_ended_early", streamed(b":\n\n:\n\n")),
    "an event without its end": ("A2A_PROTOCOL_ERROR", "stream_ended_early", streamed(b"data: {}\n")),
    "garbage": ("A2A_PROTOCOL_ERROR", "not_json", streamed(b"data: " + CANARY.encode() + b"\n\n", end="open")),
    "JSON-RPC error as event": (
        "AGENT_EXECUTION_FAILED",
        "rpc_error",
        saying(b'data: {"jsonrpc":"2.0","id":"%id%","error":{"code":-1,"message":"no"}}\n\n', 200, STREAM),
    ),
    "an unknown method": ("AGENT_EXECUTION_FAILED", "rpc_method_not_found", rpc_error(-32601, CANARY)),
    "another version": ("AGENT_EXECUTION_FAILED", "rpc_version_not_supported", rpc_error(-32009, CANARY)),
    "a message naming an empty task": (
        "A2A_PROTOCOL_ERROR",
        "message_shape",
        streamed(message(1, taskId="", contextId="c")),
    ),
}
MIDWAY: dict[str, tuple[str, str | None, Behaviour, bool]] = {
    "garbage": ("A2A_PROTOCOL_ERROR", "not_json", envelope(CANARY.encode()), True),
    "bytes that are no text": ("A2A_PROTOCOL_ERROR", "not_json", envelope(b"\xff\xfe"), True),
    "other id": ("A2A_PROTOCOL_ERROR", "rpc_envelope", envelope(b'{"jsonrpc":"2.0","id":"x","result":{}}'), True),
    "no id": ("A2A_PROTOCOL_ERROR", "rpc_envelope", envelope(b'{"jsonrpc":"2.0","result":{}}'), True),
    "old version": ("A2A_PROTOCOL_ERROR", "rpc_envelope", envelope(b'{"jsonrpc":"1.0","id":"%id%","result":{}}'), True),
    "neither": ("A2A_PROTOCOL_ERROR", "rpc_envelope", envelope(b'{"jsonrpc":"2.0","id":"%id%"}'), True),
    "repeated member": (
        "A2A_PROTOCOL_ERROR",
        "not_json",
        envelope(b'{"jsonrpc":"2.0","id":"%id%","result":{"kind":"x","kind":"task"}}'),
        True,
    ),
    "trailing data": ("A2A_PROTOCOL_ERROR", "not_json", envelope(b'{"jsonrpc":"2.0","id":"%id%","result":{}} 1'), True),
    "JSON-RPC error": (
        "AGENT_EXECUTION_FAILED",
        "rpc_error",
        envelope(b'{"jsonrpc":"2.0","id":"%id%","error":{"code":-32603,"message":"canary"}}'),
        False,
    ),
    "end without terminal": ("A2A_PROTOCOL_ERROR", "stream_ended_early", streamed(task(), piece(0, 0, 2)), True),
    "cut": ("AGENT_UNAVAILABLE", "transfer_broken", streamed(task(), piece(0, 0, 2), end="cut"), False),
    "failed without last chunk": (
        "AGENT_EXECUTION_FAILED",
        "task_failed",
        streamed(task(), piece(0, 0, 2), status("failed"), end="open"),
        False,
    ),
    "a task that changes": (
        "A2A_PROTOCOL_ERROR",
        "task_changed",
        streamed(task(), piece(0, 0, 2), artifact(1, append=True, taskId="task-8"), end="open"),
        True,
    ),
    "a question": (
        "AGENT_EXECUTION_FAILED",
        "input_required",
        streamed(task(), piece(0, 0, 2), status("input-required", status={"state": "input-required", "message": SAID})),
        True,
    ),
    "another authentication": (
        "AGENT_EXECUTION_FAILED",
        "auth_required",
        streamed(task(), piece(0, 0, 2), status("auth-required", final=True), end="open"),
        True,
    ),
    "an artifact again": (
        "A2A_PROTOCOL_ERROR",
        "artifact_replaced",
        streamed(task(), piece(0, 0, 2), artifact(CANARY), end="open"),
        True,
    ),
    "canceled by the Agent": (
        "CANCELED",
        None,
        streamed(task(), piece(0, 0, 2), status("canceled"), end="open"),
        False,
    ),
}


@pytest.mark.rows("STR-05", "STR-09", "STR-15", "INV-18", "REAS-01", "REAS-03")
@pytest.mark.parametrize(
    ("code", "reason", "behaviour"), [pytest.param(*row, id=f"{row[0]}: {name}") for name, row in AT_ONCE.items()]
)
async def test_a_stream_that_never_begins_ends_in_band(
    platform: Platform, code: str, reason: str | None, behaviour: Behaviour
) -> None:
    platform.agent.script(behaviour)
    async with streaming(platform, b'{"secret":"canary-of-the-caller"}') as caller:
        terminal = await caller.whole()
    assert (caller.types, terminal["error"]["code"]) == (["accepted", "failed"], code)
    assert terminal["error"].get("reason") == reason
    assert b"canary" not in caller.body
    await require_agreement(platform, caller)
    assert platform.agent.methods(caller.invocation_id) == ["message/stream"]


@pytest.mark.rows("STR-05", "STR-07", "STR-08", "STR-09", "STR-15", "REAS-01", "FOR-04")
@pytest.mark.parametrize(
    ("code", "reason", "behaviour", "cancels"),
    [pytest.param(*row, id=f"{row[0]}: {name}") for name, row in MIDWAY.items()],
)
async def test_a_stream_that_goes_wrong_midway_keeps_what_was_sent(
    platform: Platform, code: str, reason: str | None, behaviour: Behaviour, cancels: bool
) -> None:
    platform.agent.script(behaviour)
    async with streaming(platform) as caller:
        terminal = await caller.whole()
    assert (caller.chunks, terminal["error"]["code"]) == ([0], code)
    assert terminal["error"].get("reason") == reason
    assert b"canary" not in caller.body
    await require_agreement(platform, caller)
    await require_sent(platform, caller, cancels=cancels)
    for request in platform.agent.calls("message/stream", caller.invocation_id):
        assert len(request.values("x-platform-delegation")) == 1


@pytest.mark.rows("STR-12", "REAS-01")
async def test_a_card_without_streaming_has_no_route_for_a_stream(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(streaming=False))
    heard = len(platform.agent.received)
    async with requesting(platform, agentId=card["agentId"]) as caller:
        await caller.head()
        error = json.loads(await caller.text())
    assert (caller.status, error["code"], error["reason"]) == (503, "ROUTE_NOT_FOUND", "streaming_not_declared")
    assert caller.values("content-type") == ["application/json"]
    detail = await platform.detail(error["invocationId"])
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "failed"]
    assert detail["events"][-1]["error"] == error
    assert len(platform.agent.received) == heard


@pytest.mark.rows("STR-12", "REAS-01")
@pytest.mark.parametrize(
    ("members", "status_", "code"),
    [
        ({"agentId": "acme:none"}, 404, "AGENT_NOT_INSTALLED"),
        ({"capability": "none"}, 403, "CAPABILITY_NOT_ALLOWED"),
        ({"content": b"[]"}, 400, "VALIDATION_ERROR"),
    ],
)
async def test_an_error_before_the_first_frame_is_json_with_its_own_status(
    platform: Platform, members: dict[str, Any], status_: int, code: str
) -> None:
    recorded = await platform.recorded()
    async with requesting(platform, **members) as caller:
        await caller.head()
        error = json.loads(await caller.text())
    assert (caller.status, error["code"], caller.values("content-type")) == (status_, code, ["application/json"])
    assert "invocationId" not in error
    assert await platform.recorded() == recorded


@pytest.mark.rows("STR-12", "STR-15")
async def test_an_agent_out_of_reach_is_told_in_band_and_an_unsupported_one_as_json(platform: Platform) -> None:
    for host, code in ((SILENT_HOST, "AGENT_UNAVAILABLE"), ("127.0.0.8", "ROUTE_NOT_FOUND")):
        protocol = {**platform.card["protocol"], "endpoint": f"http://{host}:9/a2a"}
        card, _, _ = await platform.installed(protocol=protocol)
        async with streaming(platform, agentId=card["agentId"]) as caller:
            assert (await caller.whole())["error"]["code"] == code
        await require_agreement(platform, caller)
    card, _, _ = await platform.installed(authentication={"type": "none"})
    async with requesting(platform, agentId=card["agentId"]) as caller:
        await caller.head()
        error = json.loads(await caller.text())
    assert (caller.status, error["code"]) == (502, "AGENT_AUTH_UNSUPPORTED")
    assert await platform.types(error["invocationId"]) == ["created", "routing", "failed"]
