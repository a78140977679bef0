"""The Ledger's tables with the rules its SQL functions and constraints give them; `test_tables.py` compares the two."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import asyncpg

from aop.contracts.errors import reason_pairs
from aop.ledger.rows import ContextRow, OpenRow, ParentRow
from aop.ledger.write.store import _ACCEPTANCE, _FACT
from tests.ledger.simulated.columns import columns_of, read_rows

Row = Mapping[str, Any]

_ACCEPTANCE_NAMES = (
    *("position", *ContextRow.__struct_fields__, "opening", "opening_event_id", "created_at", "deadline_at"),
    "authorization_digest",
)
_EVENT_NAMES = (
    *("invocation_id", "sequence", "event_id", "occurred_at", "type", "previous_status", "previous_sequence"),
    *("previous_chunk_index", "previous_at", "opening", "trace_id", "root_task_id", "workspace_id", "created_at"),
    *("chunk_index", "chunk_count", "chunk_bytes", "latency_ms", "error_code", "reason"),
)
_OPENINGS = {("started", 3, "running"), ("routing", 2, "routing"), ("created", 1, "pending")}
_TRANSITIONS = {
    "pending": {"canceled", "timed_out"},
    "routing": {"failed", "canceled", "timed_out"},
    "running": {"stream", "succeeded", "failed", "canceled", "timed_out"},
}
_ADDED: Row = {"?column?": True}  # what `RETURNING true` says
_FIXED_CODES = {"canceled": "CANCELED", "timed_out": "TIMEOUT"}


def refusal(sqlstate: str) -> Exception:
    return cast("Exception", asyncpg.PostgresError.new({"C": sqlstate, "M": "refused", "S": "ERROR", "V": "ERROR"}))


class Record(dict[str, Any]):
    """As the driver's records are: going through one gives its values, in the order of the statement."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())


