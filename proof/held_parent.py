"""An Invocation that is kept running for as long as a proof needs its delegation, however slow the machine is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aop.net.http import HttpClient, Target
from tests.support.cards import some_limits
from tests.support.loop import SPACE, Platform
from tests.support.nested import Parent
from tests.support.peers import hold

PATIENCE_SECONDS = 600
LONG_CARD = {"limits": some_limits(timeoutMs=PATIENCE_SECONDS * 1000)}
LONG_DEADLINE = {"PLATFORM_INVOCATION_DEADLINE_MS": str(PATIENCE_SECONDS * 1000)}
"""Of both units."""


@asynccontextmanager
async def held_parent(platform: Platform) -> AsyncIterator[Parent]:
    """Its Agent holds it and its caller waits; both units and its Card must allow that long."""
    client, number = HttpClient(idle_seconds=0, connect_seconds=5), len(platform.agent.calls("message/send"))
    platform.agent.script(hold)
    caller = asyncio.create_task(_ask(platform, client))
    try:
        request = await platform.agent.arrival("message/send", number + 1, 20)
        yield Parent(request, platform.router, platform.card["agentId"], caller)
    finally:
        caller.cancel()
        await asyncio.wait({caller})
        await client.close()


async def _ask(platform: Platform, client: HttpClient) -> int:
    answer = await client.request(
        Target("http", "127.0.0.1", platform.gateway.port, "127.0.0.1"),
        "POST",
        f"/v1/workspaces/{SPACE}/invocations",
        headers=[(b"authorization", f"Bearer {platform.token}".encode()), (b"content-type", b"application/json")],
        body=platform.request(),
        deadline=asyncio.get_running_loop().time() + PATIENCE_SECONDS,
        max_body=2**20,
    )
    return answer.status
