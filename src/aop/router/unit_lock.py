"""What a unit of the Router holds while it runs, whether it is one process or has workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aop.base.clock import utc_now
from aop.base.share import WorkerShare
from aop.ledger.write.epochs import close_left
from aop.ledger.write.router_lock import PING_SECONDS, RouterLock, RouterRuns
from aop.router.invocation.recording import ledger_connect, report_closed
from aop.router.settings import ROUTER_ID, RouterSettings
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.background import unit_loops
from aop.serving.unit.unit import MustEnd
from aop.store.database import translated_failures
from aop.store.store_check import require_version

_RUNS = f"{ROUTER_ID}: another unit of the Router with this id runs, so this one does not start"


@asynccontextmanager
async def holding_router(settings: RouterSettings, workers: int | None, log: UnitLog) -> AsyncIterator[None]:
    """Holds the lock of the id, and has ended what an earlier start left open in epochs that are not opened again.

    `workers` is None for a unit that writes as the id itself.
    """
    shares = [] if workers is None else [WorkerShare(number + 1, workers) for number in range(workers)]
    own = {settings.for_worker(share).router_id for share in shares} or {settings.router_id}
    connected = ledger_connect(settings)
    lock = RouterLock(connected, settings.router_id)
    try:
        await lock.take()
    except RouterRuns:
        raise MustEnd(_RUNS) from None
    loops = unit_loops(log)
    # A session that says nothing for some seconds is ended by the server, so the pause after a fault is short.
    loops.start("router id", lock.turn, max_pause_seconds=PING_SECONDS)
    try:
        connection = await connected()
        try:
            async with translated_failures():
                await require_version(connection, "ledger")
            closing = await close_left(connection, settings.router_id, utc_now, own)
        finally:
            connection.terminate()
        report_closed(log, closing)
        yield
    finally:
        await loops.close()
        lock.release()
