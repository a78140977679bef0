"""`aop control-plane`, `aop router`, `aop console` and `aop door`: serve one unit from environment settings alone."""

import os
import sys
from collections.abc import Mapping
from functools import partial

import uvloop

from aop.base.settings import SettingsRefused
from aop.base.share import WorkerShare
from aop.cli.shell import options
from aop.cli.shell.problems import EXIT_CONFIGURATION, EXIT_REFUSED
from aop.local.terminal import write_line
from aop.net.sockets import inherited_sockets
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.starting import ServedUnit, serve_alone, serve_as_worker, serve_with_workers
from aop.serving.unit.unit import MustEnd
from aop.serving.unit.unit_settings import CannotStart
from aop.serving.workers.parent import WorkersEnded, WorkersPlan
from aop.serving.workers.worker_group import WorkerGroup, WorkerPlace
from aop.store.problems import StoreNotAsExpected, StoreUnavailable

_MAX_HANDED = 2
"""An address and a unix socket."""


@options.workers
def control_plane(workers: int | None) -> None:
    """Settings come from PLATFORM_* environment variables; stops on SIGTERM after a drain.

    Example: aop control-plane
    """
    sys.exit(run_unit("control-plane", workers))


def console() -> None:
    """Settings come from the environment: PLATFORM_CONSOLE_LISTEN_ADDRESS, VITE_PLATFORM_API_BASE_URL (the Gateway as
    browsers reach it), VITE_PLATFORM_PUBLIC_AGENT_ORIGIN, VITE_PLATFORM_DOOR_ORIGIN (the door, if there is one),
    VITE_PLATFORM_OIDC_ISSUER and VITE_PLATFORM_OIDC_CLIENT_ID (the OpenID provider where people sign in, if there is
    one). The Gateway must name the Console's origin in PLATFORM_CORS_ALLOWED_ORIGINS.

    Example: aop console
    """
    sys.exit(run_unit("console"))


@options.workers
def door(workers: int | None) -> None:
    """Lets A2A clients and MCP hosts call the Agents installed in a Workspace: A2A 0.3 and 1.0 under
    /a2a/WORKSPACE/AGENT, MCP under /mcp/WORKSPACE. It has no rights and no store: every request needs an access token
    of the Gateway, which the door passes on to that Gateway alone.

    Settings come from the environment: PLATFORM_DOOR_GATEWAY_ORIGIN (the Gateway), PLATFORM_DOOR_LISTEN_ADDRESS,
    PLATFORM_DOOR_ORIGIN (the door as callers reach it), PLATFORM_DOOR_ALLOWED_HOSTS and PLATFORM_DOOR_ALLOWED_ORIGINS
    (what the Host and Origin headers may be) and limits. Stops on SIGTERM after a drain.

    Example: aop door
    """
    sys.exit(run_unit("door", workers))


def run_unit(name: str, workers: int | None = None) -> int:
    """`workers` is None for a unit of one process that was started without the option."""
    try:
        uvloop.run(_run(name, workers))
    except SettingsRefused as refused:
        for problem in refused.problems:
            _say(name, f"{problem.name} {problem.reason}")
        return EXIT_CONFIGURATION
    except (StoreNotAsExpected, MustEnd) as reason:
        _say(name, str(reason))
        return EXIT_CONFIGURATION
    except CannotStart as problem:
        _say(name, str(problem))
        return EXIT_REFUSED
    except StoreUnavailable as failure:
        _say(name, f"{_database_setting(name)}: the database cannot be reached ({failure})")
        return EXIT_REFUSED
    except WorkersEnded as ended:
        if str(ended):
            _say(name, str(ended))
        return ended.code
    return 0


async def _run(name: str, workers: int | None) -> None:
    environment = os.environ  # noqa: TID251
    place = WorkerPlace.of(environment)
    if place is not None:
        return await serve_as_worker(_unit(name, environment, WorkerGroup(place.share)), place)
    handed = inherited_sockets(environment, _MAX_HANDED)
    if workers is None:
        return await serve_alone(_unit(name, environment, WorkerGroup()), handed)
    # -P: a file in the current folder must not stand in for a module.
    command = (sys.executable, "-P", "-m", "aop", name)
    plan = WorkersPlan(workers, command, environment)
    # The settings are read as those of a worker, so that what is wrong with them is told once and by the parent.
    unit = _unit(name, environment, WorkerGroup(WorkerShare(1, workers)))
    return await serve_with_workers(unit, plan, handed)


def _unit(name: str, environment: Mapping[str, str], group: WorkerGroup) -> ServedUnit:
    """Each unit imports what it needs alone. Its settings are the share of a worker where there are workers."""
    match name:
        case "router":
            return _router(environment, group)
        case "console":
            return _console(environment, group)
        case "door":
            return _door(environment, group)
    return _control_plane(environment, group)


def _router(environment: Mapping[str, str], group: WorkerGroup) -> ServedUnit:
    from aop.router.app import RouterEnvironment, build  # noqa: PLC0415
    from aop.router.settings import read_router_settings  # noqa: PLC0415
    from aop.router.unit_lock import holding_router  # noqa: PLC0415

    whole = settings = read_router_settings(environment)
    if not group.is_alone:
        whole.require_worker_id()
        settings = whole.for_worker(group.share)
    log = UnitLog("router", settings.unit.log_level)
    around = RouterEnvironment(group=group)
    return ServedUnit(log, group, settings.serving, lambda: build(settings, around), partial(holding_router, whole))


def _control_plane(environment: Mapping[str, str], group: WorkerGroup) -> ServedUnit:
    from aop.control_plane.app import ControlPlaneEnvironment, build  # noqa: PLC0415
    from aop.control_plane.settings import read_control_plane_settings  # noqa: PLC0415

    settings = read_control_plane_settings(environment).for_worker(group.share)
    log = UnitLog("control-plane", settings.unit.log_level)
    around = ControlPlaneEnvironment(group=group)
    return ServedUnit(log, group, settings.serving, lambda: build(settings, around))


def _door(environment: Mapping[str, str], group: WorkerGroup) -> ServedUnit:
    from aop.door.app import build  # noqa: PLC0415
    from aop.door.settings import read_door_settings  # noqa: PLC0415

    settings = read_door_settings(environment).for_worker(group.share)
    return ServedUnit(
        UnitLog("door", settings.log_level), group, settings.serving, lambda: build(settings, group=group)
    )


def _console(environment: Mapping[str, str], group: WorkerGroup) -> ServedUnit:
    from aop.console.app import build  # noqa: PLC0415
    from aop.console.settings import read_console_settings  # noqa: PLC0415

    settings = read_console_settings(environment)
    return ServedUnit(UnitLog("console"), group, settings.serving, lambda: build(settings))


def _database_setting(name: str) -> str:
    return "PLATFORM_ROUTER_DATABASE_URL" if name == "router" else "PLATFORM_DATABASE_URL"


def _say(name: str, text: str) -> None:
    write_line(f"aop {name}: {text}", sys.stderr)
