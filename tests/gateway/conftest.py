"""A Control Plane on a real socket and a real store, with callers who hold tokens."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running


@pytest_asyncio.fixture
async def gateway(stores: DatabaseUrls) -> AsyncIterator[RunningUnit]:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane,
            PLATFORM_CORS_ALLOWED_ORIGINS="http://127.0.0.1:8082,https://console.example",
            PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        )
    )
    async with running(lambda: build(settings)) as unit:
        yield unit


@pytest_asyncio.fixture
async def alice(stores: DatabaseUrls) -> str:
    return (await issue_token(stores.control_plane, "alice")).token.reveal()


@pytest_asyncio.fixture
async def bob(stores: DatabaseUrls) -> str:
    return (await issue_token(stores.control_plane, "bob")).token.reveal()
