"""A Control Plane on a real socket and a real store, with callers who hold tokens."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.identities import Holder
from tests.support.catalog import Catalog, opened_catalog
from tests.support.openid import Issuer, a_token, gateway_with
from tests.support.postgres import PostgresForTests
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running
from tests.support.workspaces import Owner, Rows


@pytest.fixture
def limits() -> dict[str, str]:
    """Settings that a module of tests wants otherwise."""
    return {}


@pytest_asyncio.fixture
async def gateway(stores: DatabaseUrls, limits: dict[str, str]) -> AsyncIterator[RunningUnit]:
    environment = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_CORS_ALLOWED_ORIGINS="http://127.0.0.1:8082,https://console.example",
        PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        **limits,
    )
    settings = read_control_plane_settings(environment)
    async with running(lambda: build(settings)) as unit:
        yield unit


@pytest_asyncio.fixture
async def alice(stores: DatabaseUrls) -> str:
    return (await issue_token(stores.control_plane, "alice")).token.reveal()


@pytest_asyncio.fixture
async def bob(stores: DatabaseUrls) -> str:
    return (await issue_token(stores.control_plane, "bob")).token.reveal()


@pytest_asyncio.fixture
async def catalog(stores: DatabaseUrls) -> AsyncIterator[Catalog]:
    """Rows of the Registry, put there by its own functions."""
    async with opened_catalog(stores) as catalog:
        yield catalog


@pytest_asyncio.fixture
async def owner(gateway: RunningUnit, alice: str) -> Owner:
    """Alice with the Workspace `space`."""
    owner = Owner(gateway, alice)
    await owner.workspace()
    return owner


@pytest.fixture
def rows(postgres: PostgresForTests, stores: DatabaseUrls) -> Rows:
    return Rows(postgres, stores)


@pytest.fixture
def holder(gateway: RunningUnit, alice: str) -> Holder:
    return Holder(gateway, alice)


@pytest_asyncio.fixture
async def openid(stores: DatabaseUrls) -> AsyncIterator[Holder]:
    """A caller of the OpenID provider; its principal is oidc:alice."""
    async with Issuer() as issuer, gateway_with(stores, issuer.port) as gateway:
        yield Holder(gateway, a_token(sub="alice"))
