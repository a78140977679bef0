"""One call of the Gateway as a value: what is sent, how long the platform may take, how the answer is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from aop.base import json as strict_json
from aop.net.headers import Headers
from aop.net.http import Answer

T = TypeVar("T")

# Reads an answer whose status is one of the operation's; a ValueError means that the contract does not know it.
Read = Callable[[Answer], T]
QueryValue = str | int | bool | datetime | None
Document = bytes | msgspec.Struct | Mapping[str, Any]
Input = Mapping[str, Any] | str | bytes
"""An object, a text, or the JSON text of one of the two as bytes."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """The arguments of one operation, as they go on the wire.

    `patience` is how long the platform itself may take; `timeout` is what the caller asked for, if anything. The chunks
    of a stream are read as `result_type` or, without one, as Python values.
    """

    read: Read[T]
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, QueryValue] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    headers: Headers = ()
    anonymous: bool = False
    patience: float = 0.0
    timeout: float | None = None
    result_type: type[Any] | None = None


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list; `next_cursor` is None on the last."""

    items: tuple[T, ...]
    next_cursor: str | None


class _Items(msgspec.Struct, Generic[T], frozen=True, rename="camel", forbid_unknown_fields=True):
    items: tuple[T, ...]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


def json_of(kind: type[T], *, strict: bool = True) -> Read[T]:
    """Reads exactly that document, with nothing missing, repeated or unknown.

    Without `strict` a repeated name inside a value that stays in bytes is not looked for. That search may take as
    long as a unit can not wait, and the reader of those bytes makes it again.
    """
    hashable: Any = kind
    decoder: msgspec.json.Decoder[T] = _decoder(hashable)

    def read(answer: Answer) -> T:
        require_json(answer, strict=strict)
        return decoder.decode(answer.body)

    return read


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def page_of(kind: type[T]) -> Read[Page[T]]:
    """Reads a list of that document."""
    read_items: Read[_Items[T]] = json_of(_Items[kind])  # type: ignore[valid-type]  # known when it runs

    def read(answer: Answer) -> Page[T]:
        found = read_items(answer)
        return Page(found.items, found.next_cursor or None)

    return read


def require_json(answer: Answer, *, strict: bool = True) -> None:
    """Strict JSON under its media type, else ValueError; without `strict` only the media type is judged."""
    media = answer.headers_named(b"content-type")
    if len(media) != 1 or media[0].partition(b";")[0].strip().lower() != b"application/json":
        raise ValueError("it is not JSON by its media type")
    if strict:
        strict_json.parse(answer.body, strict_json.UNIT_DEPTH)


def json_bytes(document: Document) -> bytes:
    """Bytes are JSON text already and stay as they are."""
    return document if isinstance(document, bytes) else msgspec.json.encode(document)
