"""The platform's own units as the supervisor runs them: command, settings, the socket handed to each."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from aop.console.settings import DOOR_ORIGIN
from aop.local.environment import Addresses, LocalSettings
from aop.local.ports import Listeners
from aop.local.unit import SupervisedUnit, answers_ready
from aop.net.address_settings import ListenAddress
from aop.processes.child import Launch
from aop.serving.unit.unit_settings import CONTROL_PLANE_SOCKET, ROUTER_SOCKET

_CLOSING_SECONDS = 8.0
"""What a unit may take after its drain and grace, before it is killed."""


@dataclass(frozen=True)
class Beside:
    """What runs beside the two services, for people and for programs of other kinds, and in how many processes."""

    console: bool
    door: bool
    workers: int | None = None
    """Of each unit that can have some; None for units of one process."""


def platform_units(
    settings: LocalSettings, addresses: Addresses, listeners: Listeners, beside: Beside
) -> list[SupervisedUnit]:
    """In the order of their start; they are stopped in reverse order."""
    seconds = settings.stop_seconds + _CLOSING_SECONDS

    def unit(
        name: str, environment: Mapping[str, str], address: ListenAddress, origin: str, socket_setting: str = ""
    ) -> SupervisedUnit:
        # -P: a file in the current folder must not stand in for a module.
        command: tuple[str, ...] = (sys.executable, "-P", "-m", "aop", name)
        if beside.workers is not None and name != "console":
            command += ("--workers", str(beside.workers))
        handed = (listeners.of(address), *listeners.on_path(environment.get(socket_setting)))
        launch = Launch(command, environment, listeners=handed)
        # A Router whose id another process uses may not be started again; what the others do goes on without it.
        return SupervisedUnit(name, launch, answers_ready(origin), stop_seconds=seconds, may_stay_down=name == "router")

    units = [
        unit("control-plane", settings.control_plane, addresses.gateway, settings.gateway_origin, CONTROL_PLANE_SOCKET),
        unit("router", settings.router, addresses.router, settings.router_origin, ROUTER_SOCKET),
    ]
    if beside.door:
        units.append(unit("door", settings.door, addresses.door, settings.door_origin))
    if beside.console:
        # Where no door runs, the Console names none, unless the caller's environment does.
        named = {DOOR_ORIGIN: settings.door_origin} if beside.door else {}
        units.append(unit("console", {**named, **settings.console}, addresses.console, settings.console_origin))
    return units
