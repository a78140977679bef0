"""Readers of the file of an exported month of the Ledger, line by line."""

from typing import Literal

import msgspec

from aop.contracts.wire import Wire


class ExportFirst(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    month: str


class ExportedEvent(Wire, frozen=True, kw_only=True):
    """An event with its number, the bytes of its leaf, and who wrote it; an acceptance has its position."""

    number: int
    router_id: str
    epoch: int
    leaf: msgspec.Raw
    position: int | msgspec.UnsetType = msgspec.UNSET
    cancel_requested_at: str | msgspec.UnsetType = msgspec.UNSET


class ExportLast(Wire, frozen=True, kw_only=True):
    """`sha256` is of all bytes before this line."""

    invocations: int
    events: int
    sha256: str


READERS: dict[str, type] = {
    "ledger-export/1#first": ExportFirst,
    "ledger-export/1#event": ExportedEvent,
    "ledger-export/1#last": ExportLast,
}
