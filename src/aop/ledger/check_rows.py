"""What a check of the Ledger reads: every Invocation and event of a range, in batches, as they are in the store.

Codes and statuses stay texts here, because it is the check that says whether they are right.
"""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from aop.contracts.lineage import EventType
from aop.ledger.archive.month import Month
from aop.ledger.check_span import Pair
from aop.ledger.model import Opening
from aop.ledger.rows import columns
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


class OpeningRow(Row, frozen=True):
    """The acceptance of an Invocation."""

    invocation_id: UUID
    root_task_id: UUID
    trace_id: UUID
    parent_invocation_id: UUID | None
    caller_type: str
    caller_id: str
    workspace_id: str
    target_agent_id: str
    agent_card_digest: bytes
    router_id: str
    epoch: int
    position: int
    opening: Opening
    created_at: datetime


class CheckedInvocation(msgspec.Struct, frozen=True):
    """With its parent, when the store has that, and the facts of its epoch; `settled` is the last checkpoint.

    `is_lost` if the sequencer has passed its position and it has no number.
    """

    opened: OpeningRow
    parent: OpeningRow | None
    opened_epoch: int | None
    closed_epoch: int | None
    settled: int | None
    is_lost: bool

    @property
    def name(self) -> str:
        return f"inv_{self.opened.invocation_id.hex}"

    @property
    def pair(self) -> Pair:
        """Under which the Ledger has it."""
        return self.opened.invocation_id, self.opened.root_task_id


class CheckedEvent(Row, frozen=True):
    invocation_id: UUID
    sequence: int
    occurred_at: datetime
    type: EventType
    previous_status: str
    router_id: str
    epoch: int
    opening: str | None
    trace_id: UUID | None
    root_task_id: UUID
    workspace_id: str | None
    created_at: datetime | None
    chunk_index: int | None
    chunk_count: int | None
    chunk_bytes: int | None
    latency_ms: int | None
    error_code: str | None
    reason: str | None


_EPOCHS = """
SELECT epoch.router_id, epoch.epoch, lag(epoch.epoch, 1, 0::bigint) OVER lives AS before,
       lead(epoch.epoch) OVER lives IS NULL AS is_newest, closed.epoch IS NOT NULL AS is_closed
  FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
WINDOW lives AS (PARTITION BY epoch.router_id ORDER BY epoch.epoch)
"""
_INVOCATIONS = f"""
SELECT {columns(OpeningRow, "invocation")}, {columns(OpeningRow, "parent")}, opened.epoch, closed.epoch,
       (SELECT max(position) FROM ledger.checkpoint
         WHERE checkpoint.router_id = invocation.router_id AND checkpoint.epoch = invocation.epoch),
       coalesce(invocation.position < (SELECT max(position) FROM ledger.numbered_position AS mark
         WHERE mark.router_id = invocation.router_id AND mark.epoch = invocation.epoch), false)
       AND NOT EXISTS (SELECT FROM ledger.number
                        WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0)
  FROM unnest($1::uuid[], $2::uuid[]) AS named (invocation_id, root_task_id)
  JOIN ledger.invocation USING (invocation_id, root_task_id)
  LEFT JOIN ledger.invocation AS parent ON parent.invocation_id = invocation.parent_invocation_id
  LEFT JOIN ledger.epoch AS opened ON opened.router_id = invocation.router_id AND opened.epoch = invocation.epoch
  LEFT JOIN ledger.epoch_closed AS closed ON closed.router_id = invocation.router_id AND closed.epoch = invocation.epoch
 ORDER BY invocation.invocation_id, invocation.root_task_id
"""  # noqa: S608
_EVENTS = (
    f"SELECT {columns(CheckedEvent, 'event')} FROM ledger.event"  # noqa: S608
    " WHERE invocation_id = ANY($1) AND root_task_id = ANY($2) ORDER BY invocation_id, root_task_id, sequence"
)


async def epochs(connection: Connection) -> AsyncGenerator[EpochRow, None]:
    async for record in connection.cursor(_EPOCHS, prefetch=_BATCH):
        yield to_row(EpochRow, record)


async def invocations(
    connection: Connection, named: Sequence[Pair]
) -> AsyncGenerator[Sequence[CheckedInvocation], None]:
    """In the order of their ids and root tasks, in batches."""
    for start in range(0, len(named), _BATCH):
        ids, roots = zip(*named[start : start + _BATCH], strict=True)
        yield [_checked_invocation(record) for record in await connection.fetch(_INVOCATIONS, ids, roots)]


async def events(connection: Connection, batch: Sequence[CheckedInvocation]) -> AsyncGenerator[CheckedEvent, None]:
    """Of the Invocations of a batch, in the same order, each Invocation's by sequence."""
    ids, roots = [item.opened.invocation_id for item in batch], {item.opened.root_task_id for item in batch}
    async for record in connection.cursor(_EVENTS, ids, list(roots), prefetch=_BATCH):
        yield to_row(CheckedEvent, record)


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


def _checked_invocation(record: Sequence[Any]) -> CheckedInvocation:
    width = len(OpeningRow.__struct_fields__)
    parent = None if record[width] is None else to_row(OpeningRow, record[width : 2 * width])
    return CheckedInvocation(to_row(OpeningRow, record[:width]), parent, *record[2 * width :])
