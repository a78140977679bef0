"""The platform under test: real processes on one database around a scripted Agent, with a fault proxy on any edge."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from urllib.parse import urlsplit

from aop.control_plane.gateway.tokens import issue_token
from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from proof.fault_proxy import FaultProxy, fault_proxy
from proof.ledger_view import LedgerView
from proof.remote import Remote
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.catalog import opened_catalog
from tests.support.loop import SILENT_HOST, SPACE, Platform, agent_card, published
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.settings import control_plane_environment, router_environment
from tests.support.units import Reply, RunningUnit
from tests.support.workspaces import Owner

ALLOWED = "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON"


class Edge(StrEnum):
    """Who dials whom."""

    CALLER = "caller to Gateway"
    DISPATCH = "Gateway to Router"
    INTERNAL = "Router to Control Plane"
    AGENT = "Router to Agent"
    CONTROL_PLANE_STORE = "Control Plane to PostgreSQL"
    ROUTER_STORE = "Router to PostgreSQL"


@dataclass(frozen=True)
class Plan:
    """`pairs` of a Control Plane and a Router; a proxy on each of the edges, one for each pair; settings beside the
    usual ones; `failpoints` starts the units so that points in them can be armed, `launched` in any other way."""

    pairs: int = 1
    edges: frozenset[Edge] = frozenset()
    control_plane: Mapping[str, str] = field(default_factory=dict)
    router: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    failpoints: bool = False
    launched: Callable[[Replica], Replica] | None = None


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
        return Remote(_control_of(unit), unit.log)

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
            self.successors.append(_launched(other) if self.plan.failpoints else other)
            try:
                yield self.successors[-1]
            finally:
                await self.successors[-1].kill()


@asynccontextmanager
async def world(stores: DatabaseUrls, superuser: str, folder: Path, plan: Plan = Plan()) -> AsyncIterator[World]:  # noqa: B008
    """All of it ready. `superuser` is the URL of the same database for looking at it past any proxy."""
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with AsyncExitStack() as opened:
        agent = await opened.enter_async_context(scripted_agent())
        catalog = await opened.enter_async_context(opened_catalog(stores))
        made = World(plan, folder, stores, LedgerView(superuser), agent)
        units = [
            [await opened.enter_async_context(process_on(any_free_port())) for _ in "ab"] for _ in range(plan.pairs)
        ]
        made.proxies = await _proxies(opened, made, units)
        card = agent_card(agent, **plan.card)
        if (Edge.AGENT, 0) in made.proxies:
            card["protocol"]["endpoint"] = f"{made.on(Edge.AGENT).origin}/a2a"
        release = await published(catalog, card)
        made.control_planes = [_control_plane(made, number, units[number]) for number in range(plan.pairs)]
        made.routers = [_router(made, number, units[number]) for number in range(plan.pairs)]
        for group in (made.control_planes, made.routers):
            for unit in group:
                opened.push_async_callback(unit.kill)
            await asyncio.gather(*(unit.start() for unit in group))
            await asyncio.gather(*(unit.ready() for unit in group))
        made.sides = [
            Platform(gateway, router, agent, catalog, Owner(gateway, token), stores, card, release)
            for gateway, router in units
        ]
        await made.first.owner.workspace(SPACE)
        await made.first.owner.install(card["agentId"], accepted=[])
        for side in made.sides:
            await side.sees(release, "published")
        try:
            yield made
        finally:
            for unit in made.units:
                _control_of(unit).unlink(missing_ok=True)


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


def _control_plane(made: World, number: int, units: Sequence[RunningUnit]) -> Replica:
    gateway, router = units
    dispatch, store = made.proxies.get((Edge.DISPATCH, number)), made.proxies.get((Edge.CONTROL_PLANE_STORE, number))
    url = made.stores.control_plane
    settings = control_plane_environment(
        PLATFORM_DATABASE_URL=url if store is None else store.through(url),
        PLATFORM_LISTEN_ADDRESS=f"127.0.0.1:{gateway.port}",
        PLATFORM_ROUTER_INTERNAL_ORIGIN=(dispatch or router).origin,
        **{ALLOWED: _allowed(made), **made.plan.control_plane},
    )
    return _replica(made, "control-plane", f"control-plane-{number + 1}", gateway, settings)


def _router(made: World, number: int, units: Sequence[RunningUnit]) -> Replica:
    gateway, router = units
    internal, store = made.proxies.get((Edge.INTERNAL, number)), made.proxies.get((Edge.ROUTER_STORE, number))
    url, router_id = made.stores.router, f"router-{number + 1}"
    settings = router_environment(
        PLATFORM_ROUTER_ID=router_id,
        PLATFORM_ROUTER_DATABASE_URL=url if store is None else store.through(url),
        PLATFORM_ROUTER_LISTEN_ADDRESS=f"127.0.0.1:{router.port}",
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=(internal or gateway).origin,
        **{ALLOWED: _allowed(made), **made.plan.router},
    )
    return _replica(made, "router", router_id, router, settings)


def _replica(made: World, name: str, title: str, unit: RunningUnit, settings: dict[str, str]) -> Replica:
    made_unit = Replica(name, unit, settings, made.folder / f"{title}.log")
    if made.plan.launched is not None:
        return made.plan.launched(made_unit)
    return _launched(made_unit) if made.plan.failpoints else made_unit


def _launched(unit: Replica) -> Replica:
    """By the launcher that puts failpoints in; without --io no call is counted."""
    return replace(unit, command=("-m", "proof.unit"), options=("--io", "--control", str(_control_of(unit))))


def _control_of(unit: Replica) -> Path:
    """The path of a socket has to be short, which that of a test's folder is not."""
    return Path(gettempdir()) / f"aop-control-{unit.unit.port}"


def _allowed(made: World) -> str:
    ports = [made.agent.port, *(proxy.port for (edge, _), proxy in made.proxies.items() if edge is Edge.AGENT)]
    return json.dumps([*(f"127.0.0.1:{port}" for port in ports), SILENT_HOST])
