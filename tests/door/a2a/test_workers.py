"""`aop door --workers`: a second request about a call reaches whichever worker has the call."""

import asyncio
import json
import signal
from functools import partial
from typing import Any
from urllib.request import Request, urlopen

import pytest

from aop.local.ports import any_free_port
from interop.door import WAIT
from tests.door.a2a.reading import events_of, params, rpc, state_of, token_of
from tests.support.door_agents import A2AAgents
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience
from tests.units.processes import start, status_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]
_ROUNDS = 6


@pytest.mark.rows("DOOR-05", "HA-05")
async def test_a_task_is_found_and_canceled_from_every_worker_by_its_bearer_alone(agents: A2AAgents) -> None:
    platform, port = agents.door.platform, any_free_port()
    settings = {
        "PLATFORM_DOOR_LISTEN_ADDRESS": f"127.0.0.1:{port}",
        "PLATFORM_DOOR_GATEWAY_ORIGIN": platform.gateway.origin,
        "PLATFORM_DRAIN_SECONDS": "0",
    }
    address = agents.chat.replace(agents.door.unit.origin, f"http://127.0.0.1:{port}")
    other = await token_of(agents, "alice")

    async def ask(method: str, parameters: Any, token: str = platform.token) -> bytes:
        """Each time on a new connection, which any worker may take."""
        return await asyncio.to_thread(_posted, address, rpc(method, parameters), token)

    async def is_ready() -> bool:
        return await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/readyz") == 200

    process = await start("door", settings, "--workers", "3")
    try:
        await becomes_true(is_ready)
        for number in range(_ROUNDS):
            before = len(platform.agent.calls())
            streaming = asyncio.create_task(ask("message/stream", params(WAIT, contextId=f"c-{number}")))
            await becomes_true(partial(_has_more_calls, agents, before))
            task = {"id": platform.agent.calls()[before].values("x-platform-invocation-id")[0]}

            async def is_known(task: Any = task, number: int = number) -> bool:
                read = json.loads(await ask("tasks/get", task))
                return "result" in read and read["result"]["contextId"] == f"c-{number}"

            await becomes_true(is_known)
            assert json.loads(await ask("tasks/cancel", task, other))["error"]["code"] == -32001
            ended = json.loads(await ask("tasks/cancel", task))
            assert (state_of(ended), ended["result"]["contextId"]) == ("canceled", f"c-{number}")
            assert state_of(events_of(await streaming)[-1]) == "canceled"
            assert json.loads(await ask("tasks/cancel", task))["error"]["code"] == -32001
            assert (await platform.detail(task["id"]))["invocation"]["status"] == "canceled"
        process.send_signal(signal.SIGTERM)
        async with patience():
            _, log = await process.communicate()
        assert (process.returncode, platform.token.encode() in log) == (0, False)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def _has_more_calls(agents: A2AAgents, before: int) -> bool:
    return len(agents.door.platform.agent.calls()) > before


def _posted(address: str, body: bytes, token: str) -> bytes:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urlopen(Request(address, body, headers), timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        return bytes(answer.read())
