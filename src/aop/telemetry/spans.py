"""Spans as values: open ones that may have children, and ended ones that may be exported."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aop.net.headers import TraceParent

Attribute = str | int | bool
Attributes = Mapping[str, Attribute]


class SpanKind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"


@dataclass(slots=True)
class OpenSpan:
    """`parent_id` is None for the root of a trace; an unsampled span is passed on but never exported."""

    trace_id: str
    span_id: str
    parent_id: str | None
    sampled: bool
    attributes: dict[str, Attribute] = field(default_factory=dict)
    failed: bool = False

    def header(self) -> tuple[bytes, bytes]:
        return self.header_of(self.span_id)

    def header_of(self, child_id: str) -> tuple[bytes, bytes]:
        """The header by which the next unit knows that it is called from this span, or from a child of it."""
        return TraceParent(self.trace_id, child_id, self.sampled).header()


@dataclass(frozen=True, slots=True)
class EndedSpan:
    """Times are nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: SpanKind
    start: int
    end: int
    attributes: Attributes
    failed: bool


def agent_span_id(invocation_id: str) -> str:
    """Follows from the Invocation, so that whichever Router a nested call reaches knows the span it was made from."""
    return hashlib.blake2b(invocation_id.encode(), digest_size=8, person=b"aop agent span").hexdigest()
