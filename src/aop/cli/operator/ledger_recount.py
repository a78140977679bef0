"""`aop ledger recount`: has the figures of the Ledger counted again from its rows."""

from pathlib import Path

from aop.cli.shell.output import Output
from aop.cli.shell.store_session import store_session
from aop.cli.shell.stores import router_data, router_database
from aop.ledger.figures.tiles import begin_edition


@router_data
async def recount(out: Output, data: Path | None) -> None:
    """Begins a new edition of the counts, and the Router that numbers events counts all of it again, a part at a time.
    Figures are exact meanwhile, and slower for long windows. The old counts stay and are not read any more. Groups of
    events that have some of a detached month keep their counts: there is nothing to count them from.

    Example: aop ledger recount --data .aop
    """
    async with store_session(router_database(data), "aop ledger recount") as connection:
        edition = await begin_edition(connection)
    if edition is None:
        out.tell({"edition": None}, "too little was invoked for counts; figures come from the rows themselves")
    else:
        out.tell({"edition": edition}, f"edition {edition} of the counts has begun; a Router counts the rest")
