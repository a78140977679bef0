"""Re-reads a range of the Ledger and reports every broken invariant: what the store should have refused, looked for."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import STATUS_OF_EVENT, TERMINAL_STATUSES, TRANSITIONS, EventType, InvocationStatus
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER, Opening, Terminal
from aop.store.database import Connection, translated_failures

Row = Any

_BATCH = 500

_INVOCATIONS = """
SELECT invocation.*, parent.trace_id AS of_trace, parent.root_task_id AS of_root_task,
       parent.workspace_id AS of_workspace, parent.target_agent_id AS of_agent, parent.opening AS of_opening,
       parent.created_at AS of_created_at, parent.invocation_id AS of_id, opened.epoch AS opened_epoch,
       closed.epoch AS closed_epoch,
       (SELECT max(position) FROM ledger.checkpoint
         WHERE checkpoint.router_id = invocation.router_id AND checkpoint.epoch = invocation.epoch) AS settled
  FROM ledger.invocation
  LEFT JOIN ledger.invocation AS parent ON parent.invocation_id = invocation.parent_invocation_id
  LEFT JOIN ledger.epoch AS opened ON opened.router_id = invocation.router_id AND opened.epoch = invocation.epoch
  LEFT JOIN ledger.epoch_closed AS closed ON closed.router_id = invocation.router_id AND closed.epoch = invocation.epoch
 WHERE ($1::timestamptz IS NULL OR invocation.created_at >= $1)
   AND ($2::timestamptz IS NULL OR invocation.created_at < $2)
   AND ($3::uuid IS NULL OR invocation.invocation_id > $3)
 ORDER BY invocation.invocation_id LIMIT $4
"""
_EVENTS = "SELECT * FROM ledger.event WHERE invocation_id = ANY($1) ORDER BY invocation_id, sequence"
# What no Invocation of the range leads to.
_STRAYS = {
    "an event without its Invocation": "SELECT DISTINCT invocation_id FROM ledger.event"
    " WHERE NOT EXISTS (SELECT FROM ledger.invocation WHERE invocation.invocation_id = event.invocation_id)",
    "a cancel request without its Invocation": "SELECT invocation_id FROM ledger.cancel_request"
    " WHERE NOT EXISTS (SELECT FROM ledger.invocation WHERE invocation.invocation_id = cancel_request.invocation_id)",
}
_EPOCHS = """
SELECT epoch.router_id, epoch.epoch, lag(epoch.epoch, 1, 0::bigint) OVER lives AS before,
       lead(epoch.epoch) OVER lives IS NULL AS is_newest, closed.epoch IS NOT NULL AS is_closed
  FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
WINDOW lives AS (PARTITION BY epoch.router_id ORDER BY epoch.epoch)
"""


@dataclass(frozen=True)
class Breach:
    """One broken invariant: what it is about (an Invocation or an epoch) and what is wrong. Ids and numbers only."""

    about: str
    problem: str


@dataclass(frozen=True)
class Span:
    """Invocations created at or after `since` and before `until`; None is no bound."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass
