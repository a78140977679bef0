"""`aop control-plane` and `aop router`: serve one unit from environment settings alone."""

import os
import sys
from collections.abc import Coroutine
from typing import Any

import uvloop

from aop.base.database import StoreUnavailable
from aop.base.settings import SettingsRefused
from aop.base.store_check import StoreNotAsExpected
from aop.serving.unit import CannotStart, MustEnd

EXIT_FAILED = 1
EXIT_CONFIGURATION = 78
"""The unit will not start until somebody changes something: supervisors do not restart it."""


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
    except MustEnd:
        return EXIT_CONFIGURATION
    except CannotStart as problem:
        _say(name, str(problem))
        return EXIT_FAILED
    except StoreUnavailable as failure:
        _say(name, f"{_database_setting(name)}: the database cannot be reached ({failure})")
        return EXIT_FAILED
    return 0


def _unit(name: str) -> Coroutine[Any, Any, None]:
    environment = os.environ  # noqa: TID251
    if name == "router":
        from aop.router.app import run as run_router  # noqa: PLC0415
        from aop.router.settings import read_router_settings  # noqa: PLC0415

        return run_router(read_router_settings(environment))
    from aop.control_plane.app import run as run_control_plane  # noqa: PLC0415
    from aop.control_plane.settings import read_control_plane_settings  # noqa: PLC0415

    return run_control_plane(read_control_plane_settings(environment))


def _database_setting(name: str) -> str:
    return "PLATFORM_ROUTER_DATABASE_URL" if name == "router" else "PLATFORM_DATABASE_URL"


def _say(name: str, text: str) -> None:
    sys.stderr.write(f"aop {name}: {text}\n")
