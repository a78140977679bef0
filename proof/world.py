"""The platform under test: real processes on one database around a scripted Agent, behind fault proxies if wanted."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from aop.control_plane.gateway.tokens import issue_token
from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from proof.area import Run
from proof.caller import Caller, calling, request
from proof.fault_proxy import FaultProxy, fault_proxy, store_proxy
from proof.ledger_view import LedgerView
from proof.record import CallResult
from proof.switchboard import Remote
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.canaries import INPUT_CANARY
from tests.support.catalog import opened_catalog
from tests.support.loop import SPACE, Platform, agent_card, allowed_hosts, published
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.settings import AS_IN_USE, control_plane_environment, router_environment
from tests.support.units import Reply, RunningUnit
from tests.support.workspaces import Owner

ALLOWED = "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON"
PATH = f"/v1/workspaces/{SPACE}/invocations"
_PORT_ELSEWHERE = 8080


@dataclass(frozen=True)
class Plan:
    """`pairs` of a Control Plane and a Router; with `proxies`, one between each kind of unit and its store; settings
    beside the usual ones; `failpoints` starts units in which points can be armed, `launched` in any other way.

    `here` is the address of this machine, `elsewhere` those of the two units when each has a machine of its own.
    """

    pairs: int = 1
    proxies: bool = False
    control_plane: Mapping[str, str] = field(default_factory=dict)
    router: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    failpoints: bool = False
    launched: Callable[[Replica], Replica] | None = None
    here: str = "127.0.0.1"
    elsewhere: Sequence[str] = ()
    between: "Callable[[World], AbstractAsyncContextManager[None]] | None" = None
    """What the units need between each other; entered when their ports are known, before they start."""


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
    proxies: Mapping[str, FaultProxy] = field(default_factory=dict)
    """In front of the store, by the unit that uses it."""
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

    def remote(self, unit: Replica) -> Remote:
        return Remote(control_of(unit), unit.log)

    @asynccontextmanager
    async def asking(
        self, content: object = None, *, stream: bool = False, side: int = 0, **members: Any
    ) -> AsyncIterator[Caller]:
        """A caller of its own connection that has sent its whole request."""
        platform, sent = self.sides[side], {"secret": INPUT_CANARY} if content is None else content
        body = platform.request(json.dumps(sent).encode(), stream=stream, **members)
        async with calling(platform.gateway.port) as caller:
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
        if plan.proxies:
            urls = {"control-plane": stores.control_plane, "router": stores.router}
            made.proxies = {name: await opened.enter_async_context(store_proxy(url)) for name, url in urls.items()}
        card = agent_card(agent, **plan.card)
        release = await published(catalog, card)
        made.control_planes = [_control_plane(made, number, *pair) for number, pair in enumerate(units)]
        made.routers = [_router(made, number, *pair) for number, pair in enumerate(units)]
        if plan.between is not None:
            await opened.enter_async_context(plan.between(made))
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


def _control_plane(made: World, number: int, gateway: RunningUnit, router: RunningUnit) -> Replica:
    listen, other = _addresses(made.plan, gateway, router)
    settings = control_plane_environment(
        **{
            "PLATFORM_DATABASE_URL": _store(made, "control-plane", made.stores.control_plane),
            "PLATFORM_LISTEN_ADDRESS": listen,
            "PLATFORM_ROUTER_INTERNAL_ORIGIN": f"http://{other}",
            **AS_IN_USE,
            ALLOWED: allowed_hosts(made.agent),
            **made.plan.control_plane,
        }
    )
    log = made.folder / f"control-plane-{number + 1}.log"
    return launched(made.plan, Replica("control-plane", gateway, settings, log))


def _router(made: World, number: int, gateway: RunningUnit, router: RunningUnit) -> Replica:
    other, listen = _addresses(made.plan, gateway, router)
    settings = router_environment(
        **{
            "PLATFORM_ROUTER_ID": f"router-{number + 1}",
            "PLATFORM_ROUTER_DATABASE_URL": _store(made, "router", made.stores.router),
            "PLATFORM_ROUTER_LISTEN_ADDRESS": listen,
            "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN": f"http://{other}",
            **AS_IN_USE,
            ALLOWED: allowed_hosts(made.agent),
            **made.plan.router,
        }
    )
    return launched(made.plan, Replica("router", router, settings, made.folder / f"router-{number + 1}.log"))


def _addresses(plan: Plan, gateway: RunningUnit, router: RunningUnit) -> Sequence[str]:
    """On which the two units listen."""
    if plan.elsewhere:
        return [f"{host}:{_PORT_ELSEWHERE}" for host in plan.elsewhere]
    return [f"127.0.0.1:{unit.port}" for unit in (gateway, router)]


def _store(made: World, unit: str, url: str) -> str:
    return made.proxies[unit].through(url) if unit in made.proxies else url


def launched(plan: Plan, unit: Replica) -> Replica:
    """By the launcher of the plan, or by the one that puts failpoints in."""
    if plan.launched is not None:
        return plan.launched(unit)
    if not plan.failpoints:
        return unit
    return replace(unit, command=("-m", "proof.failpoints"), options=(str(control_of(unit)),))


def control_of(unit: Replica) -> Path:
    """The path of a socket has to be short, which that of a test's folder is not."""
    return Path(gettempdir()) / f"aop-control-{unit.unit.port}"
