"""`aop control-plane`, `aop router`, `aop console` and `aop door`: serve one unit from environment settings alone."""

import os
import sys
from collections.abc import Coroutine
from typing import Any

import uvloop

from aop.base.settings import SettingsRefused
from aop.cli.problems import EXIT_CONFIGURATION, EXIT_REFUSED
from aop.local.terminal import write_line
from aop.net.sockets import inherited_socket
from aop.serving.unit import CannotStart, MustEnd, serve
from aop.store.problems import StoreNotAsExpected, StoreUnavailable


def control_plane() -> None:
    """Settings come from PLATFORM_* environment variables; stops on SIGTERM after a drain.

    Example: aop control-plane
    """
    sys.exit(run_unit("control-plane"))


def console() -> None:
    """Settings come from the environment: PLATFORM_CONSOLE_LISTEN_ADDRESS, VITE_PLATFORM_API_BASE_URL (the Gateway as
    browsers reach it), VITE_PLATFORM_PUBLIC_AGENT_ORIGIN, VITE_PLATFORM_DOOR_ORIGIN (the door, if there is one),
    VITE_PLATFORM_OIDC_ISSUER and VITE_PLATFORM_OIDC_CLIENT_ID (the OpenID provider where people sign in, if there is
    one). The Gateway must name the Console's origin in PLATFORM_CORS_ALLOWED_ORIGINS.

    Example: aop console
    """
    sys.exit(run_unit("console"))


def door() -> None:
    """Lets A2A clients and MCP hosts call the Agents installed in a Workspace: A2A 0.3 and 1.0 under
    /a2a/WORKSPACE/AGENT, MCP under /mcp/WORKSPACE. It has no rights and no store: every request needs an access token
    of the Gateway, which the door passes on to that Gateway alone.

    Settings come from the environment: PLATFORM_DOOR_GATEWAY_ORIGIN (the Gateway), PLATFORM_DOOR_LISTEN_ADDRESS,
    PLATFORM_DOOR_ORIGIN (the door as callers reach it), PLATFORM_DOOR_ALLOWED_HOSTS and PLATFORM_DOOR_ALLOWED_ORIGINS
    (what the Host and Origin headers may be) and limits. Stops on SIGTERM after a drain.

    Example: aop door
    """
    sys.exit(run_unit("door"))


def run_unit(name: str) -> int:
    try:
        uvloop.run(_unit(name))
    except SettingsRefused as refused:
        for problem in refused.problems:
            _say(name, f"{problem.name} {problem.reason}")
        return EXIT_CONFIGURATION
    except StoreNotAsExpected as problem:
        _say(name, str(problem))
        return EXIT_CONFIGURATION
    except MustEnd as reason:
        _say(name, str(reason))
        return EXIT_CONFIGURATION
    except CannotStart as problem:
        _say(name, str(problem))
        return EXIT_REFUSED
    except StoreUnavailable as failure:
        _say(name, f"{_database_setting(name)}: the database cannot be reached ({failure})")
        return EXIT_REFUSED
    return 0


def _unit(name: str) -> Coroutine[Any, Any, None]:
    environment = os.environ  # noqa: TID251
    handed = inherited_socket(environment)
    if name == "router":
        from aop.router.app import build as build_router  # noqa: PLC0415
        from aop.router.settings import read_router_settings  # noqa: PLC0415

        router_settings = read_router_settings(environment)
        return serve(router_settings.serving, lambda: build_router(router_settings), handed)
    if name == "console":
        from aop.console.app import build as build_console  # noqa: PLC0415
        from aop.console.settings import read_console_settings  # noqa: PLC0415

        console_settings = read_console_settings(environment)
        return serve(console_settings.serving, lambda: build_console(console_settings), handed)
    if name == "door":
        from aop.door.app import build as build_door  # noqa: PLC0415
        from aop.door.settings import read_door_settings  # noqa: PLC0415

        door_settings = read_door_settings(environment)
        return serve(door_settings.serving, lambda: build_door(door_settings), handed)
    from aop.control_plane.app import build as build_control_plane  # noqa: PLC0415
    from aop.control_plane.settings import read_control_plane_settings  # noqa: PLC0415

    settings = read_control_plane_settings(environment)
    return serve(settings.serving, lambda: build_control_plane(settings), handed)


def _database_setting(name: str) -> str:
    return "PLATFORM_ROUTER_DATABASE_URL" if name == "router" else "PLATFORM_DATABASE_URL"


def _say(name: str, text: str) -> None:
    write_line(f"aop {name}: {text}", sys.stderr)
