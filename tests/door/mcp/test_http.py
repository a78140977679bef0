"""MCP over HTTP, message by message: what is answered to whom, what is refused, and what is never offered."""

import asyncio
import base64
import json
from typing import Any

import pytest

from aop.control_plane.gateway.tokens import issue_token
from tests.support.agent import a_message, data, invocation_of
from tests.support.callers import asking
from tests.support.door import OpenDoor, running_door
from tests.support.loop import SPACE
from tests.support.peers import hold
from tests.support.streaming_agent import a_whole_stream, endless, piece, status, streamed, task
from tests.support.units import Headers, Reply
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = f"/mcp/{SPACE}"
BOTH: Headers = ((b"accept", b"application/json, text/event-stream"), (b"content-type", b"application/json"))
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(method: str, params: Any = None, number: int | str = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}).encode()


def cancellation(number: int | str) -> bytes:
    params = {"requestId": number}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()


async def post(door: OpenDoor, body: bytes, *headers: tuple[bytes, bytes], path: str = PATH) -> Reply:
    return await door.unit.ask("POST", path, body, headers=[door.authorization, *BOTH, *headers])


async def modern(door: OpenDoor, method: str, params: Any = None, *headers: tuple[bytes, bytes]) -> Reply:
    said = {b"mcp-protocol-version": b"2026-07-28", b"mcp-method": method.encode()}
    if params and "name" in params:
        said[b"mcp-name"] = params["name"].encode()
    body = request(method, {"_meta": META, **(params or {})})
    return await post(door, body, *{**said, **dict(headers)}.items())


async def tool_of(door: OpenDoor, agent_id: str = "acme:agent") -> str:
    tools = (await post(door, request("tools/list"))).json["result"]["tools"]
    (name,) = [tool["name"] for tool in tools if tool["_meta"]["aop/agentId"] == agent_id]
    return str(name)


@pytest.mark.rows("DOOR-02")
@pytest.mark.parametrize(
    ("proposed", "answered"),
    [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")],
)
async def test_the_handshake_names_a_version_that_the_door_speaks(door: OpenDoor, proposed: str, answered: str) -> None:
    reply = await post(door, request("initialize", {**HELLO, "protocolVersion": proposed}))
    assert (reply.status, reply.json["result"]["protocolVersion"]) == (200, answered)
    assert reply.json["result"]["capabilities"] == {"tools": {"listChanged": True}}
    assert len(reply.header("mcp-session-id") or "") == 32
    assert (await post(door, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')).status == 202
    assert (await post(door, request("ping"))).json == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.rows("DOOR-02")
async def test_a_modern_client_needs_no_handshake(door: OpenDoor) -> None:
    found = (await modern(door, "server/discover")).json["result"]
    assert (found["supportedVersions"], found["resultType"]) == (["2026-07-28"], "complete")
    listing = (await modern(door, "tools/list")).json["result"]
    assert (listing["cacheScope"], listing["ttlMs"] > 0) == ("private", True)
    door.platform.agent.script(a_message(data({"n": 1})))
    called = (await modern(door, "tools/call", {"name": await tool_of(door)})).json["result"]
    assert (called["structuredContent"], called["resultType"]) == ({"result": {"n": 1}}, "complete")
    assert called["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "agent-operating-platform"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"[]", 400, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600),
        (request("resources/list"), 200, -32601),
        (request("tasks/list"), 200, -32601),
        (request("logging/setLevel", {"level": "info"}), 200, -32601),
        (request("server/discover"), 200, -32601),
        (request("tools/call"), 200, -32602),
        (request("tools/call", {"name": 1}), 200, -32602),
        (request("tools/call", {"name": "no\u202esuch"}), 200, -32602),
        (request("tools/list", {"cursor": "!"}), 200, -32602),
        (request("initialize"), 200, -32602),
        (request("ping", number="i" * 256), 200, None),
        (request("ping", number="i" * 257), 400, -32600),
        (request("ping", number="i" * 1_000_000), 400, -32600),
        (request("ping", number=2**63 - 1), 200, None),
        (request("ping", number=2**64), 400, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', 400, -32600),
        (request("ping", {"_meta": {"progressToken": "t" * 257}}), 200, -32602),
        (request("ping", {"_meta": {"progressToken": 2**64}}), 200, -32602),
        (request("ping", {"_meta": {"progressToken": 1.5}}), 200, -32602),
        (request("ping", {"_meta": {"progressToken": [1]}}), 200, -32602),
        (cancellation("i" * 257), 400, -32602),
        (cancellation(2**64), 400, -32602),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\xff"}}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":"\xc3"}}}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\xed\xa0\x80"}}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"other":"\xff"}}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\\ud800"}}', 400, -32700),
    ],
    ids=lambda value: str(value)[:90],
)
@pytest.mark.rows("SOUND-04")
async def test_what_can_not_be_served_is_a_json_rpc_error(
    door: OpenDoor, body: bytes, status: int, code: int | None
) -> None:
    reply = await post(door, body, (b"mcp-session-id", b"mine"))
    error = reply.json.get("error", {})
    assert (reply.status, error.get("code")) == (status, code)
    assert "\u202e" not in error.get("message", "")


