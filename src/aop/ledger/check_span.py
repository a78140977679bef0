"""A span of time in the Ledger: which ids, numbers and months its Invocations have."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from aop.ledger.months import Month, attached_months
from aop.store.database import Connection

Pair = tuple[UUID, UUID]
"""An Invocation and its root task, under which the Ledger has it."""
FIRST_ID, LAST_ID = UUID(int=0), UUID(int=(1 << 128) - 1)

_ALL_NUMBERS: Final = """
SELECT (SELECT number FROM ledger.number ORDER BY number LIMIT 1),
       (SELECT number + events - 1 FROM ledger.number ORDER BY number DESC LIMIT 1),
       (SELECT count(*) FROM ledger.invocation)
"""
# By the index of Workspace and time, one Workspace after the other: there is none of time alone, and to look at every
# Invocation for the few of an hour would take longer the larger the Ledger is.
_OF_SPAN: Final = """
WITH RECURSIVE space AS (
    (SELECT workspace_id FROM ledger.invocation ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.workspace_id FROM ledger.invocation AS one WHERE one.workspace_id > space.workspace_id
             ORDER BY one.workspace_id LIMIT 1)
      FROM space WHERE space.workspace_id IS NOT NULL)
SELECT min(found.invocation_id::text COLLATE "C")::uuid, max(found.invocation_id::text COLLATE "C")::uuid,
       min(given.number), max(given.past) - 1, count(found.invocation_id)
  FROM space
 CROSS JOIN LATERAL (SELECT one.invocation_id, one.root_task_id FROM ledger.invocation AS one
                      WHERE one.workspace_id = space.workspace_id
                        AND one.created_at >= coalesce($1::timestamptz, '-infinity')
                        AND one.created_at < coalesce($2::timestamptz, 'infinity')
                     OFFSET 0) AS found
  LEFT JOIN LATERAL (SELECT min(number.number) AS number, max(number.number + number.events) AS past
                       FROM ledger.number
                      WHERE number.invocation_id = found.invocation_id
                        AND number.root_task_id = found.root_task_id) AS given ON true
"""


@dataclass(frozen=True)
class Span:
    """Invocations created at or after `since` and before `until`; None is no bound."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class SpanBounds:
    """The first and last id and number; None if there is none. And how many Invocations there are."""

    ids: tuple[UUID, UUID] | None
    numbers: tuple[int, int] | None
    invocations: int


async def bounds_of(connection: Connection, span: Span) -> SpanBounds:
    if span == Span():
        first, last, count = await connection.fetchrow(_ALL_NUMBERS)
        return SpanBounds((FIRST_ID, LAST_ID), None if first is None else (first, last), count)
    least, greatest, first, last, count = await connection.fetchrow(_OF_SPAN, span.since, span.until)
    return SpanBounds(None if least is None else (least, greatest), None if first is None else (first, last), count)


async def months_of(connection: Connection, span: Span) -> Sequence[Month]:
    """Those that are in the Ledger and that the span touches, the oldest first."""
    return [
        month
        for month in await attached_months(connection)
        if (span.since is None or month >= Month.of(span.since))
        and (span.until is None or month <= Month.of(span.until))
    ]
