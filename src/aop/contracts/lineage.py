"""Readers of the Ledger's documents: Invocation Event v0.3, Invocation Record, detail, Trace and its list item."""

from enum import StrEnum
from typing import Final, Literal

import msgspec

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import Caller
from aop.contracts.invocation import CorrelatedError
from aop.contracts.wire import Wire

MAX_IN_TRACE_PAGE: Final = 1000
MAX_AGENTS_OF_ITEM: Final = 20


class EventType(StrEnum):
    CREATED = "created"
    ROUTING = "routing"
    STARTED = "started"
    STREAM = "stream"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    TIMED_OUT = "timed_out"


class InvocationStatus(StrEnum):
    PENDING = "pending"
    ROUTING = "routing"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    TIMED_OUT = "timed_out"


STATUS_OF_EVENT = {
    EventType.CREATED: InvocationStatus.PENDING,
    EventType.ROUTING: InvocationStatus.ROUTING,
    EventType.STARTED: InvocationStatus.RUNNING,
    EventType.STREAM: InvocationStatus.RUNNING,
    EventType.SUCCEEDED: InvocationStatus.SUCCEEDED,
    EventType.FAILED: InvocationStatus.FAILED,
    EventType.CANCELED: InvocationStatus.CANCELED,
    EventType.TIMED_OUT: InvocationStatus.TIMED_OUT,
}

TRANSITIONS: dict[InvocationStatus, frozenset[EventType]] = {
    InvocationStatus.PENDING: frozenset({EventType.ROUTING, EventType.CANCELED, EventType.TIMED_OUT}),
    InvocationStatus.ROUTING: frozenset({EventType.STARTED, EventType.FAILED, EventType.CANCELED, EventType.TIMED_OUT}),
    InvocationStatus.RUNNING: frozenset(
        {EventType.STREAM, EventType.SUCCEEDED, EventType.FAILED, EventType.CANCELED, EventType.TIMED_OUT}
    ),
}

TERMINAL_STATUSES = frozenset(InvocationStatus) - TRANSITIONS.keys()

FAILURE_STATUSES = frozenset({InvocationStatus.FAILED, InvocationStatus.TIMED_OUT})
"""A cancellation is a choice of the caller, not a failure."""

RECORDED_CODES = frozenset(
    {
        ErrorCode.AGENT_AUTH_UNSUPPORTED,
        ErrorCode.AGENT_RESPONSE_TOO_LARGE,
        ErrorCode.AGENT_EXECUTION_FAILED,
        ErrorCode.A2A_PROTOCOL_ERROR,
        ErrorCode.ROUTE_NOT_FOUND,
        ErrorCode.AGENT_UNAVAILABLE,
        ErrorCode.DEPENDENCY_ERROR,
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.CANCELED,
        ErrorCode.TIMEOUT,
    }
)
"""The codes that an Invocation can end with."""


class InvocationOrder(StrEnum):
    NEWEST = "newest"
    SLOWEST = "slowest"
    """Those that ended, by latency."""


class RecordedContext(Wire, frozen=True, kw_only=True):
    """What a record and each of its events repeat."""

    invocation_id: str
    root_task_id: str
    parent_invocation_id: str | msgspec.UnsetType = msgspec.UNSET
    trace_id: str
    caller: Caller
    workspace_id: str
    target_agent_id: str
    agent_card_version: str
    agent_release_id: str
    agent_card_digest: str
    capability: str


class EventFacts(RecordedContext, frozen=True, kw_only=True):
    """An event without its error."""

    schema_version: Literal["0.3"]
    event_id: str
    sequence: int
    occurred_at: str
    type: EventType
    status: InvocationStatus
    authorization_digest: str | msgspec.UnsetType = msgspec.UNSET
    deadline_at: str | msgspec.UnsetType = msgspec.UNSET
    chunk_index: int | msgspec.UnsetType = msgspec.UNSET
    chunk_count: int | msgspec.UnsetType = msgspec.UNSET
    chunk_bytes: int | msgspec.UnsetType = msgspec.UNSET
    latency_ms: int | msgspec.UnsetType = msgspec.UNSET


class InvocationEvent(EventFacts, frozen=True, kw_only=True):
    error: CorrelatedError | msgspec.UnsetType = msgspec.UNSET


class InvocationRecord(RecordedContext, frozen=True, kw_only=True):
    status: InvocationStatus
    latency_ms: int | msgspec.UnsetType = msgspec.UNSET
    error_code: ErrorCode | msgspec.UnsetType = msgspec.UNSET
    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    created_at: str
    updated_at: str
    deadline_at: str


class InvocationDetail(Wire, frozen=True, kw_only=True):
    invocation: InvocationRecord
    events: tuple[InvocationEvent, ...]


class Trace(Wire, frozen=True, kw_only=True):
    """`next_cursor` is there only if more than MAX_IN_TRACE_PAGE Invocations make several pages of it."""

    trace_id: str
    invocations: tuple[InvocationRecord, ...]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class TraceError(Wire, frozen=True, kw_only=True):
    error_code: ErrorCode
    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    count: int


class TraceItem(Wire, frozen=True, kw_only=True):
    """A Trace as a list shows it. `agents` are the most often called, at most MAX_AGENTS_OF_ITEM."""

    trace_id: str
    root: InvocationRecord
    invocations: int
    running: int
    failures: int
    errors: tuple[TraceError, ...]
    agents: tuple[str, ...]
    agent_count: int
    duration_ms: int


READERS: dict[str, type] = {
    "invocation-event/0.3": InvocationEvent,
    "invocation-record/2": InvocationRecord,
    "invocation-detail/2": InvocationDetail,
    "trace/2": Trace,
    "trace-item/1": TraceItem,
}
