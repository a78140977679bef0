"""`aop status`: the health of the platform, and which platform it is."""

import msgspec
from click.exceptions import Exit

from aop.cli.output import facts
from aop.cli.output import status as coloured
from aop.cli.platform import Platform
from aop.cli.problems import EXIT_REFUSED
from aop.contracts.health import HealthStatus, TopologyHealth
from aop.local.unit import answers_ready


async def status(platform: Platform) -> None:
    """Exit code 1 when a part is not healthy. The topology watch is how the Router learns of new and changed Releases.
    The door is shown for a platform of `aop up`, which knows its address.

    Example: aop status
    """
    found = await platform.waiting("asking", platform.client.read_platform_status())
    door = await _door(platform)
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
    )
    well = {found.control_plane, found.router, door or HealthStatus.OK} == {HealthStatus.OK}
    if not (well and found.topology is TopologyHealth.LIVE):
        raise Exit(EXIT_REFUSED)


async def _door(platform: Platform) -> HealthStatus | None:
    """None when it is not known where one would be."""
    local = platform.destination.local
    if local is None or local.run.door is None:
        return None
    ready = await answers_ready(local.run.door)(0)
    return HealthStatus.OK if ready else HealthStatus.UNAVAILABLE
