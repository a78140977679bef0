"""One platform per module for the rows that leave it as it was; a test that does not starts its own."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aop.control_plane.gateway.tokens import issue_token
from tests.support.loop import Platform, running_platform
from tests.support.postgres import PostgresForTests


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests) -> AsyncIterator[Platform]:
    urls = await postgres.new_platform()
    async with running_platform(urls) as running:
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bob(platform: Platform) -> str:
    return (await issue_token(platform.stores.control_plane, "bob")).token.reveal()
