"""`aop router`: serves the unit, or closes what a Router that will not come back has left open."""

import asyncio
from typing import Annotated

import typer

from aop.base.clock import utc_now
from aop.base.database import StoreUnavailable, connect
from aop.base.ids import is_safe_identifier
from aop.base.store_check import StoreNotAsExpected, require_version
from aop.cli.router_store import Data, router_database
from aop.cli.units import EXIT_CONFIGURATION, run_unit
from aop.ledger.epochs import Closing, close_earlier, open_epoch

router_app = typer.Typer(help="The A2A Router: serve it, or close one that will not come back.")


@router_app.callback(invoke_without_command=True)
def serve(context: typer.Context) -> None:
    """Serve the A2A Router. Settings come from PLATFORM_* environment variables; stops on SIGTERM after a drain."""
    if context.invoked_subcommand is None:
        raise typer.Exit(run_unit("router"))


@router_app.command("close")
def close(
    router_id: Annotated[str, typer.Option(metavar="ID", help="The PLATFORM_ROUTER_ID of the Router.")],
    data: Data = None,
) -> None:
    """End every open Invocation of a Router that will not come back; should it still run, it ends with code 78.

    Each gets one terminal: `canceled` if its caller had left, else `failed` with DEPENDENCY_ERROR. No Agent is called.

    Example: aop router close --router-id router-2
    """
    if not is_safe_identifier(router_id):
        raise typer.BadParameter("is not a Router id", param_hint="--router-id")
    url = router_database("aop router", data)
    try:
        closing = asyncio.run(_close(url, router_id))
    except StoreNotAsExpected as problem:
        raise _stop(str(problem), EXIT_CONFIGURATION) from None
    except StoreUnavailable as failure:
        raise _stop(f"the database cannot be reached or refused ({failure})", 1) from None
    if closing is None:
        raise _stop(f"no Router {router_id} has ever written to this Ledger", 1)
    typer.echo(f"closed {len(closing.epochs)} epochs of {router_id}; ended {closing.ended} open Invocations")


async def _close(url: str, router_id: str) -> Closing | None:
    connection = await connect(url, application="aop router close")
    try:
        await require_version(connection, "ledger")
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM ledger.epoch WHERE router_id = $1)", router_id):
            return None
        epoch = await open_epoch(connection, router_id)
        return await close_earlier(connection, router_id, epoch, utc_now)
    finally:
        connection.terminate()


def _stop(text: str, code: int) -> typer.Exit:
    typer.echo(f"aop router: {text}", err=True)
    return typer.Exit(code)