@pytest.mark.rows("SOUND-04")
async def test_a_version_that_is_not_spoken_is_not_repeated_at_length(door: OpenDoor) -> None:
    version = "9" * 15_000
    meta = {**META, next(iter(META)): version}
    headers = [(b"mcp-method", b"ping"), (b"mcp-protocol-version", version.encode())]
    reply = await post(door, request("ping", {"_meta": meta}), *headers)
    assert (reply.status, reply.json["error"]["code"]) == (400, -32022)
    assert len(reply.body) < 1_000


@pytest.mark.parametrize(
    ("method", "headers", "meta", "status", "code"),
    [
        ("tools/list", {b"mcp-method": b"tools/call"}, META, 400, -32020),
        ("tools/list", {b"mcp-protocol-version": b"2025-11-25"}, META, 400, -32020),
        ("tools/list", {b"mcp-protocol-version": b"2099-01-01"}, {**META, next(iter(META)): "2099-01-01"}, 400, -32022),
        ("tools/list", {}, {next(iter(META)): "2026-07-28"}, 400, -32602),
        ("tools/call", {}, META, 400, -32020),
        ("initialize", {}, META, 404, -32601),
        ("ping", {}, META, 404, -32601),
    ],
)
async def test_a_modern_request_says_in_its_headers_what_its_body_says(
    door: OpenDoor, method: str, headers: dict[bytes, bytes], meta: Any, status: int, code: int
) -> None:
    params = {"_meta": meta, **({"name": "a"} if method == "tools/call" else {})}
    said = {b"mcp-protocol-version": b"2026-07-28", b"mcp-method": method.encode(), **headers}
    reply = await post(door, request(method, params), *said.items())
    assert (reply.status, reply.json["error"]["code"]) == (status, code)


async def test_a_name_in_a_header_may_be_in_base64(door: OpenDoor) -> None:
    door.platform.agent.script(a_message(data({})))
    name = await tool_of(door)
    encoded = (b"mcp-name", b"=?base64?" + base64.b64encode(name.encode()) + b"?=")
    assert (await modern(door, "tools/call", {"name": name}, encoded)).status == 200


