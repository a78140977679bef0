"""One platform per module that sends everything to one collector."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.collector import OtlpCollector, running_collector
from tests.support.loop import Changes, Platform, running_platform
from tests.support.nested import ANY_PORT
from tests.support.postgres import PostgresForTests


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def collector() -> AsyncIterator[OtlpCollector]:
    async with running_collector() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests, collector: OtlpCollector) -> AsyncIterator[Platform]:
    urls = await postgres.new_platform()
    settings = collector.settings(PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=ANY_PORT)
    async with running_platform(urls, Changes(control_plane=settings, router=settings)) as running:
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])
