"""`aop door` as a process: it serves, its log holds no token, and a stop lets running calls end."""

import asyncio
import json
import signal

import pytest

from aop.local.ports import any_free_port
from tests.support.agent import a_message, data
from tests.support.callers import connected, post
from tests.support.door import OpenDoor
from tests.support.loop import CAPABILITY, SPACE
from tests.support.peers import after
from tests.support.waiting import becomes_true, patience
from tests.units.processes import run_to_end, start, status_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]


async def test_a_stop_lets_a_running_call_end_and_no_token_is_in_the_log(door: OpenDoor) -> None:
    port, platform, gate = any_free_port(), door.platform, asyncio.Event()
    process = await start("door", _settings(port, platform.gateway.origin))
    await becomes_true(lambda: _answers(port))
    platform.agent.script(after(gate, a_message(data({"n": 1}))))
    before = len(platform.agent.calls("message/send"))
    async with connected(port) as caller, patience():
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(caller, _message(port, platform.token))
        await platform.agent.arrival("message/send", before + 1)
        process.send_signal(signal.SIGTERM)
        await becomes_true(lambda: _refuses(port))
        gate.set()
        answer = b""
        while piece := await loop.sock_recv(caller, 65536):
            answer += piece
        assert b'"data":{"n": 1}' in answer
        _, log = await process.communicate()
    assert process.returncode == 0
    assert platform.token.encode() not in log
    assert [json.loads(line)["event"] for line in log.splitlines()][-1] == "unit.stopped"


async def test_a_wrong_setting_ends_it_with_78_and_a_taken_address_with_1(door: OpenDoor) -> None:
    wrong = await run_to_end("door", {"PLATFORM_DOOR_GATEWAY_ORIGIN": "nowhere"})
    assert (wrong.code, wrong.said.split()[:3]) == (78, ["aop", "door:", "PLATFORM_DOOR_GATEWAY_ORIGIN"])
    taken = await run_to_end("door", _settings(door.unit.port, door.platform.gateway.origin))
    assert (taken.code, "PLATFORM_DOOR_LISTEN_ADDRESS" in taken.said) == (1, True)


def _settings(port: int, gateway: str) -> dict[str, str]:
    return {
        "PLATFORM_DOOR_LISTEN_ADDRESS": f"127.0.0.1:{port}",
        "PLATFORM_DOOR_GATEWAY_ORIGIN": gateway,
        "PLATFORM_DRAIN_SECONDS": "0",
    }


def _message(port: int, token: str) -> bytes:
    part = {"kind": "data", "data": {}}
    message = {"kind": "message", "messageId": "m-1", "role": "user", "parts": [part]}
    params = {"message": message, "metadata": {"skillId": CAPABILITY}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}).encode()
    headers = ((b"authorization", f"Bearer {token}".encode()), (b"connection", b"close"))
    return post(f"/a2a/{SPACE}/acme:agent", body, headers).replace(b"host: test", b"host: 127.0.0.1:%d" % port)


async def _answers(port: int) -> bool:
    return await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/readyz") == 200


async def _refuses(port: int) -> bool:
    return await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/readyz") == 503
