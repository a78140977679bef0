"""What every request at the door passes, whatever protocol it speaks, and what a protocol can rely on."""

import asyncio
from typing import Any

import pytest

from aop.control_plane.gateway.tokens import issue_token
from tests.door.played import played_routes
from tests.support.agent import a_message, data, invocation_of
from tests.support.callers import asking
from tests.support.door import OpenDoor, running_door
from tests.support.errors import require_error
from tests.support.loop import SPACE
from tests.support.peers import hold
from tests.support.streaming_agent import a_whole_stream, endless, piece, streamed, task
from tests.support.units import Headers, Reply
from tests.support.waiting import becomes_true, generous

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENT = f"/played/{SPACE}/acme:agent"


async def ask(door: OpenDoor, path: str = AGENT, content: bytes = b"{}", headers: Headers = ()) -> Reply:
    return await door.unit.ask("POST", path, content, headers=[door.authorization, *headers])


async def test_a_result_crosses_the_door_byte_for_byte_under_the_trace_of_the_platform(door: OpenDoor) -> None:
    door.platform.agent.script(a_message(data({"n": 1})))
    reply = await ask(door, content=b'{ "n" : 1.10 }')
    assert (reply.status, reply.json) == (200, {"n": 1})
    call = door.platform.agent.calls("message/send")[-1]
    assert b'{ "n" : 1.10 }' in call.body
    detail = await door.platform.detail(invocation_of(call))
    assert detail["invocation"]["traceId"] == reply.header("x-platform-trace-id")
    assert detail["invocation"]["caller"] == {"type": "user", "id": "alice"}


async def test_a_stream_crosses_the_door_event_by_event(door: OpenDoor) -> None:
    door.platform.agent.script(streamed(*a_whole_stream(2)))
    reply = await ask(door, f"{AGENT}/stream")
    assert reply.body == b"data: accepted\n\ndata: 0\n\ndata: 1\n\ndata: completed\n\n"


async def test_what_is_installed_is_read_as_the_caller(door: OpenDoor) -> None:
    reply = await door.unit.get(AGENT, headers=[door.authorization])
    assert (reply.status, reply.json) == (200, {"acme:agent": ["work"]})


async def test_what_can_not_be_called_is_refused_as_the_gateway_refuses_it(door: OpenDoor) -> None:
    card, _, disabled = await door.platform.installed()
    await door.platform.owner.set_status(disabled, "disabled")
    for agent_id in ("acme:nobody", card["agentId"]):
        path = f"/played/{SPACE}/{agent_id}"
        called = await door.platform.invoke(agentId=agent_id)
        assert without_trace(await door.unit.get(path, headers=[door.authorization])) == without_trace(called)
        assert without_trace(await ask(door, path)) == without_trace(called)


