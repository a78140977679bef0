"""`aop up`: the whole platform on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from aop.local.state import DEFAULT_FOLDER
from aop.local.up import UpOptions, run_up
from aop.net.address_settings import listen_address


def up(
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Where everything is kept: database, keys, ports, logs.")
    ] = DEFAULT_FOLDER,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="A private address an Agent may have; can be repeated."),
    ] = None,
    no_agents: Annotated[bool, typer.Option("--no-agents", help="Leave out the sample Agents.")] = False,
    no_console: Annotated[bool, typer.Option("--no-console", help="Leave out the Console.")] = False,
) -> None:
    """No configuration is needed. The first start of a data folder makes its
    database, keys and tokens and chooses its ports; later starts use them again.

    PLATFORM_… settings in the environment win over what this command supplies.
    Another PostgreSQL is used when all three of PLATFORM_DATABASE_URL,
    PLATFORM_ROUTER_DATABASE_URL and PLATFORM_MIGRATION_DATABASE_URL are set.

    When ready, DIR/run.json tells programs where everything is.

    Example: aop up --data ~/aop-data --allow 127.0.0.1:9000
    """
    for entry in allow or ():
        try:
            listen_address(entry)
        except ValueError:
            raise typer.BadParameter("must be HOST:PORT, an IPv6 host in brackets", param_hint="--allow") from None
    options = UpOptions(data, tuple(allow or ()), with_agents=not no_agents, with_console=not no_console)
    raise typer.Exit(run_up(options, os.environ))  # noqa: TID251
