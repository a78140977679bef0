"""Rows of the Ledger's statements as frozen structs, and the values they were written from."""

from datetime import datetime
from uuid import UUID

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.lineage import EventType
from aop.ledger.model import OPENING_EVENTS, LastFact, Opening
from aop.store.rows import Row


class ContextRow(Row, frozen=True):
    invocation_id: UUID
    root_task_id: UUID
    trace_id: UUID
    parent_invocation_id: UUID | None
    caller_type: CallerType
    caller_id: str
    workspace_id: str
    target_agent_id: str
    agent_card_version: str
    agent_release_id: UUID
    agent_card_digest: bytes
    capability: str

    @property
    def context(self) -> InvocationContext:
        """The Ledger keeps no depth, which only the delegation of a running Invocation needs: it is 0 here."""
        parent = self.parent_invocation_id
        return InvocationContext(
            Lineage(
                f"inv_{self.invocation_id.hex}",
                f"task_{self.root_task_id.hex}",
                self.trace_id.hex,
                None if parent is None else f"inv_{parent.hex}",
            ),
            Pin(
                self.workspace_id,
                self.target_agent_id,
                self.agent_card_version,
                f"rel_{self.agent_release_id.hex}",
                self.agent_card_digest.hex(),
            ),
            Caller(type=self.caller_type, id=self.caller_id),
            self.capability,
        )


class AcceptedRow(ContextRow, frozen=True):
    """The acceptance of an Invocation, which stands for up to three events."""

    opening: Opening
    opening_event_id: UUID
    created_at: datetime
    deadline_at: datetime
    authorization_digest: bytes | None


class RecordRow(AcceptedRow, frozen=True):
    updated_at: datetime
    outcome: EventType | None
    latency_ms: int | None
    error_code: ErrorCode | None
    reason: Reason | None


class TracePartRow(Row, frozen=True):
    """Invocations of one Trace that called the same Agent and ended the same way."""

    trace_id: UUID
    target_agent_id: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None
    invocations: int
    updated_at: datetime
    """The latest of them."""


class EventRow(Row, frozen=True):
    event_id: UUID
    sequence: int
    occurred_at: datetime
    type: EventType
    chunk_index: int | None
    chunk_count: int | None
    chunk_bytes: int | None
    latency_ms: int | None
    error_code: ErrorCode | None
    reason: Reason | None


class ParentRow(ContextRow, frozen=True):
    opening: Opening
    outcome: EventType | None
    in_root_task: int


class OpenRow(ContextRow, frozen=True):
    """An Invocation without a terminal; `sequence`, `chunk_index` and `occurred_at` are of its last progress."""

    opening: Opening
    created_at: datetime
    sequence: int | None
    chunk_index: int | None
    occurred_at: datetime | None
    cancel_requested: bool

    @property
    def last_fact(self) -> LastFact:
        if self.sequence is None or self.occurred_at is None:
            last = len(OPENING_EVENTS[self.opening]) - 1
            return LastFact(self.context, self.opening, self.created_at, last, None, self.created_at)
        return LastFact(self.context, self.opening, self.created_at, self.sequence, self.chunk_index, self.occurred_at)


def columns(kind: type[Row], table: str) -> str:
    """The columns of a row that a table or view has under the names of its fields."""
    return ", ".join(f"{table}.{name}" for name in kind.__struct_fields__)