@dataclass
class Tables:
    """`noted` learns of each row in the moment it is there for everybody."""

    noted: Callable[[str, Row], None] = lambda _kind, _row: None
    epochs: dict[str, int] = field(default_factory=dict)
    closed: set[tuple[str, int]] = field(default_factory=set)
    checkpoints: dict[tuple[str, int], int] = field(default_factory=dict)
    invocations: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    events: dict[UUID, dict[int, dict[str, Any]]] = field(default_factory=dict)
    cancels: set[UUID] = field(default_factory=set)

    def fork(self) -> "Tables":
        """What a transaction sees: changes to it are nobody else's."""
        own = {name: copy(value) for name, value in vars(self).items() if name != "noted"}
        return Tables(**own | {"events": {invocation: dict(rows) for invocation, rows in self.events.items()}})

    def terminal(self, invocation: UUID) -> Row | None:
        return next((row for row in self.events.get(invocation, {}).values() if row["type"] != "stream"), None)

    def execute(self, statement: str, arguments: Sequence[Any]) -> Sequence[Row]:
        """The rows of a statement of the Ledger; one that is not known here must be taught to this file first."""
        for part, method in _STATEMENTS.items():
            if part in statement:
                rows = method(self, *arguments)
                if method not in _INSERTS or "ON CONFLICT" in statement:
                    return rows
                if not rows:
                    raise refusal("23505")
                return ()
        raise NotImplementedError(statement)

    def require_epoch(self, router: str, epoch: int) -> Sequence[Row]:
        if self.epochs.get(router) != epoch:
            raise refusal("AOP01")
        return ()

    def accept(self, router: str, epoch: int, *columns: Any) -> Sequence[Row]:
        self.require_epoch(router, epoch)
        added = []
        for row in read_rows(_ACCEPTANCE_NAMES, _ACCEPTANCE, columns):
            if row["invocation_id"] in self.invocations:
                continue
            if row["parent_invocation_id"] is not None:
                parent = self.running(row["parent_invocation_id"])
                if parent is None or parent["target_agent_id"] != row["caller_id"]:
                    continue
                row["created_at"] = max(row["created_at"], parent["created_at"])
            row |= {"router_id": router, "epoch": epoch}
            self.invocations[row["invocation_id"]] = row
            added.append({"accepted_event_id": row["opening_event_id"], "accepted_at": row["created_at"]})
            self.noted("accepted", row)
        return added

    def accept_one(self, *row: Any) -> Sequence[Row]:
        """Here and below, the fence of the table sees only rows that are added."""
        if UUID(row[1]) in self.invocations:
            return ()
        return [_ADDED for _ in self.accept(*row[-2:], *columns_of(_ACCEPTANCE, row[:-2]))]

    def append_one(self, *row: Any) -> Sequence[Row]:
        columns = list(columns_of(_FACT, row[:-2]))
        (one,) = read_rows(_EVENT_NAMES, _FACT, columns)
        _check(one)
        return () if self._is_taken(one) else [_ADDED for _ in self.append(*row[-2:], *columns)]

    def _is_taken(self, row: Row) -> bool:
        invocation = row["invocation_id"]
        has_ended = row["type"] != "stream" and self.terminal(invocation) is not None
        return has_ended or row["sequence"] in self.events.get(invocation, {})

    def running(self, invocation: UUID) -> Row | None:
        row = self.invocations.get(invocation)
        is_running = row is not None and row["opening"] == "started" and self.terminal(invocation) is None
        return row if is_running else None

    def append(self, router: str, epoch: int, *columns: Any) -> Sequence[Row]:
        self.require_epoch(router, epoch)
        rows = read_rows(_EVENT_NAMES, _FACT, columns)
        for row in rows:
            _check(row)
        added: list[dict[str, Any]] = []
        for row in rows:
            if not self._is_taken(row):
                self.events.setdefault(row["invocation_id"], {})[row["sequence"]] = row
                added.append(row)
        if not all(map(self._follows, added)):
            for row in added:
                del self.events[row["invocation_id"]][row["sequence"]]
            raise refusal("23503")
        for row in added:
            self.noted("progress" if row["type"] == "stream" else "terminal", row)
        return [{"appended_id": row["invocation_id"], "appended_sequence": row["sequence"]} for row in added]

    def _follows(self, row: Row) -> bool:
        """The two foreign keys: what a row names as before it must be there, and as the row says."""
        opened = self.invocations.get(row["invocation_id"])
        named = ("opening", "workspace_id", "trace_id", "root_task_id", "created_at")
        if row["opening"] is not None and (opened is None or any(row[name] != opened[name] for name in named)):
            return False
        if row["previous_sequence"] is None:
            return True
        before = self.events[row["invocation_id"]].get(row["previous_sequence"])
        named_values = (row["previous_chunk_index"], row["previous_at"])
        return before is not None and named_values == (before["chunk_index"], before["occurred_at"])

    def request_cancel(self, router: str, epoch: int, invocations: Sequence[str]) -> Sequence[Row]:
        self.require_epoch(router, epoch)
        named = [UUID(each) for each in invocations]
        if not all(each in self.invocations for each in named):
            raise refusal("23503")
        self.cancels.update(named)
        return ()

    def find_acceptances(self, invocations: Sequence[str], events: Sequence[str]) -> Sequence[Row]:
        found = [(self.invocations.get(UUID(one)), UUID(event)) for one, event in zip(invocations, events, strict=True)]
        return [row for row, event in found if row is not None and row["opening_event_id"] == event]

    def find_events(self, invocations: Sequence[str], sequences: Sequence[int]) -> Sequence[Row]:
        keys = zip(invocations, sequences, strict=True)
        found = [self.events.get(UUID(one), {}).get(sequence) for one, sequence in keys]
        return [row for row in found if row is not None]

    def parent(self, invocation: str, root_task: str | UUID) -> Sequence[Row]:
        row = self.invocations.get(UUID(invocation))
        if row is None or row["root_task_id"] != UUID(str(root_task)):
            return ()
        ended = self.terminal(row["invocation_id"])
        family = [one for one in self.invocations.values() if one["root_task_id"] == row["root_task_id"]]
        facts = row | {"outcome": ended and ended["type"], "in_root_task": len(family)}
        return [_in_order(facts, ParentRow.__struct_fields__)]

    def root_task(self, invocation: str) -> Sequence[Row]:
        row = self.invocations.get(UUID(invocation))
        return () if row is None else [_in_order(row, ("root_task_id",))]

    def ended_with_children(self, invocations: Sequence[str], types: Sequence[str]) -> Sequence[Row]:
        ends = [self.terminal(UUID(each)) for each in invocations]
        return [end for end in ends if end is not None and end["type"] in types]

    def open_epoch(self, router: str) -> Sequence[Row]:
        self.epochs[router] = self.epochs.get(router, 0) + 1
        return [{"open_epoch": self.epochs[router]}]

    def unclosed_epochs(self, router: str, before: int) -> Sequence[Row]:
        return [{"epoch": epoch} for epoch in range(1, before) if (router, epoch) not in self.closed]

    def open_rows(self, router: str, epoch: int, limit: int) -> Sequence[Row]:
        settled = self.checkpoints.get((router, epoch), 0)
        of_epoch = [row for row in self.invocations.values() if (row["router_id"], row["epoch"]) == (router, epoch)]
        found = [row for row in of_epoch if row["position"] >= settled and self.terminal(row["invocation_id"]) is None]
        first = sorted(found, key=lambda row: int(row["position"]))[:limit]
        return [_in_order(self._with_last(row), OpenRow.__struct_fields__) for row in first]

    def _with_last(self, row: Row) -> Row:
        events = self.events.get(row["invocation_id"], {})
        last = events[max(events)] if events else {}
        progress = {name: last.get(name) for name in ("sequence", "chunk_index", "occurred_at")}
        return {**row, **progress, "cancel_requested": row["invocation_id"] in self.cancels}

    def close_epoch(self, router: str, epoch: int) -> Sequence[Row]:
        if self.epochs.get(router, 0) <= epoch or self.open_rows(router, epoch, 1):
            raise refusal("P0001")
        self.closed.add((router, epoch))
        return ()

    def checkpoint(self, router: str, epoch: int, position: int) -> Sequence[Row]:
        self.require_epoch(router, epoch)
        self.checkpoints[router, epoch] = max(position, self.checkpoints.get((router, epoch), 0))
        return ()


