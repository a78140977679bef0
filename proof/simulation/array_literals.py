"""The array literals of the Ledger statements, read back into rows as PostgreSQL reads them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

Row = Mapping[str, Any]

_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)')
ACCEPTANCE = (
    *("position", "invocation_id", "root_task_id", "trace_id", "parent_invocation_id", "caller_type", "caller_id"),
    *("workspace_id", "target_agent_id", "agent_card_version", "agent_release_id", "agent_card_digest", "capability"),
    *("opening", "opening_event_id", "created_at", "deadline_at"),
)
EVENT = (
    *("invocation_id", "sequence", "event_id", "occurred_at", "type", "previous_status", "previous_sequence"),
    *("previous_chunk_index", "previous_at", "opening", "trace_id", "root_task_id", "workspace_id", "created_at"),
    *("chunk_index", "chunk_count", "chunk_bytes", "latency_ms", "error_code", "reason"),
)
_IDS = ("invocation_id", "root_task_id", "trace_id", "parent_invocation_id", "agent_release_id", "opening_event_id")
_NUMBERS = ("position", "sequence", "previous_sequence", "previous_chunk_index", "chunk_index", "chunk_count")
_KINDS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys((*ACCEPTANCE, *EVENT), str),
    **dict.fromkeys((*_IDS, "event_id"), UUID),
    **dict.fromkeys((*_NUMBERS, "chunk_bytes", "latency_ms"), int),
    **dict.fromkeys(("created_at", "deadline_at", "occurred_at", "previous_at"), datetime.fromisoformat),
}


def read_rows(names: Sequence[str], columns: Sequence[Any]) -> list[dict[str, Any]]:
    read = [_column(_KINDS[name], values) for name, values in zip(names, columns, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*read, strict=True)]


def _column(kind: Callable[[str], Any], values: Any) -> list[Any]:
    """Columns come as lists, or as the text of an array."""
    items = _items(values) if isinstance(values, str) else list(values)
    return [kind(item) if isinstance(item, str) else item for item in items]


def _items(text: str) -> list[str | None]:
    if '"' not in text:
        return [None if item == "NULL" else item for item in text[1:-1].split(",")]
    return [
        re.sub(r"\\(.)", r"\1", quoted) if quoted else None if plain == "NULL" else plain
        for quoted, plain in _ITEM.findall(text)
    ]
