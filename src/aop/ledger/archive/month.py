"""Months of the Ledger: the ids of root tasks that one has, and the partitions that are there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID

from aop.store.database import Connection

PARTITIONED: Final = ("cancel_request", "event", "invocation")
"""In the order in which they can be taken away: requests name Invocations."""
_NAME: Final = re.compile(r"(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])")
_ATTACHED: Final = (
    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
    " WHERE inhparent = 'ledger.invocation'::regclass ORDER BY relname"
)


@dataclass(frozen=True, order=True)
class Month:
    """Of UTC. The id of a root task is a UUIDv7, which begins with its time."""

    first_day: date

    @classmethod
    def parse(cls, text: str) -> "Month":
        """Raises ValueError unless it is like 2026-03."""
        found = _NAME.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(date(int(found[1]), int(found[2]), 1))

    @classmethod
    def of(cls, moment: datetime) -> "Month":
        return cls(moment.astimezone(UTC).date().replace(day=1))

    @classmethod
    def of_root(cls, root_task: UUID) -> "Month":
        return cls.of(datetime.fromtimestamp((root_task.int >> 80) / 1000, UTC))

    @property
    def next(self) -> "Month":
        year, month = divmod(self.first_day.year * 12 + self.first_day.month, 12)
        return Month(date(year, month + 1, 1))

    @property
    def first_root(self) -> UUID:
        begun = datetime.combine(self.first_day, datetime.min.time(), UTC)
        return UUID(int=int(begun.timestamp() * 1000) << 80)

    @property
    def past_root(self) -> UUID:
        return self.next.first_root

    def partition(self, table: str) -> str:
        return f"{table}_{self.first_day:%Y_%m}"

    def __str__(self) -> str:
        return f"{self.first_day:%Y-%m}"


async def attached_months(connection: Connection) -> Sequence[Month]:
    """The oldest first."""
    names = [row[0] for row in await connection.fetch(_ATTACHED)]
    return [Month.parse(name[-7:].replace("_", "-")) for name in names]
