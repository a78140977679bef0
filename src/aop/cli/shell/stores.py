"""Where operator commands find a unit's database: a data folder, the unit's own setting, or a local platform nearby."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from aop.base.settings import SettingsReader, SettingsRefused, database_url
from aop.cli.shell import options
from aop.cli.shell.destination import find_local
from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem
from aop.local.problems import NotRunning
from aop.local.state import DatabaseUrls, load_run

_CONTROL_PLANE, _ROUTER = "PLATFORM_DATABASE_URL", "PLATFORM_ROUTER_DATABASE_URL"
_MIGRATION = "PLATFORM_MIGRATION_DATABASE_URL"
_HELP = "Data folder of a running `aop up`. Default: {}, or a local platform that runs nearby."


def _data(setting: str) -> options.Declare:
    return click.option("--data", metavar="DIR", type=options.PATH, help=_HELP.format(setting))


control_plane_data, router_data, migration_data = _data(_CONTROL_PLANE), _data(_ROUTER), _data(_MIGRATION)


def control_plane_database(data: Path | None) -> str:
    return _database(data, _CONTROL_PLANE, lambda urls: urls.control_plane)


def router_database(data: Path | None) -> str:
    return _database(data, _ROUTER, lambda urls: urls.router)


def migration_database(data: Path | None) -> str:
    return _database(data, _MIGRATION, lambda urls: urls.migration)


def _database(data: Path | None, setting: str, of: Callable[[DatabaseUrls], str]) -> str:
    environment = os.environ  # noqa: TID251
    try:
        if data is not None:
            return of(load_run(data).database_urls)
    except NotRunning as problem:
        raise CommandProblem(str(problem)) from None
    local = None if setting in environment else find_local(Path.cwd(), environment)
    if local is not None:
        return of(local.run.database_urls)
    reader = SettingsReader(environment)
    url = reader.required(setting, database_url)
    try:
        reader.conclude()
    except SettingsRefused as refused:
        raise CommandProblem(
            f"{setting} {refused.problems[0].reason}",
            recovery="set it, or pass --data DIR of a running `aop up`",
            exit_code=EXIT_CONFIGURATION,
        ) from None
    return url.reveal()
