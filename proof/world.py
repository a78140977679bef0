"""The platform under test: real processes on one database around a scripted Agent, with a fault proxy on any edge."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aop.control_plane.gateway.tokens import issue_token
from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from proof.area import Run
from proof.caller import Caller, calling, request
from proof.fault_proxy import FaultProxy, fault_proxy
from proof.ledger_view import LedgerView
from proof.plan import Edge, Plan, control_of, launched
from proof.record import CallResult
from proof.switchboard import Remote
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.catalog import opened_catalog
from tests.support.loop import SILENT_HOST, SPACE, Platform, agent_card, published
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.settings import control_plane_environment, router_environment
from tests.support.units import Reply, RunningUnit
from tests.support.workspaces import Owner

ALLOWED = "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON"
PATH = f"/v1/workspaces/{SPACE}/invocations"
INPUT_CANARY, OUTPUT_CANARY = "canary-of-an-input-41f7", "canary-of-an-output-93bd"
"""Placed in what callers send and Agents answer: they belong nowhere else."""
_PORT_ELSEWHERE = 8080


@dataclass
class World:
    """The first Gateway dispatches to the first Router, which watches the first Control Plane; so the second ones."""

    plan: Plan
    folder: Path
    stores: DatabaseUrls
    ledger: LedgerView
    agent: ScriptedAgent
    control_planes: Sequence[Replica] = ()
    routers: Sequence[Replica] = ()
    sides: Sequence[Platform] = ()
    proxies: Mapping[tuple[Edge, int], FaultProxy] = field(default_factory=dict)
    successors: list[Replica] = field(default_factory=list)

    @property
    def first(self) -> Platform:
        return self.sides[0]

    @property
    def second(self) -> Platform:
        return self.sides[1]

    @property
    def router(self) -> Replica:
        return self.routers[0]

    @property
    def control_plane(self) -> Replica:
        return self.control_planes[0]

    @property
    def units(self) -> Sequence[Replica]:
        return (*self.control_planes, *self.routers, *self.successors)

    @property
    def said(self) -> str:
        return "".join(unit.said for unit in self.units)

    def on(self, edge: Edge, number: int = 0) -> FaultProxy:
        return self.proxies[edge, number]

    def gateway_port(self, number: int = 0) -> int:
        """Where callers dial."""
        proxy = self.proxies.get((Edge.CALLER, number))
        return self.sides[number].gateway.port if proxy is None else proxy.port

    def remote(self, unit: Replica) -> Remote:
        return Remote(control_of(unit), unit.log)

    @asynccontextmanager
    async def asking(
        self, content: object = None, *, stream: bool = False, side: int = 0, **members: Any
    ) -> AsyncIterator[Caller]:
        """A caller of its own connection that has sent its whole request."""
        platform, sent = self.sides[side], {"secret": INPUT_CANARY} if content is None else content
        body = platform.request(json.dumps(sent).encode(), stream=stream, **members)
        async with calling(self.gateway_port(side)) as caller:
            await caller.send(request(PATH, body, platform.token, stream=stream))
            yield caller

    async def call(self, content: object = None, *, seconds: float = 30.0, **how: Any) -> CallResult:
        """One call, read as far as it comes; a connection that breaks is a result too."""
        began = time.time()
        try:
            async with self.asking(content, **how) as caller:
                return await caller.answer(seconds)
        except OSError:
            return CallResult(began, time.time())

    async def invoke(self, **content: Any) -> Reply:
        return await self.first.invoke(json.dumps(content).encode())

    async def read(self, path: str) -> Reply:
        return await self.first.owner.ask("GET", f"/{SPACE}{path}")

    @asynccontextmanager
    async def successor(self) -> AsyncIterator[Replica]:
        """A Router of the first one's id on another port, not started."""
        async with process_on(any_free_port()) as unit:
            settings = {**self.router.settings, "PLATFORM_ROUTER_LISTEN_ADDRESS": f"127.0.0.1:{unit.port}"}
            name = f"{self.router.log.stem}-successor-{unit.port}"
            other = replace(
                self.router, unit=unit, settings=settings, log=self.folder / f"{name}.log", process=None, options=()
            )
            self.successors.append(launched(self.plan, other))
            try:
                yield self.successors[-1]
            finally:
                await self.successors[-1].kill()


@asynccontextmanager
async def world_of(run: Run, plan: Plan = Plan()) -> AsyncIterator[World]:  # noqa: B008
    """On a database of its own, which goes with it."""
    async with run.stores() as (stores, superuser), world(stores, superuser, run.folder, plan) as made:
        yield made


