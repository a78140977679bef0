"""The read handle of the Ledger: an Invocation with its events, a Trace, a Workspace's list, a Release's calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import msgspec

from aop.base.clock import to_text
from aop.base.ids import hex_part
from aop.contracts.identity import Caller, InvocationContext, Lineage, LineageIds, PinMembers
from aop.contracts.invocation import correlated_error
from aop.contracts.lineage import (
    STATUS_OF_EVENT,
    EventType,
    InvocationDetail,
    InvocationEvent,
    InvocationRecord,
    Trace,
)
from aop.contracts.reach import ReleaseCalls
from aop.ledger import reads
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER, Opening
from aop.ledger.reads import RecordFilter
from aop.ledger.release_calls import calls_of
from aop.ledger.rows import EventRow, RecordRow
from aop.store.database import Database

T = TypeVar("T")

__all__ = ["LedgerReader", "LineageBroken", "ParentFacts", "RecordFilter", "RecordPage"]


class LineageBroken(Exception):
    """Stored facts contradict each other. This is never shown as absence."""


@dataclass(frozen=True)
class RecordPage:
    records: Sequence[InvocationRecord]
    last: tuple[datetime, str] | None


@dataclass(frozen=True)
class ParentFacts:
    """Facts of an Invocation that decide whether it may call another."""

    context: InvocationContext
    running: bool
    invocations_of_root_task: int


class LedgerReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def detail(self, workspace_id: str, invocation_id: str) -> InvocationDetail | None:
        """None also if the text is no id of an Invocation."""
        invocation = hex_part(invocation_id, "inv")
        if invocation is None:
            return None
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            row = await reads.record(connection, workspace_id, invocation)
            if row is None:
                return None
            events = await reads.events(connection, invocation)
        record, members = _record(row), _members(row.context)
        chain = (*_opening_events(row, members), *(_event(event, row.context.lineage, members) for event in events))
        if [event.sequence for event in chain] != list(range(len(chain))) or chain[-1].status != record.status:
            raise LineageBroken("the events do not form one chain")
        return InvocationDetail(invocation=record, events=chain)

    async def trace(self, workspace_id: str, trace: str) -> Trace | None:
        async with self._database.connection() as connection:
            rows = await reads.trace(connection, workspace_id, trace)
        if not rows:
            return None
        return Trace(trace_id=trace, invocations=tuple(_parents_first([_record(row) for row in rows])))

    async def parent(self, invocation_id: str) -> ParentFacts | None:
        invocation = hex_part(invocation_id, "inv")
        async with self._database.connection() as connection:
            row = None if invocation is None else await reads.parent(connection, invocation)
        if row is None:
            return None
        running = row.opening is Opening.STARTED and row.outcome is None
        return ParentFacts(row.context, running, row.in_root_task)

    async def ended_with_children(self, invocations: Sequence[str]) -> Sequence[str]:
        """Those that were canceled or timed out, which ends their children."""
        async with self._database.connection() as connection:
            digits = [invocation.removeprefix("inv_") for invocation in invocations]
            return [f"inv_{ended}" for ended in await reads.ended_with_children(connection, digits)]

    async def calls_of(self, release_id: str) -> ReleaseCalls | None:
        """None if the text is no id of a Release."""
        release = hex_part(release_id, "rel")
        if release is None:
            return None
        async with self._database.transaction(readonly=True) as connection:
            row = await calls_of(connection, release)
        return ReleaseCalls(
            release_id=release_id, calls_last_hour=row.last_hour, calls_last_day=row.last_day, running=row.running
        )

    async def page(
        self, workspace_id: str, filters: RecordFilter, after: tuple[datetime, str] | None, limit: int
    ) -> RecordPage:
        async with self._database.connection() as connection:
            rows = await reads.page(connection, workspace_id, filters, after, limit + 1)
        items = rows[:limit]
        last = (items[-1].created_at, items[-1].invocation_id.hex) if len(rows) > limit else None
        return RecordPage([_record(row) for row in items], last)


def _parents_first(records: Sequence[InvocationRecord]) -> Sequence[InvocationRecord]:
    """Roots by creation, then their children, level by level. A missing or cyclic parent leaves records out."""
    if len({record.root_task_id for record in records}) != 1:
        raise LineageBroken("one Trace has two root Tasks")
    children: dict[str | msgspec.UnsetType, list[InvocationRecord]] = {}
    for record in sorted(records, key=lambda record: (record.created_at, record.invocation_id)):
        children.setdefault(record.parent_invocation_id, []).append(record)
    ordered = list(children.get(msgspec.UNSET, ()))
    for record in ordered:
        ordered.extend(children.get(record.invocation_id, ()))
    if len(ordered) != len(records):
        raise LineageBroken("a parent is missing")
    return ordered


def _record(row: RecordRow) -> InvocationRecord:
    return InvocationRecord(
        **_members(row.context),
        status=STATUS_AFTER[row.opening] if row.outcome is None else STATUS_OF_EVENT[row.outcome],
        latency_ms=_unset(row.latency_ms),
        error_code=_unset(row.error_code),
        reason=_unset(row.reason),
        created_at=to_text(row.created_at),
        updated_at=to_text(row.updated_at),
        deadline_at=to_text(row.deadline_at),
    )


class _ContextMembers(LineageIds, PinMembers):
    """What a record and each of its events repeat."""

    parent_invocation_id: str | msgspec.UnsetType
    caller: Caller
    capability: str


def _members(context: InvocationContext) -> _ContextMembers:
    parent = context.lineage.parent
    return {
        **context.lineage.ids,
        **context.pin.members,
        "parent_invocation_id": msgspec.UNSET if parent is None else parent,
        "caller": context.caller,
        "capability": context.capability,
    }


def _unset(value: T | None) -> T | msgspec.UnsetType:
    """A document has no member where the store has no value."""
    return msgspec.UNSET if value is None else value


def _opening_events(row: RecordRow, members: _ContextMembers) -> Sequence[InvocationEvent]:
    """The events of the acceptance, which is one row: same moment, consecutive ids."""
    return [
        InvocationEvent(
            schema_version="0.3",
            event_id=f"evt_{row.opening_event_id.int + sequence:032x}",
            sequence=sequence,
            occurred_at=to_text(row.created_at),
            type=kind,
            status=STATUS_OF_EVENT[kind],
            deadline_at=to_text(row.deadline_at) if kind is EventType.CREATED else msgspec.UNSET,
            **members,
        )
        for sequence, kind in enumerate(OPENING_EVENTS[row.opening])
    ]


def _event(row: EventRow, lineage: Lineage, members: _ContextMembers) -> InvocationEvent:
    code = row.error_code
    return InvocationEvent(
        schema_version="0.3",
        event_id=f"evt_{row.event_id.hex}",
        sequence=row.sequence,
        occurred_at=to_text(row.occurred_at),
        type=row.type,
        status=STATUS_OF_EVENT[row.type],
        chunk_index=_unset(row.chunk_index),
        chunk_count=_unset(row.chunk_count),
        chunk_bytes=_unset(row.chunk_bytes),
        latency_ms=_unset(row.latency_ms),
        error=msgspec.UNSET if code is None else correlated_error(code, row.reason, lineage),
        **members,
    )
