"""Where a list looks for its Invocations: the index that answers most of the filters, and conditions for the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aop.contracts.lineage import TERMINAL_STATUSES, InvocationStatus
from aop.ledger.model import STATUS_AFTER
from aop.ledger.read.record_filter import RecordFilter

_OPENING_OF = {status: opening for opening, status in STATUS_AFTER.items()}
# What has no terminal belongs to an epoch that is not closed, at or behind its last checkpoint. OFFSET 0 keeps the
# look-up in ledger.invocation a scan of its index on positions; as a join, the whole Workspace may be read instead.
_OPEN = (
    "SELECT invocation.* FROM ledger.epoch AS life"
    " CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint"
    "  WHERE checkpoint.router_id = life.router_id AND checkpoint.epoch = life.epoch) AS settled"
    " CROSS JOIN LATERAL (SELECT * FROM ledger.invocation WHERE invocation.router_id = life.router_id"
    "  AND invocation.epoch = life.epoch AND invocation.position >= settled.position OFFSET 0) AS invocation"
    " WHERE NOT EXISTS (SELECT FROM ledger.epoch_closed AS closed"
    "  WHERE closed.router_id = life.router_id AND closed.epoch = life.epoch)"
)
_TIMES = frozenset({"since", "until"})


@dataclass(frozen=True)
class Source:
    """Rows of Invocations, which are named `called` here, or of their terminals, named `ended`."""

    table: str
    select: str
    answers: frozenset[str]
    """The filters that its index answers."""
    in_order: bool = True
    """By its index. Another source has few rows, and they are read together."""

    @property
    def other(self) -> str:
        """Looks up the row of the other table for each candidate."""
        if self.table == "ended":
            return (
                " JOIN LATERAL (SELECT * FROM ledger.invocation"
                " WHERE invocation.invocation_id = ended.invocation_id"
                " AND invocation.root_task_id = ended.root_task_id OFFSET 0) AS called ON true"
            )
        return (
            " LEFT JOIN LATERAL (SELECT * FROM ledger.event WHERE event.invocation_id = called.invocation_id"
            " AND event.root_task_id = called.root_task_id AND event.type <> 'stream' OFFSET 0) AS ended ON true"
        )


def _source(table: str, where: str, *answers: str, in_order: bool = True) -> Source:
    stored = "ledger.invocation" if table == "called" else "ledger.event"
    return Source(table, f"SELECT * FROM {stored} WHERE {where}", _TIMES | {*answers}, in_order)  # noqa: S608


_INVOCATIONS = _source("called", "true")
_ROOTS = _source("called", "true", "root")
_TERMINALS = _source("ended", "type <> 'stream'", "status")
_OF_CODE = _source("ended", "true", "error_code")
_OF_REASON = _source("ended", "true", "reason")
# The condition on the position is that of the index; without it the whole table would be read.
_OF_TRACE = _source("called", "position > 0", "trace_id", in_order=False)
_WITHOUT_TERMINAL = Source("called", _OPEN, _TIMES, in_order=False)
# A column of its own for what the index is ordered by: only then is the order known outside, and nothing is sorted.
BY_LATENCY = Source("ended", "SELECT *, -latency_ms AS rank FROM ledger.event WHERE type <> 'stream'", frozenset())


def newest_first(filters: RecordFilter) -> Source:
    """The one with the fewest rows beside those that match."""
    if filters.trace_id is not None:
        return _OF_TRACE
    if filters.status is not None and filters.status not in TERMINAL_STATUSES:
        return _WITHOUT_TERMINAL
    if filters.reason is not None:
        return _OF_REASON
    if filters.error_code is not None:
        return _OF_CODE
    if filters.status is not None:
        return _TERMINALS
    return _ROOTS if filters.root else _INVOCATIONS


@dataclass(frozen=True)
class Condition:
    of: str
    """The filter that it comes from."""
    table: str
    text: str
    values: tuple[Any, ...] = ()


def conditions(filters: RecordFilter, source: Source) -> Iterator[Condition]:
    """Both tables have the time of creation."""
    if filters.since is not None:
        yield Condition("since", source.table, "created_at >= {}", (filters.since,))
    if filters.until is not None:
        yield Condition("until", source.table, "created_at < {}", (filters.until,))
    if filters.status in TERMINAL_STATUSES:
        yield Condition("status", "ended", "type = {}", (filters.status,))
    elif filters.status is not None:
        yield Condition("status", "ended", "type IS NULL")
        yield Condition("status", "called", "opening = {}", (_OPENING_OF[InvocationStatus(filters.status)],))
    if filters.root is not None:
        yield Condition("root", "called", f"parent_invocation_id IS {'' if filters.root else 'NOT '}NULL")
    if filters.caller_id is not None:
        yield Condition("caller_id", "called", "caller_type = 'user'")
    for of, table, column in (
        ("agent_id", "called", "target_agent_id"),
        ("capability", "called", "capability"),
        ("caller_id", "called", "caller_id"),
        ("trace_id", "called", "trace_id"),
        ("error_code", "ended", "error_code"),
        ("reason", "ended", "reason"),
    ):
        value = getattr(filters, of)
        if value is not None:
            yield Condition(of, table, f"{column} = {{}}", (value,))
