"""The Ledger's documents, made from its rows."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from aop.base.clock import to_text
from aop.contracts.identity import Caller, InvocationContext, Lineage, LineageIds, PinMembers
from aop.contracts.invocation import correlated_error
from aop.contracts.lineage import STATUS_OF_EVENT, EventType, InvocationEvent, InvocationRecord
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER
from aop.ledger.rows import AcceptedRow, EventRow, RecordRow

T = TypeVar("T")


def record_of(row: RecordRow) -> InvocationRecord:
    return InvocationRecord(
        **members_of(row.context),
        status=STATUS_AFTER[row.opening] if row.outcome is None else STATUS_OF_EVENT[row.outcome],
        latency_ms=unset(row.latency_ms),
        error_code=unset(row.error_code),
        reason=unset(row.reason),
        created_at=to_text(row.created_at),
        updated_at=to_text(row.updated_at),
        deadline_at=to_text(row.deadline_at),
    )


class ContextMembers(LineageIds, PinMembers):
    """What a record and each of its events repeat."""

    parent_invocation_id: str | msgspec.UnsetType
    caller: Caller
    capability: str


def members_of(context: InvocationContext) -> ContextMembers:
    parent = context.lineage.parent
    return {
        **context.lineage.ids,
        **context.pin.members,
        "parent_invocation_id": msgspec.UNSET if parent is None else parent,
        "caller": context.caller,
        "capability": context.capability,
    }


def unset(value: T | None) -> T | msgspec.UnsetType:
    """A document has no member where the store has no value."""
    return msgspec.UNSET if value is None else value


def opening_events(row: AcceptedRow, members: ContextMembers) -> Sequence[InvocationEvent]:
    """The events of the acceptance, which is one row: same moment, consecutive ids."""
    return [
        InvocationEvent(
            schema_version="0.3",
            event_id=f"evt_{row.opening_event_id.int + sequence:032x}",
            sequence=sequence,
            occurred_at=to_text(row.created_at),
            type=kind,
            status=STATUS_OF_EVENT[kind],
            authorization_digest=_authorization(row) if kind is EventType.CREATED else msgspec.UNSET,
            deadline_at=to_text(row.deadline_at) if kind is EventType.CREATED else msgspec.UNSET,
            **members,
        )
        for sequence, kind in enumerate(OPENING_EVENTS[row.opening])
    ]


def _authorization(row: AcceptedRow) -> str | msgspec.UnsetType:
    return msgspec.UNSET if row.authorization_digest is None else row.authorization_digest.hex()


def event_of(row: EventRow, lineage: Lineage, members: ContextMembers) -> InvocationEvent:
    code = row.error_code
    return InvocationEvent(
        schema_version="0.3",
        event_id=f"evt_{row.event_id.hex}",
        sequence=row.sequence,
        occurred_at=to_text(row.occurred_at),
        type=row.type,
        status=STATUS_OF_EVENT[row.type],
        chunk_index=unset(row.chunk_index),
        chunk_count=unset(row.chunk_count),
        chunk_bytes=unset(row.chunk_bytes),
        latency_ms=unset(row.latency_ms),
        error=msgspec.UNSET if code is None else correlated_error(code, row.reason, lineage),
        **members,
    )
