"""`aop mcp` line by line: both eras, what is no request, the end of input, and whoever ends it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest

from aop.base.settings import Secret
from aop.door.bearers import Bearer
from aop.door.gateway import Gateway
from aop.door.mcp.stdio import MAX_LINE_BYTES, MAX_REQUESTS, StdioServer
from tests.client.gateway import scripted_gateway
from tests.door.mcp.test_http import HELLO, META, cancellation, request, tool_of
from tests.support.agent import a_message, data, invocation_of
from tests.support.door import OpenDoor
from tests.support.loop import SPACE
from tests.support.peers import after, hold
from tests.support.waiting import becomes_true, patience

pytestmark = pytest.mark.asyncio(loop_scope="module")
Stream = int | IO[bytes]


def modern(method: str, number: int, params: Mapping[str, Any] | None = None) -> bytes:
    return request(method, {"_meta": META, **(params or {})}, number)


def lines(*messages: bytes) -> bytes:
    return b"".join(message + b"\n" for message in messages)


async def started(
    door: OpenDoor, stdin: Stream = asyncio.subprocess.PIPE, stdout: Stream = asyncio.subprocess.PIPE, **settings: str
) -> asyncio.subprocess.Process:
    command = (sys.executable, "-P", "-m", "aop", "mcp", "--workspace", SPACE)
    environment = {"AOP_GATEWAY": door.platform.gateway.origin, "AOP_TOKEN": door.platform.token, **settings}
    return await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=stdout, stderr=asyncio.subprocess.PIPE, env=environment, limit=2**24
    )


async def said(process: asyncio.subprocess.Process, *messages: bytes) -> list[dict[str, Any]]:
    """Everything on stdout after these messages and the end of input; nothing is on stderr."""
    async with patience():
        out, errors = await process.communicate(lines(*messages) or None)
    assert (process.returncode, errors) == (0, b"")
    return [json.loads(line) for line in (out or b"").splitlines()]


@pytest.mark.rows("DOOR-02", "LEAN-02")
async def test_both_eras_are_answered_without_the_package_of_mcp(door: OpenDoor, tmp_path: Path) -> None:
    for module in ("mcp", "mcp_types", "pydantic", "anyio"):
        (tmp_path / f"{module}.py").write_text("raise ImportError(__name__)\n")
    process = await started(door, PYTHONPATH=str(tmp_path))
    hello = request("initialize", HELLO, 1)
    answers = await said(
        process, hello, modern("server/discover", 2), modern("tools/list", 3), request("ping", None, 4)
    )
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert by_id[1]["protocolVersion"] == "2025-11-25"
    assert by_id[1]["serverInfo"]["name"] == "agent-operating-platform"
    assert (by_id[2]["supportedVersions"], by_id[2]["resultType"]) == (["2026-07-28"], "complete")
    assert "acme:agent" in {tool["_meta"]["aop/agentId"] for tool in by_id[3]["tools"]}
    assert by_id[4] == {}


@pytest.mark.second_ring
async def test_a_call_that_was_read_is_answered_after_the_end_of_input(door: OpenDoor) -> None:
    called, released = len(door.platform.agent.calls("message/send")), asyncio.Event()
    door.platform.agent.script(after(released, a_message(data({"n": 1}))))
    process = await started(door)
    assert process.stdin is not None
    call = request("tools/call", {"name": await tool_of(door), "arguments": {"n": 1.50}}, "a call")
    process.stdin.write(call.replace(b"1.5", b"1.50"))  # its last line has no end
    process.stdin.close()
    received = await door.platform.agent.arrival("message/send", called + 1)
    assert b"1.50" in received.body
    ended, _ = await asyncio.wait({asyncio.create_task(process.wait())}, timeout=0.3)
    assert not ended
    released.set()
    (answer,) = await said(process)
    assert (answer["id"], answer["result"]["structuredContent"]) == ("a call", {"result": {"n": 1}})


@pytest.mark.second_ring
@pytest.mark.parametrize("way", ["SIGTERM", "no one reads"])
async def test_who_ends_it_cancels_the_calls_that_run(door: OpenDoor, way: str) -> None:
    called = len(door.platform.agent.calls("message/send"))
    door.platform.agent.script(hold)
    reading, writing = os.pipe()
    process = await started(door, stdout=writing)
    os.close(writing)
    assert process.stdin is not None
    process.stdin.write(lines(modern("tools/call", 1, {"name": await tool_of(door)})))
    invocation = invocation_of(await door.platform.agent.arrival("message/send", called + 1))
    if way == "SIGTERM":
        process.send_signal(signal.SIGTERM)
    else:
        os.close(reading)
    async with patience():
        assert await process.wait() == 0
    assert process.stderr is not None
    assert await process.stderr.read() == b""
    if way == "SIGTERM":
        assert os.read(reading, 1) == b""
        os.close(reading)
    assert (await door.platform.ended(invocation))["events"][-1]["type"] == "canceled"


@pytest.mark.second_ring
async def test_what_is_no_request_is_refused_and_what_follows_it_is_answered(door: OpenDoor, tmp_path: Path) -> None:
    """From a file and into a file, which can not be waited for as pipes can."""
    long = request("ping", {"pad": "x" * MAX_LINE_BYTES}, 1)
    just = request("ping", {"pad": ""}, 2)
    just = just.replace(b'""', b'"%b"' % (b"x" * (MAX_LINE_BYTES - len(just))))
    wrong = (b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"result":{}}', b"", b"  ", long)
    unsupported = {"_meta": {**META, next(iter(META)): "2099-01-01"}}
    notified = (cancellation(9), cancellation("i" * 257), b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    (tmp_path / "in").write_bytes(
        lines(*wrong, *notified, just, request("resources/list", None, 3), request("tools/list", unsupported, 4))
    )
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        assert await said(await started(door, stdin, stdout)) == []
    answers = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [one["error"]["code"] for one in answers if one["id"] is None] == [-32700, -32600, -32600, -32600]
    by_id = {one["id"]: one for one in answers if one["id"] is not None}
    assert by_id[2]["result"] == {}
    assert {number: one["error"]["code"] for number, one in by_id.items() if number != 2} == {3: -32601, 4: -32022}


async def test_one_request_too_many_is_refused_and_a_cancellation_makes_room() -> None:
    written, ahead = list[dict[str, Any]](), asyncio.Queue[bytes]()

    async def write(line: bytes) -> None:
        written.append(json.loads(line))

    async def arriving() -> AsyncGenerator[bytes, None]:
        while True:
            yield await ahead.get()

    async def answered(count: int) -> None:
        async def enough() -> bool:
            return len(written) >= count

        await becomes_true(enough)

    async with scripted_gateway(hold) as scripted:
        gateway = Gateway(scripted.origin, 65_536)
        server = StdioServer(gateway.caller(Bearer(Secret("t")), SPACE), 65_536, write)
        serving = asyncio.create_task(server.serve(arriving()))

        async def has_room() -> bool:
            return len(server._running) < MAX_REQUESTS

        try:
            for number in (*range(MAX_REQUESTS + 1), 0):
                ahead.put_nowait(request("tools/list", None, number))
            await answered(2)
            full, repeated = written
            assert (full["id"], full["error"]["data"]["aop/error"]["code"]) == (MAX_REQUESTS, "OVERLOADED")
            assert (repeated["id"], repeated["error"]["code"]) == (0, -32600)
            ahead.put_nowait(cancellation(0))
            await becomes_true(has_room)
            ahead.put_nowait(request("ping", None, "in its place"))
            await answered(3)
            assert written[2] == {"jsonrpc": "2.0", "id": "in its place", "result": {}}
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
            await gateway.close()
    assert len(written) == 3, "what was cancelled is not answered"
