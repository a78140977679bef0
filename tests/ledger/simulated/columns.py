"""The arguments of statements that write to the Ledger, as PostgreSQL reads them: columns of many rows, or one row."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

_READERS: Mapping[str, Any] = {"uuid": UUID, "moment": datetime.fromisoformat, "integer": int, "bigint": int}


def read_rows(names: Sequence[str], kinds: Sequence[str], columns: Sequence[Any]) -> list[dict[str, Any]]:
    """The columns of a statement that writes, as PostgreSQL reads them."""
    read = [_column(_READERS.get(kind, str), values) for kind, values in zip(kinds, columns, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*read, strict=True)]


def columns_of(kinds: Sequence[str], row: Sequence[Any]) -> Iterator[list[Any]]:
    """The values of one row as columns of it alone."""
    read = {"uuid": UUID, "word": str}
    return ([one and read.get(kind, lambda same: same)(one)] for kind, one in zip(kinds, row, strict=True))


def _column(read: Callable[[str], Any], values: Any) -> list[Any]:
    """A list, or the text of an array."""
    if not isinstance(values, str):
        return list(values)
    items = next(csv.reader([values[1:-1]], doublequote=False, escapechar="\\"))
    return [None if item == "NULL" else read(item) for item in items]
