"""Columns of values as array literals, for the two statements that write to the Ledger.

A statement that writes many rows takes one array per column. Given lists, the driver looks at every element twice and
encodes each for itself, which costs more than the rest of the write. Given one text per column, it copies bytes, and
PostgreSQL reads the array. A column of bytes stays a list: its text would be twice as long.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from aop.base.clock import to_text

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


def _words(values: Sequence[str | None]) -> str:
    """Ids and words of our own: nothing in them needs a quote."""
    if values[0] is not None:
        try:
            return "{" + ",".join(cast("Sequence[str]", values)) + "}"
        except TypeError:
            pass  # some are missing
    return _plain(values)


def _plain(values: Sequence[Any]) -> str:
    """Likewise, of any type."""
    if values[0] is None and values.count(None) == len(values):
        return "{NULL" + ",NULL" * (len(values) - 1) + "}"
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def _quoted(values: Sequence[str | None]) -> str:
    if None not in values:
        # Looked for in one text instead of in each: a quote or a backslash of a caller's own would end its element, and
        # what follows would be read as others. Two quotes for each are those written here.
        joined = '{"' + '","'.join(cast("Sequence[str]", values)) + '"}'
        if "\\" not in joined and joined.count('"') == 2 * len(values):  # nothing needs an escape, as nearly always
            return joined
    texts = ["NULL" if value is None else f'"{value}"' for value in values]
    if any("\\" in text or text.count('"') > 2 for text in texts):
        texts = ["NULL" if value is None else f'"{_escaped(value)}"' for value in values]
    return "{" + ",".join(texts) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _moments(values: Sequence[datetime | None]) -> str:
    return _words([None if value is None else to_text(value) for value in values])


_LITERALS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "uuid": _words,
    "integer": _plain,
    "bigint": _plain,
    "word": _words,
    "text": _quoted,
    "moment": _moments,
    "bytea": list,
}
