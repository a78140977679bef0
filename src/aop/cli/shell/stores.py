"""Where operator commands find a unit's database: a data folder, the unit's own setting, or a local platform nearby."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from aop.base.settings import SettingsReader, SettingsRefused, database_url
from aop.cli.shell import options
from aop.cli.shell.destination import find_local
from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem
from aop.local.problems import NotRunning
from aop.local.state import DatabaseUrls, load_run

T = TypeVar("T")

_CONTROL_PLANE, _ROUTER = "PLATFORM_DATABASE_URL", "PLATFORM_ROUTER_DATABASE_URL"
MIGRATION_SETTING = "PLATFORM_MIGRATION_DATABASE_URL"
_HELP = "Data folder of a running `aop up`. Default: {}, or a local platform that runs nearby."


def _data(setting: str) -> options.Declare:
    return click.option("--data", metavar="DIR", type=options.PATH, help=_HELP.format(setting))


control_plane_data, router_data, migration_data = _data(_CONTROL_PLANE), _data(_ROUTER), _data(MIGRATION_SETTING)


def read_setting(read: Callable[[SettingsReader], T], recovery: str = "") -> T:
    """A setting of a unit that a command needs itself."""
    reader = SettingsReader(os.environ)  # noqa: TID251
    value = read(reader)
    try:
        reader.conclude()
    except SettingsRefused as refused:
        raise CommandProblem(str(refused), recovery=recovery, exit_code=EXIT_CONFIGURATION) from None
    return value


def _database(setting: str, of: Callable[[DatabaseUrls], str], data: Path | None) -> str:
    environment = os.environ  # noqa: TID251
    try:
        if data is not None:
            return of(load_run(data).database_urls)
    except NotRunning as problem:
        raise CommandProblem(str(problem)) from None
    local = None if setting in environment else find_local(Path.cwd(), environment)
    if local is not None:
        return of(local.run.database_urls)
    recovery = "set it, or pass --data DIR of a running `aop up`"
    return read_setting(lambda reader: reader.required(setting, database_url), recovery).reveal()


control_plane_database = partial(_database, _CONTROL_PLANE, lambda urls: urls.control_plane)
router_database = partial(_database, _ROUTER, lambda urls: urls.router)
migration_database = partial(_database, MIGRATION_SETTING, lambda urls: urls.migration)
