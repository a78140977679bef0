"""A door as a process of its own before a world, and what its callers send over A2A."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aop.local.ports import any_free_port
from proof.world import World
from tests.agent.served import message
from tests.support.callers import post
from tests.support.loop import CAPABILITY, SPACE
from tests.support.publication import process_on
from tests.support.replicas import Replica


@asynccontextmanager
async def door_before(made: World, *options: str) -> AsyncIterator[Replica]:
    """Ready, started with these options."""
    async with process_on(any_free_port()) as unit:
        settings = {
            "PLATFORM_DOOR_LISTEN_ADDRESS": f"127.0.0.1:{unit.port}",
            "PLATFORM_DOOR_GATEWAY_ORIGIN": made.first.gateway.origin,
        }
        door = Replica("door", unit, settings, made.folder / "door.log", options=options)
        await door.restart()
        try:
            yield door
        finally:
            await door.kill()


def rpc(values: Mapping[str, object], *, stream: bool, **members: object) -> bytes:
    """A message of one data part; `members` are further ones of the params."""
    method = "message/stream" if stream else "message/send"
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**message(values), **members}}).encode()


def door_request(made: World, door: Replica, values: Mapping[str, object], *, stream: bool) -> bytes:
    """A whole request to the first Agent of the world."""
    body = rpc(values, stream=stream, metadata={"skillId": CAPABILITY})
    headers = [(b"authorization", f"Bearer {made.first.token}".encode())]
    whole = post(f"/a2a/{SPACE}/{made.first.card['agentId']}", body, headers)
    return whole.replace(b"host: test", b"host: 127.0.0.1:%d" % door.unit.port)
