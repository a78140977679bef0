"""The platform's own units as the supervisor runs them: command, settings, the socket handed to each."""

import sys
from collections.abc import Sequence

from aop.console.settings import DOOR_ORIGIN
from aop.local.environment import UNITS, Addresses, LocalSettings
from aop.local.ports import Listeners
from aop.local.unit import SupervisedUnit, answers_ready
from aop.processes.child import Launch

_CLOSING_SECONDS = 8.0
"""What a unit may take after its drain and grace, before it is killed."""


def platform_units(
    names: Sequence[str], settings: LocalSettings, addresses: Addresses, listeners: Listeners, workers: int | None
) -> list[SupervisedUnit]:
    """Those with these names, in the order of their start; they are stopped in reverse order.

    `workers` is for each unit that can have some; None for units of one process.
    """
    seconds = settings.stop_seconds + _CLOSING_SECONDS

    def unit(name: str) -> SupervisedUnit:
        # -P: a file in the current folder must not stand in for a module.
        command: tuple[str, ...] = (sys.executable, "-P", "-m", "aop", name)
        if workers is not None and name != "console":
            command += ("--workers", str(workers))
        environment = settings.environments[name]
        if name == "console" and "door" in names:
            # Where no door runs, the Console names none, unless the caller's environment does.
            environment = {DOOR_ORIGIN: settings.origins["door"], **environment}
        socket = environment.get(UNITS[name].socket)
        handed = (listeners.of(addresses.units[name]), *listeners.on_path(socket))
        launch, ready = Launch(command, environment, listeners=handed), answers_ready(settings.origins[name])
        # A Router whose id another process uses may not be started again; what the others do goes on without it.
        return SupervisedUnit(name, launch, ready, stop_seconds=seconds, may_stay_down=name == "router")

    return [unit(name) for name in names]
