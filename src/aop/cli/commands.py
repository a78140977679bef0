"""The command tree of aop."""

import typer

from aop import __version__
from aop.cli.agent import agent_app
from aop.cli.ledger import ledger_app
from aop.cli.migrate import migrate
from aop.cli.router import router_app
from aop.cli.token import token_app
from aop.cli.units import run_unit
from aop.cli.up import up

app = typer.Typer(
    help="Agent Operating Platform: publish, prove, release, discover, install, invoke and inspect AI Agents.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aop {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


@app.command(name="control-plane", rich_help_panel="Units")
def control_plane() -> None:
    """Serve the Control Plane. Settings come from PLATFORM_* environment variables; stops on SIGTERM after a drain."""
    raise typer.Exit(run_unit("control-plane"))


app.add_typer(router_app, name="router", rich_help_panel="Units")
app.command(name="up", rich_help_panel="Local platform")(up)
app.command(name="migrate", rich_help_panel="Operator")(migrate)
app.add_typer(token_app, name="token", rich_help_panel="Operator")
app.add_typer(ledger_app, name="ledger", rich_help_panel="Operator")
app.add_typer(agent_app, name="agent", rich_help_panel="Agents")