@pytest.mark.rows("DOOR-05")
async def test_whom_the_gateway_refuses_every_method_refuses_with_the_same_words(door: OpenDoor) -> None:
    name = await tool_of(door)
    stranger = (await issue_token(door.platform.stores.control_plane, "mallory")).token.reveal()
    bearers: list[Headers] = [
        (),
        ((b"authorization", b"Bearer aop_foreign"),),
        ((b"authorization", f"Bearer {stranger}".encode()),),
    ]
    bodies = [
        request("initialize", HELLO),
        request("ping"),
        request("tools/list"),
        request("tools/call", {"name": name}),
        request("tools/call", {"name": "other"}),
        request("tools/call", {"name": name, "_meta": {"progressToken": 1}}),
        request("tools/call", {"name": name, "arguments": []}),
        request("resources/list"),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        cancellation(1),
        b"{",
        b"[]",
        request("tools/list", {"cursor": "!"}),
        request("ping", number="i" * 257),
    ]
    for bearer in bearers:
        wanted = await door.platform.gateway.get(f"/v1/workspaces/{SPACE}", headers=bearer)
        for body in bodies:
            reply = await door.unit.ask("POST", PATH, body, headers=[*bearer, *BOTH])
            assert (reply.status, reply.json["code"]) == (wanted.status, wanted.json["code"]), body
        stream = await door.unit.ask("GET", PATH, headers=[*bearer, (b"accept", b"text/event-stream")])
        assert (stream.status, stream.json["code"]) == (wanted.status, wanted.json["code"])
    nowhere = await post(door, request("tools/list"), path="/mcp/nowhere")
    assert (nowhere.status, nowhere.json["code"]) == (404, "NOT_FOUND")


@pytest.mark.rows("CALL-01", "DOOR-05")
async def test_a_caller_of_the_workspace_has_its_tools_until_it_is_removed(door: OpenDoor) -> None:
    platform, tool = door.platform, request("tools/call", {"name": await tool_of(door)})
    token = (await issue_token(platform.stores.control_plane, "carol")).token.reveal()
    await platform.owner.add_caller("carol", SPACE)
    listed = await door.unit.ask("POST", PATH, request("tools/list"), token=token, headers=BOTH)
    assert listed.json == (await post(door, request("tools/list"))).json
    platform.agent.script(a_message(data({})))
    assert "result" in (await door.unit.ask("POST", PATH, tool, token=token, headers=BOTH)).json
    called = invocation_of(platform.agent.calls("message/send")[-1])
    assert (await platform.detail(called))["invocation"]["caller"] == {"type": "user", "id": "carol"}
    await platform.owner.remove_caller("carol", SPACE)
    for body in (tool, request("tools/list")):
        reply = await door.unit.ask("POST", PATH, body, token=token, headers=BOTH)
        assert (reply.status, reply.json["reason"]) == (403, "not_caller")


async def test_sessions_are_never_resumed_and_nothing_is_sent_again(door: OpenDoor) -> None:
    accept = (b"accept", b"text/event-stream")
    assert (await door.unit.ask("DELETE", PATH, headers=[door.authorization])).status == 405
    assert (await door.unit.ask("GET", PATH, headers=[door.authorization, (b"accept", b"text/html")])).status == 406
    async with running_door(door.platform) as closing:
        headers = [door.authorization, accept, (b"last-event-id", b"7")]
        watching = asyncio.create_task(closing.unit.ask("GET", PATH, headers=headers))
        await becomes_true(lambda: one_watch(closing))
        closing.unit.unit.end_watches()
        assert (await watching).body == b":\n\n"


async def one_watch(door: OpenDoor) -> bool:
    return sum(slots.taken for group in door.unit.unit.slots for slots in group) == 1


@pytest.mark.rows("DOOR-02", "DOOR-03")
@pytest.mark.parametrize("streams", [False, True])
async def test_a_cancellation_ends_the_call_of_its_own_session_alone(door: OpenDoor, streams: bool) -> None:
    method = "message/stream" if streams else "message/send"
    door.platform.agent.script(endless("x", seconds=0.02) if streams else hold)
    before = len(door.platform.agent.calls(method))
    meta = {"_meta": {"progressToken": "p"}} if streams else {}
    body = request("tools/call", {"name": await tool_of(door), **meta}, number=7)
    call = asyncio.create_task(post(door, body, (b"mcp-session-id", b"mine")))
    arrived = await door.platform.agent.arrival(method, before + 1)
    cancel = cancellation(7)
    for session in ((), ((b"mcp-session-id", b"yours"),)):
        assert (await post(door, cancel, *session)).status == 202
    await asyncio.sleep(0.1)
    assert not call.done()
    assert (await post(door, cancel, (b"mcp-session-id", b"mine"))).status == 202
    assert b'"result"' not in (await call).body
    assert (await door.platform.ended(invocation_of(arrived)))["events"][-1]["type"] == "canceled"


