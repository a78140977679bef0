"""A real Router and store, a front as its Agent, and behind the front an Agent that a test plays."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aop.local.state import DatabaseUrls
from aop.net.sse import EventParser
from aop.router.app import build
from aop.router.settings import read_router_settings
from tests.front.played import PlayedAgent
from tests.front.served import ServedFront, served_front
from tests.support.control_plane import ScriptedControlPlane, scripted_control_plane
from tests.support.peers import Behaviour, listening
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_SEED, router_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import becomes_true


@dataclass(frozen=True)
class FrontedRouter:
    unit: RunningUnit
    plane: ScriptedControlPlane
    front: ServedFront
    agent: PlayedAgent

    async def reply(self, value: object = "hello", *, stream: bool = False) -> Reply:
        accept = (b"accept", b"text/event-stream" if stream else b"application/json")
        body = self.plane.dispatch(input=value, stream=stream)
        return await self.unit.post("/internal/v1/invocations", body, token=CONTROL_PLANE_TO_ROUTER, headers=[accept])

    async def call(self, value: object = "hello", *, stream: bool = False) -> str:
        """The code of the outcome; empty for a success."""
        reply = await self.reply(value, stream=stream)
        if reply.header("content-type") != "text/event-stream":
            return str(reply.json.get("code", ""))
        last = json.loads(list(EventParser(1_048_576).feed(reply.body))[-1])
        return str(last.get("error", {}).get("code", ""))

    async def is_live(self) -> bool:
        status = await self.unit.get("/internal/v1/topology/status", token=CONTROL_PLANE_TO_ROUTER)
        return bool(status.json["source"]["state"] == "live")


Fronted = Callable[..., AbstractAsyncContextManager[FrontedRouter]]


@pytest.fixture
def fronted(stores: DatabaseUrls, tmp_path: Path) -> Fronted:
    """`async with fronted(behaviour, "a2a-1.0", limits={…}) as router:`"""

    @asynccontextmanager
    async def start(behaviour: Behaviour, speaks: str = "a2a-0.3", **members: Any) -> AsyncIterator[FrontedRouter]:
        agent = PlayedAgent(behaviour)
        async with (
            listening(agent.meet) as port,
            served_front(tmp_path, f"http://127.0.0.1:{port}/", speaks, seed=ROUTER_SEED, **members) as front,
            scripted_control_plane(front.card) as plane,
        ):
            environment = router_environment(
                PLATFORM_ROUTER_DATABASE_URL=stores.router,
                PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=plane.origin,
                PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=json.dumps([f"127.0.0.1:{front.port}"]),
            )
            async with running(lambda: build(read_router_settings(environment))) as unit:
                router = FrontedRouter(unit, plane, front, agent)
                await becomes_true(router.is_live)
                yield router

    return start