@asynccontextmanager
async def world(stores: DatabaseUrls, superuser: str, folder: Path, plan: Plan = Plan()) -> AsyncIterator[World]:  # noqa: B008
    """All of it ready. `superuser` is the URL of the same database for reading it past any proxy."""
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with AsyncExitStack() as opened:
        agent = await opened.enter_async_context(scripted_agent(plan.here, plan.here))
        catalog = await opened.enter_async_context(opened_catalog(stores))
        made = World(plan, folder, stores, LedgerView(superuser), agent)
        units = [await _pair(opened, plan) for _ in range(plan.pairs)]
        made.proxies = await _proxies(opened, made, units)
        card = agent_card(agent, **plan.card)
        if (Edge.AGENT, 0) in made.proxies:
            card["protocol"]["endpoint"] = f"{made.on(Edge.AGENT).origin}/a2a"
        release = await published(catalog, card)
        made.control_planes = [_control_plane(made, number, *pair) for number, pair in enumerate(units)]
        made.routers = [_router(made, number, *pair) for number, pair in enumerate(units)]
        for group in (made.control_planes, made.routers):
            for unit in group:
                opened.push_async_callback(unit.kill)
            await asyncio.gather(*(unit.start() for unit in group))
            await asyncio.gather(*(unit.ready() for unit in group))
        owners = [Owner(gateway, token) for gateway, _ in units]
        made.sides = [
            Platform(*pair, agent, catalog, owner, stores, card, release)
            for pair, owner in zip(units, owners, strict=True)
        ]
        await made.first.owner.workspace(SPACE)
        await made.first.owner.install(card["agentId"], accepted=[])
        for side in made.sides:
            await side.sees(release, "published")
        try:
            yield made
        finally:
            for unit in made.units:
                control_of(unit).unlink(missing_ok=True)


async def _pair(opened: AsyncExitStack, plan: Plan) -> tuple[RunningUnit, RunningUnit]:
    """Where a Gateway and a Router are found; those of other machines through a proxy to each."""
    ports = [any_free_port(), any_free_port()]
    if plan.elsewhere:
        proxies = [fault_proxy(_PORT_ELSEWHERE, host) for host in plan.elsewhere]
        ports = [(await opened.enter_async_context(proxy)).port for proxy in proxies]
    gateway, router = [await opened.enter_async_context(process_on(port)) for port in ports]
    return gateway, router


async def _proxies(
    opened: AsyncExitStack, made: World, units: Sequence[Sequence[RunningUnit]]
) -> dict[tuple[Edge, int], FaultProxy]:
    found = {}
    for number, (gateway, router) in enumerate(units):
        ports = {
            Edge.CALLER: gateway.port,
            Edge.DISPATCH: router.port,
            Edge.INTERNAL: gateway.port,
            Edge.AGENT: made.agent.port,
            Edge.CONTROL_PLANE_STORE: urlsplit(made.stores.control_plane).port,
            Edge.ROUTER_STORE: urlsplit(made.stores.router).port,
        }
        for edge in made.plan.edges:
            found[edge, number] = await opened.enter_async_context(fault_proxy(ports[edge] or 0))
    return found


def _control_plane(made: World, number: int, gateway: RunningUnit, router: RunningUnit) -> Replica:
    listen, other = _addresses(made.plan, gateway, router)
    settings = control_plane_environment(
        PLATFORM_DATABASE_URL=_through(made, Edge.CONTROL_PLANE_STORE, number, made.stores.control_plane),
        PLATFORM_LISTEN_ADDRESS=listen,
        PLATFORM_ROUTER_INTERNAL_ORIGIN=_through(made, Edge.DISPATCH, number, f"http://{other}"),
        **{ALLOWED: _allowed(made), **made.plan.control_plane},
    )
    return launched(
        made.plan, Replica("control-plane", gateway, settings, made.folder / f"control-plane-{number + 1}.log")
    )


def _router(made: World, number: int, gateway: RunningUnit, router: RunningUnit) -> Replica:
    other, listen = _addresses(made.plan, gateway, router)
    settings = router_environment(
        PLATFORM_ROUTER_ID=f"router-{number + 1}",
        PLATFORM_ROUTER_DATABASE_URL=_through(made, Edge.ROUTER_STORE, number, made.stores.router),
        PLATFORM_ROUTER_LISTEN_ADDRESS=listen,
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=_through(made, Edge.INTERNAL, number, f"http://{other}"),
        **{ALLOWED: _allowed(made), **made.plan.router},
    )
    return launched(made.plan, Replica("router", router, settings, made.folder / f"router-{number + 1}.log"))


def _addresses(plan: Plan, gateway: RunningUnit, router: RunningUnit) -> Sequence[str]:
    """On which the two units listen."""
    if plan.elsewhere:
        return [f"{host}:{_PORT_ELSEWHERE}" for host in plan.elsewhere]
    return [f"127.0.0.1:{unit.port}" for unit in (gateway, router)]


def _through(made: World, edge: Edge, number: int, url: str) -> str:
    proxy = made.proxies.get((edge, number))
    return url if proxy is None else proxy.through(url)


def _allowed(made: World) -> str:
    proxies = [f"127.0.0.1:{proxy.port}" for (edge, _), proxy in made.proxies.items() if edge is Edge.AGENT]
    return json.dumps([f"{made.agent.name}:{made.agent.port}", *proxies, SILENT_HOST])
