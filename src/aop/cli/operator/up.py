"""`aop up`: the whole platform on this machine."""

import os
from pathlib import Path

import click
from click.exceptions import Exit

from aop.cli.shell import options
from aop.local.ports import DEVELOPMENT_PORTS
from aop.local.state import DEFAULT_FOLDER
from aop.local.up import UpOptions, run_up
from aop.net.address_settings import listen_address


@click.option(
    "--data",
    metavar="DIR",
    default=DEFAULT_FOLDER,
    type=options.PATH,
    help="The data folder: database, keys, ports, logs.",
)
@click.option(
    "--allow", metavar="HOST:PORT", multiple=True, help="A private address that Agents may use; can be repeated."
)
@click.option(
    "--samples", is_flag=True, help="Install the sample Agents into the data folder and start them, now and later."
)
@click.option("--no-agents", is_flag=True, help="Do not start the sample Agents.")
@click.option("--no-console", is_flag=True, help="Do not start the Console.")
@click.option("--no-door", is_flag=True, help="Do not start the door for A2A clients and MCP hosts.")
@click.option(
    "--no-dev-ports",
    is_flag=True,
    help=f"Do not allow Agents at 127.0.0.1:{DEVELOPMENT_PORTS[0]} to {DEVELOPMENT_PORTS[-1]}.",
)
@click.option(
    "--workers",
    metavar="N",
    type=options.WORKERS["type"],
    help="Run the Control Plane, the Router and the door in N processes each; auto: one for each core.",
)
def up(data: Path, allow: tuple[str, ...], samples: bool, workers: int | None, **left_out: bool) -> None:
    """No configuration is needed. The first start with a data folder creates the
    database, keys and tokens and chooses the ports; later starts reuse them.

    Agents that you make may listen on 127.0.0.1 at the ports 8099 to 8119, where
    `aop init` places them. Every other private address needs --allow.

    A checkout starts its sample Agents by itself. An installed package needs --samples once,
    and a connection to a package index.

    PLATFORM_… settings in the environment override those of this command.
    Another PostgreSQL is used when all three of PLATFORM_DATABASE_URL,
    PLATFORM_ROUTER_DATABASE_URL and PLATFORM_MIGRATION_DATABASE_URL are set.

    When the platform is ready, DIR/run.json holds its addresses and a token for programs.

    Example: aop up --data ~/aop-data --allow 127.0.0.1:9000
    """
    for entry in allow:
        try:
            listen_address(entry)
        except ValueError:
            raise click.BadParameter("must be HOST:PORT, an IPv6 host in brackets", param_hint="--allow") from None
    wanted = UpOptions(
        data,
        allow,
        with_agents=not left_out["no_agents"],
        with_console=not left_out["no_console"],
        with_door=not left_out["no_door"],
        development_ports=not left_out["no_dev_ports"],
        workers=workers,
        install_samples=samples,
    )
    raise Exit(run_up(wanted, os.environ))  # noqa: TID251
