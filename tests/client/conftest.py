"""One platform per module, with the Agent of the documentation installed in the Workspace `demo`."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aop.client import Client
from tests.client.adder import AGENT, CHANGES, PERMISSION, adding
from tests.support.loop import Platform, running_platform
from tests.support.postgres import PostgresForTests


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests) -> AsyncIterator[Platform]:
    urls = await postgres.new_platform()
    async with running_platform(urls, CHANGES) as running:
        running.agent.usual = (adding,)
        async with Client(running.gateway.origin, running.token) as client:
            await client.create_workspace("demo")
            await client.install_agent("demo", AGENT, "^1.0.0", accepted_permissions=[PERMISSION])
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(platform: Platform) -> AsyncIterator[Client]:
    async with Client(platform.gateway.origin, platform.token) as opened:
        yield opened
