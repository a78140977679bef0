"""Which Invocations a list has, which page of it is read, and the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import InvocationOrder, InvocationStatus

T = TypeVar("T")
Position = tuple[datetime, str] | tuple[int, str]
"""Of an Invocation in a list: when it was created, or how many milliseconds it took; and its id."""


@dataclass(frozen=True)
class RecordFilter:
    """All parts must match; None matches everything."""

    status: InvocationStatus | None = None
    agent_id: str | None = None
    capability: str | None = None
    caller_id: str | None = None
    """A principal; the id of an Agent that called is never meant."""
    root: bool | None = None
    trace_id: str | None = None
    error_code: ErrorCode | None = None
    reason: Reason | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class ListRead:
    """One page of a list of a Workspace, behind a position of it."""

    workspace_id: str
    limit: int
    filters: RecordFilter = RecordFilter()
    order: InvocationOrder = InvocationOrder.NEWEST
    after: Position | None = None


@dataclass(frozen=True)
class LedgerPage(Generic[T]):
    items: Sequence[T]
    last: Position | None
    """Where the next page goes on; None at the end of the list."""
