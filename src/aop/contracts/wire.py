"""The base of every hand-written reader: frozen, closed, camelCase on the wire, absent members left out."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

import msgspec

from aop.base.clock import to_text

T = TypeVar("T")
D = TypeVar("D", bound="Wire")


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A closed object of a contract document."""


def or_unset(value: T | None) -> T | msgspec.UnsetType:
    """A member that is left out where there is nothing to say."""
    return msgspec.UNSET if value is None else value


def moment_or_unset(moment: datetime | None) -> str | msgspec.UnsetType:
    return msgspec.UNSET if moment is None else to_text(moment)


def to_document(kind: type[D], record: Mapping[str, Any], **members: object) -> D:
    """The columns of a record that have the names of members, times as text, and further members; NULL is left out.

    Every value is checked against the type of its member; columns with other names are passed over.
    """
    wire_names = _wire_names(kind)
    columns = {
        wire_names[column]: to_text(value) if isinstance(value, datetime) else value
        for column, value in record.items()
        if value is not None and column in wire_names
    }
    return msgspec.convert(columns | {wire_names[name]: value for name, value in members.items()}, kind)


def to_document_or_none(kind: type[D], record: Mapping[str, Any] | None) -> D | None:
    return None if record is None else to_document(kind, record)


def to_documents(kind: type[D], records: Iterable[Mapping[str, Any]]) -> Sequence[D]:
    return [to_document(kind, record) for record in records]


@cache
def _wire_names(kind: type[Wire]) -> Mapping[str, str]:
    return {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
