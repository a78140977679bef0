"""One platform and one door per module; the door speaks a small protocol that the tests play beside its own."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aop.door.app import PROTOCOLS
from tests.door.played import played_routes
from tests.support.door import OpenDoor, running_door
from tests.support.loop import running_platform
from tests.support.postgres import PostgresForTests


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(postgres: PostgresForTests) -> AsyncIterator[OpenDoor]:
    urls = await postgres.new_platform()
    async with (
        running_platform(urls) as platform,
        running_door(platform, (*PROTOCOLS, played_routes)) as door,
    ):
        yield door
    await postgres.drop(urls.migration.rpartition("/")[2])
