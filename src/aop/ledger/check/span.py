"""A span of time in the Ledger: which ids, numbers and months its Invocations have."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from aop.ledger.months import Month, attached_months
from aop.store.database import Connection
from aop.store.queries import queries_beside

Pair = tuple[UUID, UUID]
"""An Invocation and its root task, under which the Ledger has it."""
FIRST_ID, LAST_ID = UUID(int=0), UUID(int=(1 << 128) - 1)

_QUERIES: Final = queries_beside(__file__)


@dataclass(frozen=True)
class Span:
    """Invocations created at or after `since` and before `until`; None is no bound."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def ids(self) -> Pair:
        """Between which ids those of its Invocations are, as they begin with their time. A Gateway makes one a moment
        before a Router writes when the Invocation was created."""
        return (
            FIRST_ID if self.since is None else _first_id(self.since - timedelta(seconds=1)),
            LAST_ID if self.until is None else _first_id(self.until),
        )


@dataclass(frozen=True)
class SpanBounds:
    """The first and last id and number; None if there is none. And how many Invocations there are."""

    ids: tuple[UUID, UUID] | None
    numbers: tuple[int, int] | None
    invocations: int


def _first_id(moment: datetime) -> UUID:
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)


async def bounds_of(connection: Connection, span: Span) -> SpanBounds:
    if span == Span():
        first, last, count = await connection.fetchrow(_QUERIES["whole"])
        return SpanBounds((FIRST_ID, LAST_ID), None if first is None else (first, last), count)
    least, greatest, first, last, count = await connection.fetchrow(_QUERIES["span"], span.since, span.until)
    return SpanBounds(None if least is None else (least, greatest), None if first is None else (first, last), count)


async def months_of(connection: Connection, span: Span) -> Sequence[Month]:
    """Those that are in the Ledger and that the span touches, the oldest first."""
    return [
        month
        for month in await attached_months(connection)
        if (span.since is None or month >= Month.of(span.since))
        and (span.until is None or month <= Month.of(span.until))
    ]
