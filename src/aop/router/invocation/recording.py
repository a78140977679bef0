"""Opens the journal of this Router: a new epoch, terminals for what earlier epochs left open, and the fence."""

import asyncio
from dataclasses import dataclass, field

from aop.base.clock import Clock
from aop.ledger.model import Writer
from aop.ledger.write.epochs import Closing, close_earlier, open_epoch
from aop.ledger.write.group_commit import Connect
from aop.ledger.write.journal import Journal
from aop.router.metrics import RouterMetrics
from aop.router.settings import ROUTER_ID, RouterSettings
from aop.serving.edge.request_log import Level, UnitLog
from aop.store.database import Connection, connect

FENCED = f"{ROUTER_ID}: another Router process that started later uses this id, so this one may record nothing more"


@dataclass(frozen=True)
class Fence:
    """Falls once, when another process opens a newer epoch of this Router. Nothing can be recorded after that."""

    log: UnitLog
    epoch: int
    fallen: asyncio.Event = field(default_factory=asyncio.Event)

    def fall(self) -> None:
        if not self.fallen.is_set():
            self.log.event("ledger.fenced", level=Level.ERROR, cause=FENCED)
            self.fallen.set()


def ledger_connect(
    settings: RouterSettings, command_seconds: float | None = None, application: str = "aop router ledger"
) -> Connect:
    """Opens connections of this Router to its Ledger, each for one writer. One that sets no limits to its statements
    itself has them limited here: a server that is frozen answers nothing, not even that a statement took too long.
    `application` is the name under which the server shows them."""

    async def connected() -> Connection:
        url = settings.database_url.reveal()
        return await connect(url, application=application, command_seconds=command_seconds)

    return connected


async def open_journal(
    settings: RouterSettings, clock: Clock, log: UnitLog, counts: RouterMetrics
) -> tuple[Journal, Fence]:
    """Opens the epoch of this process and ends what earlier ones left open, before anything is served."""
    connected = ledger_connect(settings)
    connection = await connected()
    try:
        epoch = await open_epoch(connection, settings.router_id)
        closing = await close_earlier(connection, settings.router_id, epoch, clock)
    finally:
        connection.terminate()
    report_closed(log, closing)
    fence = Fence(log, epoch)
    journal = Journal(
        Writer(settings.router_id, epoch),
        connected,
        clock,
        write_seconds=settings.ledger_write_timeout_ms / 1000,
        fenced=fence.fall,
        wrote=counts.ledger_wrote,
        unsettled=lambda count: _report_unsettled(log, count),
    )
    counts.unsettled(journal.unsettled)
    return journal, fence


def report_closed(log: UnitLog, closing: Closing | None) -> None:
    if closing is not None and closing.ended:
        log.event("ledger.closed_open_invocations", level=Level.WARNING, cause=f"{closing.ended} of an earlier epoch")


def _report_unsettled(log: UnitLog, count: int) -> None:
    if count:
        log.event("ledger.unsettled", level=Level.WARNING, cause=f"{count} Invocations wait for the store")
    else:
        log.event("ledger.settled")
