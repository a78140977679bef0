"""The read handle of the Ledger: one Invocation with its events, a Trace, a Workspace's list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from aop.base.clock import to_text
from aop.base.ids import hex_part
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import Caller, InvocationContext, LineageIds, PinMembers
from aop.contracts.invocation import correlated_error
from aop.contracts.lineage import (
    STATUS_OF_EVENT,
    EventType,
    InvocationDetail,
    InvocationEvent,
    InvocationRecord,
    Trace,
)
from aop.ledger import reads
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER, Opening
from aop.ledger.reads import RecordFilter
from aop.ledger.rows import context_of
from aop.store.database import Database

__all__ = ["LedgerReader", "LineageBroken", "ParentFacts", "RecordFilter", "RecordPage"]
Row = Any


class LineageBroken(Exception):
    """Stored facts contradict each other; never shown as absence."""


@dataclass(frozen=True)
class RecordPage:
    records: Sequence[InvocationRecord]
    last: tuple[datetime, str] | None


@dataclass(frozen=True)
class ParentFacts:
    """What must be known of an Invocation before it may call another."""

    workspace_id: str
    agent_id: str
    release_id: str
    root_task_id: str
    trace_id: str
    running: bool
    invocations_of_root_task: int


class LedgerReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def detail(self, workspace_id: str, invocation_id: str) -> InvocationDetail | None:
        """None also for what is no id of an Invocation."""
        invocation = hex_part(invocation_id, "inv")
        if invocation is None:
            return None
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            row = await reads.record(connection, workspace_id, invocation)
            if row is None:
                return None
            events = await reads.events(connection, invocation)
        record = _record(row)
        shown = (*_opening_events(row), *(_event(row, event) for event in events))
        if [event.sequence for event in shown] != list(range(len(shown))) or shown[-1].status != record.status:
            raise LineageBroken("the events do not form one chain")
        return InvocationDetail(invocation=record, events=shown)

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
        return ParentFacts(
            workspace_id=row["workspace_id"],
            agent_id=row["target_agent_id"],
            release_id=f"rel_{row['agent_release_id'].hex}",
            root_task_id=f"task_{row['root_task_id'].hex}",
            trace_id=row["trace_id"].hex,
            running=row["opening"] == Opening.STARTED and row["outcome"] is None,
            invocations_of_root_task=row["of_root_task"],
        )

    async def ended_with_children(self, invocations: Sequence[str]) -> Sequence[str]:
        """Those of them that were canceled or timed out, which ends what they called."""
        async with self._database.connection() as connection:
            digits = [invocation.removeprefix("inv_") for invocation in invocations]
            return [f"inv_{ended}" for ended in await reads.ended_with_children(connection, digits)]

    async def page(
        self, workspace_id: str, filters: RecordFilter, after: tuple[datetime, str] | None, limit: int
    ) -> RecordPage:
        async with self._database.connection() as connection:
            rows = await reads.page(connection, workspace_id, filters, after, limit + 1)
        shown = rows[:limit]
        last = (shown[-1]["created_at"], shown[-1]["invocation_id"].hex) if len(rows) > limit else None
        return RecordPage([_record(row) for row in shown], last)


def _parents_first(records: Sequence[InvocationRecord]) -> Sequence[InvocationRecord]:
    """Roots by creation, then their children, level by level; a missing or cyclic parent leaves somebody out."""
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


def _record(row: Row) -> InvocationRecord:
    outcome, error, reason = row["outcome"], row["error_code"], row["reason"]
    status = STATUS_AFTER[row["opening"]] if outcome is None else STATUS_OF_EVENT[outcome]
    return InvocationRecord(
        **_members(context_of(row)),
        status=status,
        latency_ms=msgspec.UNSET if row["latency_ms"] is None else row["latency_ms"],
        error_code=msgspec.UNSET if error is None else ErrorCode(error),
        reason=msgspec.UNSET if reason is None else Reason(reason),
        created_at=to_text(row["created_at"]),
        updated_at=to_text(row["updated_at"]),
        deadline_at=to_text(row["deadline_at"]),
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


def _opening_events(row: Row) -> Sequence[InvocationEvent]:
    """The events of the acceptance, which is one row: same moment, consecutive ids."""
    return [
        InvocationEvent(
            schema_version="0.3",
            event_id=f"evt_{row['opening_event_id'].int + sequence:032x}",
            sequence=sequence,
            occurred_at=to_text(row["created_at"]),
            type=kind,
            status=STATUS_OF_EVENT[kind],
            deadline_at=to_text(row["deadline_at"]) if kind is EventType.CREATED else msgspec.UNSET,
            **_members(context_of(row)),
        )
        for sequence, kind in enumerate(OPENING_EVENTS[Opening(row["opening"])])
    ]


def _event(row: Row, event: Row) -> InvocationEvent:
    kind, context = EventType(event["type"]), context_of(row)
    progress = {name: event[name] for name in ("chunk_index", "chunk_count", "chunk_bytes") if kind is EventType.STREAM}
    error, reason = event["error_code"], None if event["reason"] is None else Reason(event["reason"])
    return InvocationEvent(
        schema_version="0.3",
        event_id=f"evt_{event['event_id'].hex}",
        sequence=event["sequence"],
        occurred_at=to_text(event["occurred_at"]),
        type=kind,
        status=STATUS_OF_EVENT[kind],
        latency_ms=msgspec.UNSET if event["latency_ms"] is None else event["latency_ms"],
        error=msgspec.UNSET if error is None else correlated_error(ErrorCode(error), reason, context.lineage),
        **progress,
        **_members(context),
    )