@pytest.mark.rows("DOOR-03")
@pytest.mark.parametrize("streams", [False, True])
async def test_who_leaves_cancels_the_invocation(door: OpenDoor, streams: bool) -> None:
    method = "message/stream" if streams else "message/send"
    door.platform.agent.script(endless("x", seconds=0.02) if streams else hold)
    before = len(door.platform.agent.calls(method))
    body = request("tools/call", {"name": await tool_of(door), "_meta": {"progressToken": 1} if streams else {}})
    async with asking(door.unit, PATH, body, [door.authorization, BOTH[0]]) as call:
        arrived = await door.platform.agent.arrival(method, before + 1)
        if streams:
            await asyncio.wait({call})
    assert (await door.platform.ended(invocation_of(arrived)))["events"][-1]["type"] == "canceled"


async def test_chunks_come_as_progress_only_where_somebody_asked_for_them(door: OpenDoor) -> None:
    name = await tool_of(door)
    door.platform.agent.script(streamed(*a_whole_stream(2)))
    reply = await post(door, request("tools/call", {"name": name, "_meta": {"progressToken": "t"}}))
    assert reply.header("content-type") == "text/event-stream"
    events = [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    progress = {"progressToken": "t", "progress": 1, "message": "0"}
    assert events[0] == {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
    assert events[-1]["result"]["structuredContent"] == {"chunks": [0, 1]}
    door.platform.agent.script(a_message(data({"n": 1})))
    only_json = [door.authorization, (b"accept", b"application/json"), (b"content-type", b"application/json")]
    body = request("tools/call", {"name": name, "_meta": {"progressToken": "t"}})
    assert (await door.unit.ask("POST", PATH, body, headers=only_json)).json["result"]["isError"] is False


async def test_chunks_of_text_are_one_text_for_who_reads_and_apart_for_programs(door: OpenDoor) -> None:
    body = request("tools/call", {"name": await tool_of(door), "_meta": {"progressToken": 1}})

    async def ended(*chunks: Any) -> dict[str, Any]:
        pieces = [piece(one, number, len(chunks)) for number, one in enumerate(chunks)]
        door.platform.agent.script(streamed(task(), *pieces, status("completed")))
        found: dict[str, Any] = json.loads((await post(door, body)).body.split(b"data: ")[-1])["result"]
        return found

    said = await ended("turn ", "1 \u00e9\n", '"in"')
    assert said["structuredContent"] == {"chunks": ["turn ", "1 \u00e9\n", '"in"']}
    assert said["content"] == [{"type": "text", "text": 'turn 1 \u00e9\n"in"'}]
    alone = await ended("all of it")
    assert (alone["structuredContent"], alone["content"][0]["text"]) == ({"result": "all of it"}, "all of it")
    mixed = await ended("turn ", {"n": 1})
    assert json.loads(mixed["content"][0]["text"]) == mixed["structuredContent"] == {"chunks": ["turn ", {"n": 1}]}


async def test_a_bearer_is_told_nowhere(door: OpenDoor, capsys: pytest.CaptureFixture[str]) -> None:
    door.platform.agent.script(a_message(data({})))
    reply = await post(door, request("tools/call", {"name": await tool_of(door)}))
    said = capsys.readouterr()
    assert door.platform.token not in said.err + said.out + reply.body.decode()
    assert all(door.platform.token.encode() not in call.body for call in door.platform.agent.calls("message/send"))
