"""One platform with one door per module, and the Agents behind it: one that streams and one that does not."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest_asyncio

from aop.control_plane.gateway.tokens import issue_token
from tests.door.a2a.played import played, rpc
from tests.support.door import OpenDoor, running_door
from tests.support.loop import SPACE, open_skill, running_platform
from tests.support.postgres import PostgresForTests
from tests.support.units import Reply

STREAMING = {"timeoutMs": 20_000, "maxInputBytes": 65_536, "maxOutputBytes": 1_048_576, "streaming": True}
CHAT = open_skill("chat", inputSchema={"type": "string"})
TYPED = open_skill("typed", inputSchema={"type": "object", "properties": {"n": {"type": "integer"}}})


@dataclass(frozen=True)
class A2AAgents:
    """Addresses at the door."""

    door: OpenDoor
    chat: str
    """Streams, has one Skill, and that takes a text."""
    typed: str
    """Does not stream, and has two Skills."""

    async def ask(
        self, address: str, method: str, parameters: Any, *, version: str | None = None, token: str | None = None
    ) -> Reply:
        """One request at that address, by default of the owner of the Workspace."""
        headers = [] if version is None else [(b"a2a-version", version.encode())]
        path, token = address.removeprefix(self.door.unit.origin), token or self.door.platform.token
        return await self.door.unit.ask("POST", path, rpc(method, parameters), token=token, headers=headers)

    async def token_of(self, principal: str) -> str:
        return (await issue_token(self.door.platform.stores.control_plane, principal)).token.reveal()


def address(door: OpenDoor, agent_id: str) -> str:
    return f"{door.unit.origin}/a2a/{SPACE}/{agent_id}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents(postgres: PostgresForTests) -> AsyncIterator[A2AAgents]:
    urls = await postgres.new_platform()
    async with running_platform(urls) as platform, running_door(platform) as door:
        platform.agent.usual = (played,)
        chat, _, _ = await platform.installed(skills=[CHAT], limits=STREAMING)
        typed, _, _ = await platform.installed(skills=[TYPED, CHAT], limits={**STREAMING, "streaming": False})
        yield A2AAgents(door, address(door, chat["agentId"]), address(door, typed["agentId"]))
    await postgres.drop(urls.migration.rpartition("/")[2])
