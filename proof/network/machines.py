"""The platform on three machines: callers and the Agent on one, the Control Plane and the Router on one each."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aop.control_plane.gateway.tokens import issue_token
from aop.local.state import DatabaseUrls
from proof.fault_proxy import fault_proxy
from proof.network import kernel
from proof.network.wire import Wire
from proof.world import ALLOWED
from tests.support.agent import scripted_agent
from tests.support.cards import some_limits
from tests.support.catalog import opened_catalog
from tests.support.loop import SPACE, Platform, agent_card, published
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.settings import control_plane_environment, router_environment
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner

HERE, CONTROL_PLANE, ROUTER = "10.99.0.1", "10.99.0.2", "10.99.0.3"
DEADLINE_SECONDS = 3.0
PATIENT_SECONDS = 30.0
"""The deadline of the Agent that is called in rough weather."""


@dataclass
class Machines:
    wire: Wire
    platform: Platform
    patient: str
    units: list[Replica] = field(default_factory=list)


@asynccontextmanager
async def machines(wire: Wire, exchange: Path, stores: DatabaseUrls, folder: Path) -> AsyncIterator[Machines]:
    """This process is in a namespace of its own already, and gets its end of the wire here."""
    wire.plug_in(HERE, kernel.packet_device(HERE))
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with AsyncExitStack() as opened:
        agent = await opened.enter_async_context(scripted_agent(HERE, HERE))
        catalog = await opened.enter_async_context(opened_catalog(stores))
        limits = some_limits(timeoutMs=int(DEADLINE_SECONDS * 1000))
        card = agent_card(agent, agent_id="acme:wired", limits=limits)
        release = await published(catalog, card)
        ports = [await opened.enter_async_context(fault_proxy(8080, host)) for host in (CONTROL_PLANE, ROUTER)]
        gateway, router = [await opened.enter_async_context(process_on(proxy.port)) for proxy in ports]
        units = _units((gateway, router), stores, f"{HERE}:{agent.port}", exchange, folder)
        for replica in units:
            opened.push_async_callback(replica.kill)
            await replica.start()
        await asyncio.gather(*(replica.ready() for replica in units))
        owner = Owner(gateway, token)
        await owner.workspace(SPACE)
        await owner.install(card["agentId"], accepted=[])
        platform = Platform(gateway, router, agent, catalog, owner, stores, card, release)
        await platform.sees(release, "published")
        patient, _, _ = await platform.installed(limits=some_limits(timeoutMs=int(PATIENT_SECONDS * 1000)))
        yield Machines(wire, platform, patient["agentId"], units)


def _units(
    ends: Sequence[RunningUnit], stores: DatabaseUrls, agent: str, exchange: Path, folder: Path
) -> list[Replica]:
    """Not started; `ends` are where this machine finds them, `agent` the only host they may call."""
    allowed = {ALLOWED: json.dumps([agent])}
    control_plane = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_LISTEN_ADDRESS=f"{CONTROL_PLANE}:8080",
        PLATFORM_ROUTER_INTERNAL_ORIGIN=f"http://{ROUTER}:8080",
        **allowed,
    )
    router = router_environment(
        PLATFORM_ROUTER_DATABASE_URL=stores.router,
        PLATFORM_ROUTER_LISTEN_ADDRESS=f"{ROUTER}:8080",
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=f"http://{CONTROL_PLANE}:8080",
        **allowed,
    )
    command = ("-m", "proof.network.machine")
    kinds = (("control-plane", CONTROL_PLANE, control_plane), ("router", ROUTER, router))
    return [
        Replica(name, end, settings, folder / f"wired-{name}.log", None, command, (str(exchange), host))
        for (name, host, settings), end in zip(kinds, ends, strict=True)
    ]
