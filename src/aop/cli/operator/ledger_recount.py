"""`aop ledger recount`: has the figures of the Ledger counted again from its rows."""

import asyncio
from pathlib import Path

from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.stores import router_data, router_database
from aop.ledger.figures.tiles import begin_edition
from aop.store.database import connect, translated_failures
from aop.store.problems import StoreUnavailable


@router_data
def recount(out: Output, data: Path | None) -> None:
    """Begins a new edition of the counts, and the Router that numbers events counts all of it again, a part at a time.
    Figures are exact meanwhile, and slower for long windows. The old counts stay and are not read any more. Groups of
    events that have some of a detached month keep their counts: there is nothing to count them from.

    Example: aop ledger recount --data .aop
    """
    url = router_database(data)
    try:
        edition = asyncio.run(_begin(url))
    except StoreUnavailable as failure:
        raise CommandProblem(f"the database cannot be reached or refused ({failure})") from None
    if edition is None:
        out.tell({"edition": None}, "too little was invoked for counts; figures come from the rows themselves")
    else:
        out.tell({"edition": edition}, f"edition {edition} of the counts has begun; a Router counts the rest")


async def _begin(url: str) -> int | None:
    connection = await connect(url, application="aop ledger recount")
    try:
        async with translated_failures():
            return await begin_edition(connection)
    finally:
        connection.terminate()