@pytest.mark.rows("DOOR-05")
@pytest.mark.parametrize("way", ["", "/stream", "read", "/watch"])
async def test_whom_the_gateway_refuses_the_door_refuses_with_the_same_words(door: OpenDoor, way: str) -> None:
    stranger = (await issue_token(door.platform.stores.control_plane, "mallory")).token.reveal()
    strangers: dict[str, Headers] = {
        "no token": (),
        "no bearer": ((b"authorization", b"Basic YTpi"),),
        "two": ((b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")),
        "foreign": ((b"authorization", b"Bearer aop_foreign"),),
        "stranger": ((b"authorization", f"Bearer {stranger}".encode()),),
    }
    for name, headers in strangers.items():
        at_gateway = await door.platform.gateway.get(f"/v1/workspaces/{SPACE}", headers=headers)
        method, path = ("GET", AGENT) if way == "read" else ("GET" if way == "/watch" else "POST", AGENT + way)
        body = b"{}" if method == "POST" else None
        at_door = await door.unit.ask(method, path, body, headers=headers)
        require_error(at_door, at_gateway.status, at_gateway.code, "4")
        assert without_trace(at_door) == without_trace(at_gateway), name
        assert at_door.header("www-authenticate") == at_gateway.header("www-authenticate")


def without_trace(reply: Reply) -> dict[str, Any]:
    return {name: value for name, value in reply.json.items() if name != "traceId"}


@pytest.mark.rows("DOOR-05")
async def test_what_is_remembered_for_one_bearer_is_told_to_no_other(door: OpenDoor) -> None:
    stranger = (await issue_token(door.platform.stores.control_plane, "mallory")).token.reveal()
    for _ in range(2):
        assert (await door.unit.get(f"{AGENT}/name", headers=[door.authorization])).status == 200
        assert (await door.unit.get(f"{AGENT}/name", token=stranger)).code == "FORBIDDEN"


@pytest.mark.rows("DOOR-03")
async def test_who_leaves_before_the_answer_cancels_the_invocation(door: OpenDoor) -> None:
    door.platform.agent.script(hold)
    before = len(door.platform.agent.calls("message/send"))
    async with asking(door.unit, AGENT, b"{}", [door.authorization]):
        request = await door.platform.agent.arrival("message/send", before + 1)
    assert (await door.platform.ended(invocation_of(request), generous(1)))["events"][-1]["type"] == "canceled"


@pytest.mark.rows("DOOR-03")
async def test_who_leaves_a_stream_cancels_the_invocation(door: OpenDoor) -> None:
    door.platform.agent.script(endless("x", seconds=0.02))
    before = len(door.platform.agent.calls("message/stream"))
    async with asking(door.unit, f"{AGENT}/stream", b"{}", [door.authorization]) as call:
        request = await door.platform.agent.arrival("message/stream", before + 1)
        await asyncio.wait({call})
    assert (await door.platform.ended(invocation_of(request), generous(1)))["events"][-1]["type"] == "canceled"


@pytest.mark.rows("DOOR-04")
async def test_an_upstream_that_ends_early_is_told_as_failed(door: OpenDoor) -> None:
    door.platform.agent.script(streamed(task(), piece(0, 0, 2)))
    reply = await ask(door, f"{AGENT}/stream")
    assert reply.body == b"data: accepted\n\ndata: 0\n\ndata: failed\n\n"


async def test_other_hosts_and_origins_are_refused_before_anything_else(door: OpenDoor) -> None:
    own, port = door.unit.origin, door.unit.port
    for path in (AGENT, "/unknown", f"/mcp/{SPACE}"):
        for host in ("evil.example", "127.0.0.1", "localhost", f"evil.example:{port}"):
            assert await status_of(door, path, host=host) == 403, host
        for origin in ("http://evil.example", "null", "", f"http://localhost:{port}"):
            assert await status_of(door, path, origin=origin) == 403, origin
    assert await status_of(door, AGENT, origin=own) == 401
    assert await status_of(door, AGENT, host=f"LOCALHOST:{port}") == 401
    assert await status_of(door, "/livez", host="10.0.0.7") == 200


async def status_of(door: OpenDoor, path: str, *, host: str | None = None, origin: str | None = None) -> int:
    """Of a GET with these headers and no token."""
    lines = [f"GET {path} HTTP/1.1", f"host: {host or f'127.0.0.1:{door.unit.port}'}", "connection: close"]
    lines += [] if origin is None else [f"origin: {origin}"]
    reader, writer = await asyncio.open_connection("127.0.0.1", door.unit.port)
    writer.write("\r\n".join([*lines, "", ""]).encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1])


async def test_a_browser_on_an_allowed_origin_is_told_so_and_no_other(door: OpenDoor) -> None:
    asks = ((b"access-control-request-method", b"POST"),)
    granted = await door.unit.ask("OPTIONS", AGENT, headers=[(b"origin", door.unit.origin.encode()), *asks])
    assert (granted.status, granted.header("access-control-allow-origin")) == (204, door.unit.origin)
    assert "A2A-Version" in (granted.header("access-control-allow-headers") or "")
    refused = await door.unit.ask("OPTIONS", AGENT, headers=[(b"origin", b"http://evil.example"), *asks])
    assert (refused.status, refused.header("access-control-allow-origin")) == (403, None)


async def test_readiness_is_that_of_the_gateway(door: OpenDoor) -> None:
    assert (await door.unit.get("/readyz")).status == 200
    async with running_door(door.platform, PLATFORM_DOOR_GATEWAY_ORIGIN="http://127.0.0.9:9") as alone:
        assert (await alone.unit.get("/readyz")).status == 503
        assert (await alone.unit.get("/livez")).status == 200


async def test_a_gateway_that_does_not_answer_is_a_dependency_that_failed(door: OpenDoor) -> None:
    nobody = {"PLATFORM_DOOR_GATEWAY_ORIGIN": "http://127.0.0.9:9"}
    async with running_door(door.platform, (played_routes,), **nobody) as alone:
        for reply in (await ask(alone), await ask(alone, f"{AGENT}/stream"), await alone.unit.get(AGENT, token="t")):
            require_error(reply, 503, "DEPENDENCY_ERROR", "4")


async def test_a_drain_ends_watches_and_waits_for_calls(door: OpenDoor) -> None:
    async with running_door(door.platform, (played_routes,)) as closing:
        watching = asyncio.create_task(closing.unit.get(f"{AGENT}/watch", headers=[door.authorization]))
        await becomes_true(lambda: taken(closing, 1))
        closing.unit.unit.end_watches()
        assert (await watching).body == b"data: ending\n\n"


async def taken(door: OpenDoor, number: int) -> bool:
    return sum(slots.taken for group in door.unit.unit.slots for slots in group) == number
