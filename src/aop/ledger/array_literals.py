"""Columns of values as array literals, for the two statements that write to the Ledger.

A statement that writes many rows takes one array per column. Given lists, the driver looks at every element twice and
encodes each for itself, which costs more than the rest of the write. Given one text per column, it copies bytes, and
PostgreSQL reads the array. A column of bytes stays a list: its text would be twice as long.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

_SQL_TYPES = {"word": "text", "moment": "timestamptz"}


def parameters(kinds: Sequence[str], first: int) -> str:
    """The parameters of a statement for columns of these kinds, numbered from `first`."""
    return ", ".join(
        f"${number}" if kind == "bytea" else f"${number}::text::{_SQL_TYPES.get(kind, kind)}[]"
        for number, kind in enumerate(kinds, first)
    )


def columns(rows: Iterable[Sequence[Any]], kinds: Sequence[str]) -> list[Any]:
    """The rows turned into columns, one value for each parameter."""
    return [_LITERALS[kind](column) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]


def _plain(values: Sequence[Any]) -> str:
    """Ids, numbers and words of our own: nothing in them needs a quote."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def _quoted(values: Sequence[str | None]) -> str:
    texts = ["NULL" if value is None else f'"{value}"' for value in values]
    if any("\\" in text or text.count('"') > 2 for text in texts):
        texts = ["NULL" if value is None else f'"{_escaped(value)}"' for value in values]
    return "{" + ",".join(texts) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _moments(values: Sequence[datetime | None]) -> str:
    return "{" + ",".join(["NULL" if value is None else value.isoformat() for value in values]) + "}"


_LITERALS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "uuid": _plain,
    "integer": _plain,
    "bigint": _plain,
    "word": _plain,
    "text": _quoted,
    "moment": _moments,
    "bytea": list,
}