_STATEMENTS: Mapping[str, Callable[..., Sequence[Row]]] = {
    "FROM ledger.accept(": Tables.accept,
    "FROM ledger.append(": Tables.append,
    "INSERT INTO ledger.invocation (": Tables.accept_one,
    "INSERT INTO ledger.event (": Tables.append_one,
    "ledger.request_cancel(": Tables.request_cancel,
    "ledger.require_epoch(": Tables.require_epoch,
    "SELECT opening_event_id, created_at FROM ledger.invocation": Tables.find_acceptances,
    "SELECT event_id FROM ledger.event": Tables.find_events,
    "AS in_root_task": Tables.parent,
    "SELECT root_task_id FROM ledger.invocation": Tables.root_task,
    "SELECT invocation_id FROM ledger.event": Tables.ended_with_children,
    "ledger.open_epoch(": Tables.open_epoch,
    "SELECT epoch FROM ledger.epoch": Tables.unclosed_epochs,
    "AS cancel_requested": Tables.open_rows,
    "INSERT INTO ledger.epoch_closed": Tables.close_epoch,
    "INSERT INTO ledger.checkpoint": Tables.checkpoint,
}
_INSERTS = (Tables.accept_one, Tables.append_one)


def _in_order(row: Row, names: Sequence[str]) -> Row:
    return Record({name: row[name] for name in names})


def _check(row: Row) -> None:
    """The constraints a row can break by itself."""
    kind, before, code, reason = row["type"], row["previous_sequence"], row["error_code"], row["reason"]
    if before is None:
        chained = (row["opening"], row["sequence"], row["previous_status"]) in _OPENINGS
        chained = chained and row["created_at"] <= row["occurred_at"] and row["previous_chunk_index"] is None
    else:
        chained = before == row["sequence"] - 1 and row["previous_status"] == "running"
        chained = chained and row["previous_chunk_index"] is not None and row["previous_at"] <= row["occurred_at"]
    counted = (row["chunk_count"] or 0) > 0 and (row["chunk_bytes"] or 0) > 0
    reaches = (-1 if row["previous_chunk_index"] is None else row["previous_chunk_index"]) + (row["chunk_count"] or 0)
    progress = counted and row["chunk_index"] == reaches if kind == "stream" else row["chunk_index"] is None
    named_values = code == _FIXED_CODES.get(kind) if kind != "failed" else code not in {None, *_FIXED_CODES.values()}
    named_values = named_values and (reason is None or (code, reason) in reason_pairs())
    if not (chained and progress and named_values and kind in _TRANSITIONS[row["previous_status"]]):
        raise refusal("23514")
