"""Where operator commands find the Router's database: a running `aop up`, or the Router's own setting."""

import os
from pathlib import Path
from typing import Annotated

import typer

from aop.base.settings import SettingsReader, SettingsRefused, database_url
from aop.local.problems import NotRunning
from aop.local.state import load_run

SETTING = "PLATFORM_ROUTER_DATABASE_URL"
Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help=f"Data folder of a running `aop up`. Without it, {SETTING} names the database."),
]


def router_database(command: str, data: Path | None) -> str:
    """Ends the command with a message when there is none."""
    try:
        if data is not None:
            return load_run(data).database_urls.router
        reader = SettingsReader(os.environ)  # noqa: TID251
        url = reader.required(SETTING, database_url)
        reader.conclude()
        return url.reveal()
    except NotRunning as problem:
        reason = str(problem)
    except SettingsRefused as refused:
        reason = f"{SETTING} {refused.problems[0].reason}; or pass --data DIR of a running `aop up`"
    typer.echo(f"{command}: {reason}", err=True)
    raise typer.Exit(1)
