"""Invocations put into the Ledger as a Router would have written them, with times and outcomes of a test's choosing."""

import asyncio
import hashlib
import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import asyncpg

from aop.base.ids import new_hex_id
from tests.console.stack import Stack

_INVOCATION = (
    "invocation_id",
    "root_task_id",
    "trace_id",
    "parent_invocation_id",
    "parent_opening",
    "parent_created_at",
    "caller_type",
    "caller_id",
    "workspace_id",
    "target_agent_id",
    "agent_card_version",
    "agent_release_id",
    "agent_card_digest",
    "capability",
    "router_id",
    "epoch",
    "position",
    "opening",
    "opening_event_id",
    "created_at",
    "deadline_at",
)
_TERMINAL = (
    "invocation_id",
    "sequence",
    "event_id",
    "occurred_at",
    "type",
    "previous_status",
    "opening",
    "trace_id",
    "root_task_id",
    "workspace_id",
    "created_at",
    "latency_ms",
    "error_code",
    "reason",
    "router_id",
    "epoch",
)


_CHAIN = {"started": (3, "running"), "routing": (2, "routing"), "created": (1, "pending")}
"""By opening, the number of the event behind it and the status before that."""


@dataclass(frozen=True)
class Pin:
    """What an Invocation was resolved to."""

    version: str
    release: uuid.UUID
    card_digest: bytes


@dataclass(frozen=True)
class Call:
    """One Invocation; without an outcome it has no terminal. A child takes Trace and root Task of its parent.

    Without a pin, that of a Release which does not exist. A refused target opens as `routing`, a deadline that had
    passed as `created`; neither is without an outcome.
    """

    workspace_id: str
    created_at: datetime
    agent_id: str = "aop:summarizer"
    capability: str = "summarize"
    latency: timedelta = timedelta(milliseconds=40)
    deadline: timedelta = timedelta(seconds=60)
    outcome: str | None = "succeeded"
    error_code: str | None = None
    reason: str | None = None
    parent: "Call | None" = None
    caller_id: str = "local"
    """The user who called, for a root."""
    pin: Pin | None = None
    opening: str = "started"
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    lineage: tuple[uuid.UUID, uuid.UUID] = field(default_factory=lambda: (uuid.uuid4(), uuid.UUID(new_hex_id())))
    """Trace and root Task; the id of the second says in which month of the Ledger all of it lies."""

    @property
    def invocation_id(self) -> str:
        return f"inv_{self.id.hex}"

    @property
    def trace_id(self) -> str:
        return self.trace_and_task[0].hex

    @property
    def trace_and_task(self) -> tuple[uuid.UUID, uuid.UUID]:
        return self.lineage if self.parent is None else self.parent.trace_and_task


def ago(**span: float) -> datetime:
    return datetime.now(UTC) - timedelta(**span)


def record(stack: Stack, calls: Iterable[Call]) -> None:
    """In a thread of its own: the browser's event loop runs in the test's."""
    url: str = stack.platform.run["databaseUrls"]["router"]
    failures: list[BaseException] = []

    def write() -> None:
        try:
            asyncio.run(_record(url, list(calls)))
        except BaseException as failure:  # noqa: BLE001  handed to the test's thread
            failures.append(failure)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


async def _record(url: str, calls: list[Call]) -> None:
    connection = await asyncpg.connect(url)
    try:
        router = f"test-{uuid.uuid4().hex[:8]}"
        epoch: int = await connection.fetchval("SELECT ledger.open_epoch($1)", router)
        async with connection.transaction():
            openings = [_opening(call, router, epoch, place + 1) for place, call in enumerate(calls)]
            ends = [_terminal(call, router, epoch) for call in calls if call.outcome is not None]
            for table, columns, rows in (("invocation", _INVOCATION, openings), ("event", _TERMINAL, ends)):
                await connection.copy_records_to_table(table, schema_name="ledger", columns=columns, records=rows)
    finally:
        await connection.close()


def _opening(call: Call, router: str, epoch: int, position: int) -> tuple[object, ...]:
    trace, task = call.trace_and_task
    parent = call.parent
    lineage = (None, None, None) if parent is None else (parent.id, "started", parent.created_at)
    caller = ("user", call.caller_id) if parent is None else ("agent", parent.agent_id)
    pin = call.pin or _unpublished(call.agent_id)
    target = (call.workspace_id, call.agent_id, pin.version, pin.release, pin.card_digest, call.capability)
    written = (router, epoch, position, call.opening, uuid.uuid4())
    return (
        call.id,
        task,
        trace,
        *lineage,
        *caller,
        *target,
        *written,
        call.created_at,
        call.created_at + call.deadline,
    )


def _unpublished(agent_id: str) -> Pin:
    return Pin("1.0.0", uuid.uuid5(uuid.NAMESPACE_URL, agent_id), hashlib.sha256(agent_id.encode()).digest())


def _terminal(call: Call, router: str, epoch: int) -> tuple[object, ...]:
    trace, task = call.trace_and_task
    sequence, status = _CHAIN[call.opening]
    context = (call.opening, trace, task, call.workspace_id, call.created_at)
    latency = call.latency // timedelta(milliseconds=1)
    end = call.created_at + call.latency
    why = (call.error_code, call.reason)
    return (call.id, sequence, uuid.uuid4(), end, call.outcome, status, *context, latency, *why, router, epoch)
