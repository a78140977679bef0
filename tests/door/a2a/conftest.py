"""One platform with one door per module, and two Agents behind it."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.door_agents import A2AAgents, agents_at_door
from tests.support.postgres import PostgresForTests


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents(postgres: PostgresForTests) -> AsyncIterator[A2AAgents]:
    async with agents_at_door(postgres) as found:
        yield found
