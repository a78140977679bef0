"""Two of each unit, which know each other, and are known to callers, by a balancer alone."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from proof.area import Run
from proof.balancers.program import Balancer, Ports
from proof.traffic import answering
from proof.world import Plan, World, world_of
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.workspaces import Owner

_DRAIN = {"PLATFORM_DRAIN_SECONDS": "5"}


@asynccontextmanager
async def balanced(
    run: Run, kind: type[Balancer], settings: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[World, Balancer]]:
    ports, more = Ports(), {**_DRAIN, **(settings or {})}
    balancer = kind(run.folder / kind.name, ports)

    @asynccontextmanager
    async def between(made: World) -> AsyncIterator[None]:
        await balancer.start(made.control_planes, made.routers)
        try:
            yield
        finally:
            await balancer.stop()

    plan = Plan(
        pairs=2,
        control_plane={"PLATFORM_ROUTER_INTERNAL_ORIGIN": f"http://127.0.0.1:{ports.routers}", **more},
        router={"PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN": f"http://127.0.0.1:{ports.control_planes}", **more},
        between=between,
    )
    async with world_of(run, plan) as made, process_on(ports.control_planes) as front:
        made.agent.usual = (answering(),)
        made.sides = [replace(made.first, gateway=front, owner=Owner(front, made.first.owner.token))]
        await balancer.put_back()
        yield made, balancer


def by_name(made: World) -> Sequence[tuple[str, Replica]]:
    """As the balancer names them."""
    kinds = {"control-plane": made.control_planes, "router": made.routers}
    return [(f"{kind}-{number}", unit) for kind, units in kinds.items() for number, unit in enumerate(units, 1)]
