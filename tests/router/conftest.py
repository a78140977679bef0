"""A Router on a real socket and a real store, between a scripted Control Plane and a scripted Agent."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from aop.router.app import build
from aop.router.settings import read_router_settings
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.control_plane import ScriptedControlPlane, scripted_control_plane
from tests.support.loop import agent_card, allowed_hosts
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.units import Headers, Reply, RunningUnit, running
from tests.support.waiting import becomes_true


@dataclass(frozen=True)
class LoneRouter:
    unit: RunningUnit
    plane: ScriptedControlPlane
    agent: ScriptedAgent
    stores: DatabaseUrls

    async def dispatch(self, body: object = None, *, headers: Headers = (), **members: Any) -> Reply:
        wanted = self.plane.dispatch(**members) if body is None else body
        return await self.unit.post("/internal/v1/invocations", wanted, token=CONTROL_PLANE_TO_ROUTER, headers=headers)

    async def read(self, path: str) -> Reply:
        return await self.unit.get(f"/internal/v1/workspaces/space{path}", token=CONTROL_PLANE_TO_ROUTER)

    async def types(self, invocation_id: str) -> list[str]:
        return [event["type"] for event in (await self.read(f"/invocations/{invocation_id}")).json["events"]]

    async def recorded(self) -> int:
        connection = await asyncpg.connect(self.stores.router)
        try:
            number: int = await connection.fetchval("SELECT count(*) FROM ledger.invocation")
        finally:
            await connection.close()
        return number

    async def is_live(self) -> bool:
        status = await self.unit.get("/internal/v1/topology/status", token=CONTROL_PLANE_TO_ROUTER)
        return bool(status.json["source"]["state"] == "live")


Lone = Callable[..., AbstractAsyncContextManager[LoneRouter]]


@pytest.fixture
def lone(stores: DatabaseUrls) -> Lone:
    """`async with lone(setting="value", card={...}, watched=False, tls=context) as router:`"""

    @asynccontextmanager
    async def start(
        *, card: dict[str, Any] | None = None, watched: bool = True, tls: SSLContext | None = None, **settings: str
    ) -> AsyncIterator[LoneRouter]:
        async with scripted_agent(tls=tls) as agent, scripted_control_plane(agent_card(agent, **(card or {}))) as plane:
            plane.watched = watched
            environment = router_environment(
                PLATFORM_ROUTER_DATABASE_URL=stores.router,
                PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=plane.origin,
                PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed_hosts(agent),
                **settings,
            )
            async with running(lambda: build(read_router_settings(environment))) as unit:
                router = LoneRouter(unit, plane, agent, stores)
                if watched:
                    await becomes_true(router.is_live)
                yield router

    return start


@pytest_asyncio.fixture
async def router(lone: Lone) -> AsyncIterator[LoneRouter]:
    async with lone() as started:
        yield started
