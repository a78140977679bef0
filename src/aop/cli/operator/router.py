"""`aop router close`: ends what a Router that will not come back has left open."""

from pathlib import Path

import click

from aop.base.clock import utc_now
from aop.base.ids import is_safe_identifier
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.store_session import store_session
from aop.cli.shell.stores import router_data, router_database
from aop.ledger.write.epochs import close_left
from aop.store.store_check import require_version


@click.option("--router-id", metavar="ID", required=True, help="The PLATFORM_ROUTER_ID of the Router.")
@router_data
async def close(out: Output, router_id: str, data: Path | None) -> None:
    """Its workers are closed with it. If the Router still runs, it stops with exit code 78.

    Each open Invocation gets one terminal: `canceled` if its caller had left, else `failed` with DEPENDENCY_ERROR. No
    Agent is called.

    Example: aop router close --router-id router-2
    """
    if not is_safe_identifier(router_id):
        raise click.BadParameter("is not a Router id", param_hint="--router-id")
    url = router_database(data)
    with out.working(f"closing {router_id}"):
        async with store_session(url, "aop router close") as connection:
            await require_version(connection, "ledger")
            closing = await close_left(connection, router_id, utc_now)
    if closing is None:
        raise CommandProblem(f"no Router {router_id} has ever written to this Ledger")
    closed = len(closing.epochs)
    out.tell(
        {"routerId": router_id, "epochs": closed, "ended": closing.ended},
        f"closed {closed} epochs of {router_id}; ended {closing.ended} open Invocations",
    )
