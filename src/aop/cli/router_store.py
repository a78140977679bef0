"""Where operator commands find the Router's database: a running `aop up`, or the Router's own setting."""

import os
from pathlib import Path
from typing import Annotated

import typer

from aop.base.settings import SettingsReader, SettingsRefused, database_url
from aop.cli.problems import Problem
from aop.local.problems import NotRunning
from aop.local.state import load_run

SETTING = "PLATFORM_ROUTER_DATABASE_URL"
Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help=f"Data folder of a running `aop up`. Without it, {SETTING} names the database."),
]


def router_database(data: Path | None) -> str:
    try:
        if data is not None:
            return load_run(data).database_urls.router
        reader = SettingsReader(os.environ)  # noqa: TID251
        url = reader.required(SETTING, database_url)
        reader.conclude()
        return url.reveal()
    except NotRunning as problem:
        raise Problem(str(problem)) from None
    except SettingsRefused as refused:
        raise Problem(
            f"{SETTING} {refused.problems[0].reason}", recovery="set it, or pass --data DIR of a running `aop up`"
        ) from None