class LedgerCheck:
    """One reading. `checked`, `events` and `open` count what was seen so far."""

    connection: Connection
    span: Span
    checked: int = 0
    events: int = 0
    open: int = 0

    async def breaches(self) -> AsyncGenerator[Breach, None]:
        """Reads in one snapshot and in batches, so that memory stays bounded and running writers do no harm."""
        async with (
            translated_failures(),
            self.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            async for breach in self._epochs():
                yield breach
            async for breach in self._invocations():
                yield breach
            for problem, query in _STRAYS.items():
                async for row in self.connection.cursor(query, prefetch=_BATCH):
                    yield Breach(f"inv_{row['invocation_id'].hex}", problem)

    async def _epochs(self) -> AsyncGenerator[Breach, None]:
        async for row in self.connection.cursor(_EPOCHS, prefetch=_BATCH):
            about = f"epoch {row['epoch']} of Router {row['router_id']}"
            if row["epoch"] != row["before"] + 1:
                yield Breach(about, f"follows epoch {row['before']}")
            if row["is_closed"] and row["is_newest"]:
                yield Breach(about, "is closed although no newer one exists")

    async def _invocations(self) -> AsyncGenerator[Breach, None]:
        last = None
        while rows := await self.connection.fetch(_INVOCATIONS, self.span.since, self.span.until, last, _BATCH):
            last = rows[-1]["invocation_id"]
            async with aclosing(self._chains(rows)) as chains:
                async for row, chain in chains:
                    self.checked += 1
                    self.events += len(OPENING_EVENTS[Opening(row["opening"])]) + len(chain)
                    self.open += not _has_ended(chain)
                    for problem in (*_of_invocation(row, chain), *_of_chain(row, chain)):
                        yield Breach(f"inv_{row['invocation_id'].hex}", problem)

    async def _chains(self, rows: Sequence[Row]) -> AsyncGenerator[tuple[Row, Sequence[Row]], None]:
        """Each Invocation with its events, of which only one Invocation's are held at a time."""
        ahead, chain = iter(rows), list[Row]()
        current = next(ahead)
        async for event in self.connection.cursor(_EVENTS, [row["invocation_id"] for row in rows], prefetch=_BATCH):
            while event["invocation_id"] != current["invocation_id"]:
                yield current, chain
                current, chain = next(ahead), []
            chain.append(event)
        yield current, chain
        for row in ahead:
            yield row, []


def _has_ended(chain: Sequence[Row]) -> bool:
    return any(event["type"] != EventType.STREAM for event in chain)


def _of_invocation(row: Row, chain: Sequence[Row]) -> Sequence[str]:
    """The acceptance itself, its parent and its epoch."""
    ended = _has_ended(chain)
    broken = {
        "its epoch was never opened": row["opened_epoch"] is None,
        "has no terminal in a closed epoch": row["closed_epoch"] is not None and not ended,
        "has no terminal before a checkpoint": row["position"] < (row["settled"] or 0) and not ended,
        "was over at its acceptance and has no terminal": row["opening"] != Opening.STARTED and not ended,
        "the digest is not of 32 bytes": len(row["agent_card_digest"]) != 32,
        **(_of_parent(row) if row["parent_invocation_id"] is not None else _of_root(row)),
    }
    return [problem for problem, found in broken.items() if found]


def _of_root(row: Row) -> dict[str, bool]:
    return {"a root is not called by a user": row["caller_type"] != "user"}


def _of_parent(row: Row) -> dict[str, bool]:
    if row["of_id"] is None:
        return {"its parent is missing": True}
    return {
        "its trace is not its parent's": row["trace_id"] != row["of_trace"],
        "its root task is not its parent's": row["root_task_id"] != row["of_root_task"],
        "its Workspace is not its parent's": row["workspace_id"] != row["of_workspace"],
        "its caller is not its parent's Agent": (row["caller_type"], row["caller_id"]) != ("agent", row["of_agent"]),
        "its parent never started": row["of_opening"] != Opening.STARTED,
        "was created before its parent started": row["created_at"] < row["of_created_at"],
    }


def _of_chain(row: Row, chain: Sequence[Row]) -> list[str]:
    opening = Opening(row["opening"])
    problems = []
    status, sequence = STATUS_AFTER[opening], len(OPENING_EVENTS[opening])
    moment, chunk = row["created_at"], -1
    for event in chain:
        kind = EventType(event["type"])
        broken = {
            f"event {event['sequence']} stands where {sequence} should": event["sequence"] != sequence,
            f"{kind} follows {status}": kind not in TRANSITIONS.get(status, frozenset()),
            f"event {event['sequence']} goes back in time": event["occurred_at"] < moment,
            f"event {event['sequence']} names another status before it": event["previous_status"] != status,
            f"event {event['sequence']} was written by another Router or an older epoch": (
                event["router_id"] != row["router_id"] or event["epoch"] < row["epoch"]
            ),
            f"event {event['sequence']} has another context": _has_other_context(row, event),
            f"event {event['sequence']} counts its chunks wrongly": not _counts_chunks(event, chunk),
            f"event {event['sequence']} has a wrong latency": not _has_right_latency(row, event),
            f"{kind} may not carry {event['error_code']} {event['reason'] or ''}".rstrip(): not _has_right_error(event),
        }
        problems += [problem for problem, found in broken.items() if found]
        status, sequence, moment = STATUS_OF_EVENT[kind], event["sequence"] + 1, event["occurred_at"]
        chunk = chunk if event["chunk_index"] is None else event["chunk_index"]
    if sum(event["type"] != EventType.STREAM for event in chain) > 1:
        problems.append("has more than one terminal")
    return problems


def _has_other_context(row: Row, event: Row) -> bool:
    names = ("opening", "trace_id", "root_task_id", "workspace_id", "created_at")
    given = {name: event[name] for name in names if event[name] is not None}
    needed = InvocationStatus(STATUS_OF_EVENT[EventType(event["type"])]) in TERMINAL_STATUSES
    return any(row[name] != value for name, value in given.items()) or (needed and len(given) < len(names))


def _counts_chunks(event: Row, before: int) -> bool:
    index, number, size = event["chunk_index"], event["chunk_count"], event["chunk_bytes"]
    if event["type"] != EventType.STREAM:
        return index is None and number is None and size is None
    return None not in {index, number, size} and number > 0 and size > 0 and index == before + number


def _has_right_latency(row: Row, event: Row) -> bool:
    if event["type"] == EventType.STREAM:
        return event["latency_ms"] is None
    elapsed = event["occurred_at"] - row["created_at"]
    return bool(event["latency_ms"] == (elapsed.days * 86_400 + elapsed.seconds) * 1000 + elapsed.microseconds // 1000)


def _has_right_error(event: Row) -> bool:
    kind, code, reason = EventType(event["type"]), event["error_code"], event["reason"]
    if kind is EventType.STREAM:
        return code is None and reason is None
    try:
        Terminal(kind, None if code is None else ErrorCode(code), None if reason is None else Reason(reason))
    except ValueError:
        return False
    return True
