"""Detaches an exported month. Its numbers, its hashes in the tree and its counts stay."""

import asyncio
import time
from pathlib import Path
from typing import Final

import asyncpg

from aop.ledger.archive.export import NotOver, require_over
from aop.ledger.archive.file import FileWrong
from aop.ledger.archive.verification import VerifiedExport, verified
from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.ledger.figures.tiles import tile_counts
from aop.ledger.months import PARTITIONED, Month, attached_months
from aop.store.database import Connection
from aop.store.migrations import OWNER_ROLE

_SCHEMA: Final = "ledger_detached"
_THIS_MONTH: Final = "SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date"
_ADD_MONTH: Final = """
INSERT INTO ledger.detached_month (month, first_root, past_root, invocations, events, last_number, sha256)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
PATIENCE_SECONDS: Final = 30.0
"""How long others may use the Ledger before a month is given up. Calls are not held up meanwhile."""
_PAUSE_SECONDS: Final = 0.3
# None of these conflicts with a call. Vacuum does, gives way to it within a second, and would hold up what follows; so
# would a second operator.
_WITHOUT_VACUUM: Final = (
    "LOCK TABLE ledger.cancel_request, ledger.event, ledger.invocation IN SHARE UPDATE EXCLUSIVE MODE"
)
# All calls wait for whoever waits for this. So it is asked for during a moment, and then again: two calls that go from
# one table to the other in both directions can never all be waited for.
_ALONE: Final = (
    "LOCK TABLE ONLY ledger.cancel_request, ONLY ledger.event, ONLY ledger.invocation IN ACCESS EXCLUSIVE MODE"
)
_IN_USE: Final = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)


class NotCounted(Exception):
    """The tree or the figures do not have all of the month in complete tiles yet, and make the rest from its rows."""


class InUse(Exception):
    """Another session reads the Ledger for long, as a check or a backup does."""


async def this_month(connection: Connection) -> Month:
    return Month(await connection.fetchval(_THIS_MONTH))


async def become_owner(connection: Connection) -> None:
    """With the login of migrations."""
    await connection.execute(f"SET ROLE {OWNER_ROLE}")


async def detached(
    connection: Connection, month: Month, path: Path, *, patience_seconds: float = PATIENCE_SECONDS
) -> VerifiedExport:
    """As the owner, in one transaction. Only writers of this month wait for the checks, and all others
    for a moment at the end."""
    judged = await verified(connection, path)
    if judged.month != month:
        raise FileWrong(f"it is of {judged.month}")
    await _require_over(connection, month)  # so that no call of this month waits for a refusal
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL lock_timeout = '10s'")
            await connection.execute(_WITHOUT_VACUUM)
            partitions = ", ".join(f"ledger.{month.partition(table)}" for table in PARTITIONED)
            await connection.execute(f"LOCK TABLE {partitions} IN SHARE MODE")
            await _require_complete(connection, month, judged)
            await _remember(connection, month, judged)
            await _become_alone(connection, patience_seconds)
            for table in PARTITIONED:
                await _take_away(connection, table, month.partition(table))
    except _IN_USE:
        raise InUse from None
    return judged


async def _become_alone(connection: Connection, patience_seconds: float) -> None:
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            async with connection.transaction():
                await connection.execute("SET LOCAL lock_timeout = '100ms'")
                await connection.execute(_ALONE)
                return
        except _IN_USE:
            if time.monotonic() >= deadline:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)


async def _require_over(connection: Connection, month: Month) -> None:
    if (await attached_months(connection))[0] != month:
        raise NotOver(f"an older month than {month} is still attached")
    await require_over(connection, month)


async def _require_complete(connection: Connection, month: Month, judged: VerifiedExport) -> None:
    """Now that nothing more can be written into it."""
    await _require_over(connection, month)
    rows = await connection.fetchval(f"SELECT count(*) FROM ledger.{month.partition('invocation')}")  # noqa: S608
    if rows != judged.last.invocations:
        raise FileWrong(f"{month} has {rows} Invocations, and the file {judged.last.invocations}")
    past = 0 if judged.last_number is None else judged.last_number + 1
    if judged.in_tree != judged.last.events or (await tile_counts(connection)).tiles * NUMBERS_IN_TILE < past:
        raise NotCounted


async def _remember(connection: Connection, month: Month, judged: VerifiedExport) -> None:
    await connection.execute(
        _ADD_MONTH,
        *(month.first_day, month.first_root, month.past_root, judged.last.invocations, judged.last.events),
        *(judged.last_number, bytes.fromhex(judged.last.sha256)),
    )
    await connection.execute(
        "INSERT INTO ledger.detached_trace (trace_id, workspace_id)"  # noqa: S608
        f" SELECT DISTINCT trace_id, workspace_id FROM ledger.{month.partition('invocation')} ON CONFLICT DO NOTHING"
    )


async def _take_away(connection: Connection, table: str, partition: str) -> None:
    """Into a schema where no unit has a right. It stays there until its owner drops it."""
    await connection.execute(f"ALTER TABLE ledger.{table} DETACH PARTITION ledger.{partition}")
    if table == "cancel_request":
        await connection.execute(f"ALTER TABLE ledger.{partition} DROP CONSTRAINT cancel_request_of_invocation")
    await connection.execute(f"ALTER TABLE ledger.{partition} SET SCHEMA {_SCHEMA}")
