"""`aop status`: the health of the platform and of its Routers, and which platform it is."""

import msgspec
from click.exceptions import Exit

from aop.cli.shell.invocation_lines import milliseconds
from aop.cli.shell.output import Cell, Line, facts, moment
from aop.cli.shell.output import status as coloured
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import EXIT_REFUSED
from aop.contracts.health import HealthStatus, PlatformStatus, RouterHealth, RouterState, TopologyHealth
from aop.contracts.router_status import SchemaLoad, UnwrittenFacts, WatchFreshness
from aop.local.unit import answers_ready


async def status(platform: Platform) -> None:
    """Exit code 1 when a part is not healthy. The topology watch is how the Router learns of new and changed Releases.
    Facts to write are ends and acceptances of Invocations that the Ledger does not have yet. A Router is named by an
    id that it makes at random at each start. Behind a balancer one Router answers each time, and the others are not
    shown. The door is shown for a platform of `aop up`, which knows its address.

    Example: aop status
    """
    found = await platform.waiting("asking", platform.client.read_platform_status())
    door = await _door(platform)
    routers = found.routers or ()
    platform.out.tell(
        found if door is None else {**msgspec.to_builtins(found), "door": door},
        *facts(
            ("Gateway", platform.destination.gateway),
            ("from", platform.destination.source),
            ("Control Plane", coloured(found.control_plane)),
            ("Router", coloured(found.router)),
            ("topology watch", coloured(found.topology)),
            *([] if door is None else [("door", coloured(door))]),
        ),
        *(line for router in routers for line in _router(router)),
    )
    if not (_is_well(found) and door in (None, HealthStatus.OK)):
        raise Exit(EXIT_REFUSED)


def _is_well(found: PlatformStatus) -> bool:
    return (
        {found.control_plane, found.router} == {HealthStatus.OK}
        and found.topology is TopologyHealth.LIVE
        and all(router.status is RouterHealth.OK for router in found.routers or ())
    )


def _router(router: RouterState) -> list[Line]:
    """Nothing for one that did not answer: the lines above say so."""
    if router.status is RouterHealth.UNAVAILABLE:
        return []
    lag = router.sequence
    pairs: list[tuple[str, Cell | None]] = [
        (f"Router {router.instance_id}", coloured(router.status.replace("_", " "))),
        ("  topology watch", _watch(router.topology) if router.topology else None),
        ("  schema work", _schema_work(router.schema_work) if router.schema_work else None),
        ("  facts to write", _unwritten(router.facts) if router.facts else None),
        ("  sequence", f"{milliseconds(lag.lag_ms)} behind" if lag else "this Router does not number the events"),
    ]
    return ["", "the Router that answered (behind a balancer there may be others):", *facts(*pairs)]


def _watch(watch: WatchFreshness) -> str:
    age = "no message yet" if watch.age_ms is msgspec.UNSET else f"last message {milliseconds(watch.age_ms)} ago"
    return f"{watch.state} since {moment(watch.since)}, {age}"


def _schema_work(work: SchemaLoad) -> str:
    return f"{work.running} of {work.processes} processes busy, {work.waiting} waiting"


def _unwritten(waiting: UnwrittenFacts) -> str:
    counts = (
        (waiting.deferred, "ended but not written"),
        (waiting.unconfirmed, "not known whether accepted"),
        (waiting.denied, "refused by the Ledger"),
    )
    said = [f"{count} {what}" for count, what in counts if count]
    if waiting.oldest_ms is not msgspec.UNSET:
        said.append(f"the oldest for {milliseconds(waiting.oldest_ms)}")
    return ", ".join(said) or "none"


async def _door(platform: Platform) -> HealthStatus | None:
    """None when it is not known where one would be."""
    local = platform.destination.local
    if local is None or local.run.door is None:
        return None
    ready = await answers_ready(local.run.door)(0)
    return HealthStatus.OK if ready else HealthStatus.UNAVAILABLE
