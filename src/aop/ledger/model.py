"""The facts of the Ledger: how an Invocation opens, and each event after that. An illegal fact cannot be built."""

from datetime import datetime
from enum import StrEnum

import msgspec

from aop.contracts.errors import ErrorCode, Reason, fits
from aop.contracts.identity import InvocationContext
from aop.contracts.lineage import EventType, InvocationStatus


class Opening(StrEnum):
    """The last event of an Invocation's acceptance."""

    STARTED = "started"
    ROUTING = "routing"
    CREATED = "created"


OPENING_EVENTS = {
    Opening.CREATED: (EventType.CREATED,),
    Opening.ROUTING: (EventType.CREATED, EventType.ROUTING),
    Opening.STARTED: (EventType.CREATED, EventType.ROUTING, EventType.STARTED),
}
MAX_OPENING_EVENTS = max(map(len, OPENING_EVENTS.values()))
STATUS_AFTER = {
    Opening.CREATED: InvocationStatus.PENDING,
    Opening.ROUTING: InvocationStatus.ROUTING,
    Opening.STARTED: InvocationStatus.RUNNING,
}
_FIXED_CODES = {EventType.TIMED_OUT: ErrorCode.TIMEOUT, EventType.CANCELED: ErrorCode.CANCELED}


class Writer(msgspec.Struct, frozen=True):
    """A Router in one epoch of its own."""

    router_id: str
    epoch: int


class Acceptance(msgspec.Struct, frozen=True):
    context: InvocationContext
    opening: Opening
    event: str
    created_at: datetime
    deadline_at: datetime


class Terminal(msgspec.Struct, frozen=True):
    """How an Invocation ended. TIMEOUT belongs to timed_out and CANCELED to canceled, and failed has neither;
    a reason stands only beside a code it belongs to."""

    type: EventType
    error: ErrorCode | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        fixed = _FIXED_CODES.get(self.type)
        if self.type is EventType.SUCCEEDED:
            allowed = self.error is None
        elif self.type is EventType.FAILED:
            allowed = self.error is not None and self.error not in _FIXED_CODES.values()
        else:
            allowed = fixed is not None and self.error is fixed
        if not allowed:
            raise ValueError(f"{self.type} may not carry {self.error}")
        if self.reason is not None and (self.error is None or not fits(self.error, self.reason)):
            raise ValueError(f"{self.error} may not carry {self.reason}")


SUCCEEDED = Terminal(EventType.SUCCEEDED)
CANCELED = Terminal(EventType.CANCELED, ErrorCode.CANCELED)
TIMED_OUT = Terminal(EventType.TIMED_OUT, ErrorCode.TIMEOUT)
LOST = Terminal(EventType.FAILED, ErrorCode.DEPENDENCY_ERROR, Reason.OUTCOME_UNKNOWN)
"""The terminal of an Invocation whose outcome the platform lost."""
ROUTER_ENDED = Terminal(EventType.FAILED, ErrorCode.DEPENDENCY_ERROR, Reason.ROUTER_RESTARTED)
"""The terminal of an Invocation whose Router ended before it."""
UNSTARTED = Terminal(EventType.FAILED, ErrorCode.DEPENDENCY_ERROR, Reason.STORE_UNAVAILABLE)
"""The terminal of an Invocation whose acceptance was confirmed too late: its Agent was never contacted."""
ENDS_CHILDREN = frozenset({CANCELED, TIMED_OUT})
"""Terminals of a parent that end its running children too."""


class Progress(msgspec.Struct, frozen=True):
    """Chunks since the previous fact: how many, how many bytes of JSON."""

    count: int
    size: int


class LastFact(msgspec.Struct, frozen=True):
    """The last recorded fact of an Invocation: its opening or its last progress."""

    context: InvocationContext
    opening: Opening
    created_at: datetime
    sequence: int
    chunk_index: int | None
    occurred_at: datetime

    @classmethod
    def opened(cls, acceptance: Acceptance, created_at: datetime) -> "LastFact":
        last = len(OPENING_EVENTS[acceptance.opening]) - 1
        return cls(acceptance.context, acceptance.opening, created_at, last, None, created_at)


class Fact(msgspec.Struct, frozen=True):
    """The event that follows the last fact: progress or the terminal."""

    last: LastFact
    event: str
    occurred_at: datetime
    progress: Progress | None = None
    terminal: Terminal | None = None

    @property
    def sequence(self) -> int:
        return self.last.sequence + 1

    @property
    def key(self) -> tuple[str, int]:
        return self.last.context.lineage.invocation, self.sequence

    @property
    def chunk_index(self) -> int | None:
        if self.progress is None:
            return None
        before = -1 if self.last.chunk_index is None else self.last.chunk_index
        return before + self.progress.count

    def as_last(self) -> LastFact:
        """Where the Invocation stands once this progress is recorded."""
        last = self.last
        return LastFact(last.context, last.opening, last.created_at, self.sequence, self.chunk_index, self.occurred_at)


def progress_fact(last_fact: LastFact, event: str, now: datetime, progress: Progress) -> Fact:
    return Fact(last_fact, event, max(now, last_fact.occurred_at), progress=progress)


def terminal_fact(last_fact: LastFact, event: str, now: datetime, terminal: Terminal) -> Fact:
    return Fact(last_fact, event, max(now, last_fact.occurred_at), terminal=terminal)


def latency_ms(fact: Fact) -> int:
    """Whole milliseconds since `created`."""
    elapsed = fact.occurred_at - fact.last.created_at
    return (elapsed.days * 86_400 + elapsed.seconds) * 1000 + elapsed.microseconds // 1000
