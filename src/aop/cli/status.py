"""`aop status`: the health of the platform, and which platform it is."""

from click.exceptions import Exit

from aop.cli.output import facts
from aop.cli.output import status as coloured
from aop.cli.platform import Platform
from aop.cli.problems import EXIT_REFUSED
from aop.contracts.health import HealthStatus, TopologyHealth


async def status(platform: Platform) -> None:
    """Exit code 1 when a part is not healthy. The topology watch is how the Router learns of new and changed Releases.

    Example: aop status
    """
    found = await platform.waiting("asking", platform.client.read_platform_status())
    platform.out.tell(
        found,
        *facts(
            ("Gateway", platform.destination.gateway),
            ("from", platform.destination.source),
            ("Control Plane", coloured(found.control_plane)),
            ("Router", coloured(found.router)),
            ("topology watch", coloured(found.topology)),
        ),
    )
    well = found.control_plane is HealthStatus.OK and found.router is HealthStatus.OK
    if not (well and found.topology is TopologyHealth.LIVE):
        raise Exit(EXIT_REFUSED)
