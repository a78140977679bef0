"""A Router on a real socket and a real store."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aop.local.state import DatabaseUrls
from aop.router.app import build
from aop.router.settings import read_router_settings
from tests.support.settings import router_environment
from tests.support.units import RunningUnit, running


@pytest_asyncio.fixture
async def router(stores: DatabaseUrls) -> AsyncIterator[RunningUnit]:
    settings = read_router_settings(router_environment(PLATFORM_ROUTER_DATABASE_URL=stores.router))
    async with running(lambda: build(settings)) as unit:
        yield unit
