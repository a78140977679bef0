"""Rows as frozen structs, and pages of rows that end at a number of rows or at a number of bytes."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from aop.store.database import Connection


class Row(msgspec.Struct, frozen=True, array_like=True):
    """The columns of a statement, in its order. Columns after the last field are left out."""


R = TypeVar("R", bound=Row)


def to_row(kind: type[R], record: Iterable[Any]) -> R:
    """Built by position in C: cheaper than one lookup by name for each column, and every value is checked."""
    return msgspec.convert(tuple(record), kind)


def to_row_or_none(kind: type[R], record: Iterable[Any] | None) -> R | None:
    return None if record is None else to_row(kind, record)


def to_rows(kind: type[R], records: Iterable[Iterable[Any]]) -> Sequence[R]:
    return [to_row(kind, record) for record in records]


class PageSize(msgspec.Struct, frozen=True):
    """At most so many rows, and no further row once they pass so many bytes."""

    limit: int
    max_bytes: int

    @property
    def rows(self) -> int:
        """What a statement reads: one row more than the limit tells whether there is a next page."""
        return self.limit + 1


class RowPage(msgspec.Struct, Generic[R], frozen=True):
    rows: Sequence[R]
    found: int
    """How many rows the statement has, with those that the page leaves out."""

    @property
    def is_last(self) -> bool:
        return self.found <= len(self.rows)


async def fetch_page(
    connection: Connection, kind: type[R], query: str, values: Sequence[Any], *, size: PageSize, order: str
) -> RowPage[R]:
    """A page of a query as `weighed` takes it; its limit is `size.rows`."""
    records = await connection.fetch(weighed(query, size=size, order=order), *values)
    return RowPage(to_rows(kind, records[: size.limit]), records[0]["found"] if records else 0)


def weighed(query: str, *, size: PageSize, order: str) -> str:
    """Wraps a limited query with a column `weight`: it ends once its rows pass the bytes, and has at least one row.

    Two columns are added at the end. `found` tells in each row how many rows the inner query has.
    """
    return (  # the parts are constants of our own
        f"SELECT * FROM (SELECT page.*, count(*) OVER () AS found,"  # noqa: S608
        f" sum(weight) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) - weight AS weight_before"
        f" FROM ({query}) AS page) AS weighed WHERE weight_before < {size.max_bytes} ORDER BY {order}"
    )
