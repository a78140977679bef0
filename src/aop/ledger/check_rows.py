"""What a check of the Ledger reads beside Invocations and events: epochs, checkpoints, and lone rows."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Final

from aop.ledger.months import Month
from aop.store.database import Connection
from aop.store.rows import Row, to_row

_BATCH = 500


class EpochRow(Row, frozen=True):
    """`before` is the epoch in front of it, 0 for the first."""

    router_id: str
    epoch: int
    before: int
    is_newest: bool
    is_closed: bool


class LostCheckpointRow(Row, frozen=True):
    """A checkpoint that is named and not there, and what names it."""

    router_id: str
    epoch: int
    position: int
    named_by: str


_EPOCHS: Final = """
SELECT epoch.router_id, epoch.epoch, lag(epoch.epoch, 1, 0::bigint) OVER lives AS before,
       lead(epoch.epoch) OVER lives IS NULL AS is_newest, closed.epoch IS NOT NULL AS is_closed
  FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
WINDOW lives AS (PARTITION BY epoch.router_id ORDER BY epoch.epoch)
"""
# A checkpoint or a count from before a span can belong to no Invocation of it.
_CHECKPOINTS: Final = (
    "SELECT count(*) FROM ledger.checkpoint WHERE recorded_at >= coalesce($1::timestamptz, '-infinity')"
)
_LOST_CHECKPOINTS: Final = """
SELECT one.router_id, one.epoch, one.before AS position, 'the checkpoint at ' || one.position AS named_by
  FROM ledger.checkpoint AS one
 WHERE one.recorded_at >= coalesce($1::timestamptz, '-infinity') AND one.before > 0
   AND (SELECT true FROM ledger.checkpoint AS last WHERE last.router_id = one.router_id AND last.epoch = one.epoch
           AND last.position = one.before) IS NULL
UNION ALL
SELECT DISTINCT calls.router_id, calls.epoch, calls.position, 'the calls that it counted' AS named_by
  FROM ledger.release_calls AS calls
 WHERE calls.minute >= date_trunc('minute', coalesce($1::timestamptz, '-infinity'))
   AND (SELECT true FROM ledger.checkpoint AS last WHERE last.router_id = calls.router_id AND last.epoch = calls.epoch
           AND last.position = calls.position) IS NULL
"""


async def epochs(connection: Connection) -> AsyncGenerator[EpochRow, None]:
    async for record in connection.cursor(_EPOCHS, prefetch=_BATCH):
        yield to_row(EpochRow, record)


async def checkpoints(connection: Connection, since: datetime | None) -> int:
    """How many there are."""
    count: int = await connection.fetchval(_CHECKPOINTS, since)
    return count


async def lost_checkpoints(connection: Connection, since: datetime | None) -> AsyncGenerator[LostCheckpointRow, None]:
    async for record in connection.cursor(_LOST_CHECKPOINTS, since, prefetch=_BATCH):
        yield to_row(LostCheckpointRow, record)


async def strays(connection: Connection, table: str, month: Month) -> AsyncGenerator[str, None]:
    """Invocations that rows of this table name and no acceptance leads to; both are in the same month."""
    query = (
        f"SELECT DISTINCT invocation_id FROM ledger.{table} WHERE root_task_id >= $1 AND root_task_id < $2"  # noqa: S608
        f" AND NOT EXISTS (SELECT FROM ledger.invocation WHERE invocation.invocation_id = {table}.invocation_id"
        f"   AND invocation.root_task_id = {table}.root_task_id"
        "    AND invocation.root_task_id >= $1 AND invocation.root_task_id < $2)"
    )
    async for record in connection.cursor(query, month.first_root, month.past_root, prefetch=_BATCH):
        yield f"inv_{record[0].hex}"
