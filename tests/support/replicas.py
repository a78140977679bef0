"""Two Control Planes and two Routers as processes of their own on one PostgreSQL, around one scripted Agent."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.base.http import HttpError
from aop.base.ids import new_id, new_trace_id
from aop.contracts.publication import Release
from aop.control_plane.gateway.tokens import issue_token
from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from tests.support.agent import scripted_agent
from tests.support.cards import Card
from tests.support.catalog import opened_catalog
from tests.support.loop import CAPABILITY, SPACE, Platform, agent_card, allowed_hosts, published
from tests.support.publication import process_on
from tests.support.settings import control_plane_environment, router_environment
from tests.support.units import RunningUnit
from tests.support.waiting import becomes_true
from tests.support.workspaces import Owner


@dataclass
class Replica:
    """One unit: started, killed and started again on its port; what it says is in its log."""

    name: str
    unit: RunningUnit
    settings: dict[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "aop", self.name),
                env={**self.settings, "PATH": os.defpath},
                stdout=log,
                stderr=log,
            )

    async def ready(self, seconds: float = 30.0) -> None:
        await becomes_true(self._is_ready, seconds)

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()

    async def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.returncode is None, self.log.read_text()
        with suppress(HttpError):
            return (await self.unit.get("/readyz")).status == 200
        return False


@dataclass(frozen=True)
class Replicas:
    """The first Gateway dispatches to the first Router, which watches the first Control Plane; so the second ones."""

    first: Platform
    second: Platform
    control_planes: Sequence[Replica]
    routers: Sequence[Replica]

    @property
    def said(self) -> str:
        return "".join(replica.log.read_text() for replica in (*self.control_planes, *self.routers))


def dispatch_body(card: Card, release: Release) -> dict[str, Any]:
    """A root Invocation as Dispatch authorizes it."""
    return {
        "invocationId": new_id("inv"),
        "rootTaskId": new_id("task"),
        "traceId": new_trace_id(),
        "workspaceId": SPACE,
        "targetAgentId": card["agentId"],
        "capability": CAPABILITY,
        "caller": {"type": "user", "id": "alice"},
        "agentCardVersion": card["version"],
        "agentReleaseId": release.release_id,
        "agentCardDigest": release.card_digest,
        "input": {},
        "stream": False,
    }


@asynccontextmanager
async def running_replicas(stores: DatabaseUrls, folder: Path) -> AsyncIterator[Replicas]:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with AsyncExitStack() as opened:
        agent = await opened.enter_async_context(scripted_agent())
        catalog = await opened.enter_async_context(opened_catalog(stores))
        card = agent_card(agent)
        release = await published(catalog, card)
        gateways = [await opened.enter_async_context(process_on(any_free_port())) for _ in range(2)]
        routers = [await opened.enter_async_context(process_on(any_free_port())) for _ in range(2)]
        allowed = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": allowed_hosts(agent)}
        control_planes = [
            _control_plane(stores, gateway, router, folder, allowed)
            for gateway, router in zip(gateways, routers, strict=True)
        ]
        routing = [
            _router(stores, f"router-{number + 1}", (gateways[number], routers[number]), folder, allowed)
            for number in range(2)
        ]
        for replica in (*control_planes, *routing):
            opened.push_async_callback(replica.kill)
        for group in (control_planes, routing):
            await asyncio.gather(*(replica.start() for replica in group))
            await asyncio.gather(*(replica.ready() for replica in group))
        owners = [Owner(gateway, token) for gateway in gateways]
        await owners[0].workspace(SPACE)
        await owners[0].install(card["agentId"], accepted=[])
        first, second = (
            Platform(gateway, router, agent, catalog, owner, stores, card, release)
            for gateway, router, owner in zip(gateways, routers, owners, strict=True)
        )
        yield Replicas(first, second, control_planes, routing)


def _control_plane(
    stores: DatabaseUrls, unit: RunningUnit, router: RunningUnit, folder: Path, allowed: dict[str, str]
) -> Replica:
    settings = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_LISTEN_ADDRESS=f"127.0.0.1:{unit.port}",
        PLATFORM_ROUTER_INTERNAL_ORIGIN=router.origin,
        **allowed,
    )
    return Replica("control-plane", unit, settings, folder / f"control-plane-{unit.port}.log")


def _router(
    stores: DatabaseUrls, router_id: str, pair: tuple[RunningUnit, RunningUnit], folder: Path, allowed: dict[str, str]
) -> Replica:
    gateway, unit = pair
    settings = router_environment(
        PLATFORM_ROUTER_ID=router_id,
        PLATFORM_ROUTER_DATABASE_URL=stores.router,
        PLATFORM_ROUTER_LISTEN_ADDRESS=f"127.0.0.1:{unit.port}",
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=gateway.origin,
        **allowed,
    )
    return Replica("router", unit, settings, folder / f"{router_id}.log")
