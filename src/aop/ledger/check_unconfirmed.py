"""Which Invocations of a range may be broken: PostgreSQL compares the rows, some thousand Invocations at a time.

An Invocation that keeps every rule here is sound. Any other is read again, row by row, by whoever says what is wrong
with it. So nothing is lost if a rule here is stricter than it should be; the rules come from the same model.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final
from uuid import UUID

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import STATUS_OF_EVENT, TERMINAL_STATUSES, TRANSITIONS, EventType
from aop.ledger.check_span import FIRST_ID, LAST_ID, Pair, Span
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER, Terminal
from aop.store.database import Connection

_BATCH: Final = 10_000


def _choice(subject: str, results: Mapping[str, str]) -> str:
    cases = " ".join(f"WHEN '{value}' THEN {result}" for value, result in results.items())
    return f"CASE {subject} {cases} END"


def _among(texts: Sequence[str]) -> str:
    return f"IN ({', '.join(repr(str(text)) for text in texts)})" if texts else "IN ('')"


def _is_allowed(kind: EventType, code: ErrorCode | None, reason: Reason | None) -> bool:
    try:
        Terminal(kind, code, reason)
    except ValueError:
        return False
    return True


def _error_of(kind: EventType) -> str:
    """Whether the code and the reason of a terminal are right. Neither has a space in it."""
    codes = [code for code in ErrorCode if _is_allowed(kind, code, None)]
    pairs = [f"{code} {reason}" for code, reason in product(ErrorCode, Reason) if _is_allowed(kind, code, reason)]
    return (
        f"CASE WHEN error_code IS NULL THEN reason IS NULL AND {_is_allowed(kind, None, None)}"
        f" WHEN reason IS NULL THEN error_code {_among(codes)} ELSE error_code || ' ' || reason {_among(pairs)} END"
    )


_TERMINALS: Final = [kind for kind in EventType if STATUS_OF_EVENT[kind] in TERMINAL_STATUSES]
_OPENED: Final = _choice("one.opening", {kind: str(len(events)) for kind, events in OPENING_EVENTS.items()})
_BEGUN: Final = _choice("one.opening", {kind: f"'{status}'" for kind, status in STATUS_AFTER.items()})
_STATUS: Final = _choice("lag(event.type) OVER chain", {kind: f"'{each}'" for kind, each in STATUS_OF_EVENT.items()})
_MOVES: Final = _choice("status", {status: f"type {_among(sorted(kinds))}" for status, kinds in TRANSITIONS.items()})
_ERRORS: Final = _choice("type", {kind: _error_of(kind) for kind in _TERMINALS})

# Of the range alone, which both keys begin with, so that both are read in their order.
_RANGE: Final = "{0}.invocation_id >= $1 AND {0}.invocation_id <= $3"
_UNCONFIRMED: Final = f"""
WITH life AS MATERIALIZED (
    SELECT epoch.router_id, epoch.epoch, closed.epoch IS NULL AS is_open,
           coalesce((SELECT max(position) FROM ledger.checkpoint AS last
                      WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch), 0) AS settled,
           coalesce((SELECT max(position) FROM ledger.numbered_position AS last
                      WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch), 0) AS numbered
      FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)),
opened AS (
    SELECT one.invocation_id, one.root_task_id, one.trace_id, one.workspace_id, one.router_id, one.epoch, one.opening,
           one.created_at, {_OPENED} AS opened_events, {_BEGUN} AS begun,
           octet_length(one.agent_card_digest) = 32 AND (number.number IS NOT NULL OR one.position >= life.numbered)
           AND CASE WHEN one.parent_invocation_id IS NULL THEN one.caller_type = 'user'
                    ELSE parent.trace_id = one.trace_id AND parent.workspace_id = one.workspace_id
                         AND one.caller_type = 'agent' AND parent.target_agent_id = one.caller_id
                         AND parent.opening = 'started' AND parent.created_at <= one.created_at END AS is_right,
           one.opening = 'started' AND life.is_open AND one.position >= life.settled AS may_run
      FROM ledger.invocation AS one
      LEFT JOIN life USING (router_id, epoch)
      LEFT JOIN ledger.number ON number.invocation_id = one.invocation_id AND number.sequence = 0
            AND {_RANGE.format("number")}
      LEFT JOIN LATERAL (
           SELECT above.trace_id, above.workspace_id, above.target_agent_id, above.opening, above.created_at
             FROM ledger.invocation AS above
            WHERE above.invocation_id = one.parent_invocation_id AND above.root_task_id = one.root_task_id
           OFFSET 0) AS parent ON true
     WHERE (one.invocation_id, one.root_task_id) > ($1::uuid, $2::uuid)
       AND (one.invocation_id, one.root_task_id) <= ($3::uuid, $4::uuid)
       AND one.created_at >= coalesce($5::timestamptz, '-infinity')
       AND one.created_at < coalesce($6::timestamptz, 'infinity')),
chained AS (
    SELECT opened.*, event.type, event.sequence, event.occurred_at, event.previous_status, event.latency_ms,
           event.error_code, event.reason, event.chunk_index, event.chunk_count, event.chunk_bytes,
           coalesce({_STATUS}, begun) AS status,
           coalesce(lag(event.sequence) OVER chain + 1, opened_events) AS expected,
           coalesce(lag(event.occurred_at) OVER chain, opened.created_at) AS earlier,
           coalesce(lag(event.chunk_index) OVER chain, -1) AS chunks,
           event.router_id = opened.router_id AND event.epoch >= opened.epoch AND (
               (event.opening, event.trace_id, event.workspace_id, event.created_at)
               = (opened.opening, opened.trace_id, opened.workspace_id, opened.created_at)
               OR event.type = 'stream' AND (event.opening IS NULL OR event.opening = opened.opening)
                  AND (event.trace_id IS NULL OR event.trace_id = opened.trace_id)
                  AND (event.workspace_id IS NULL OR event.workspace_id = opened.workspace_id)
                  AND (event.created_at IS NULL OR event.created_at = opened.created_at)) AS has_context
      FROM opened
      LEFT JOIN ledger.event ON event.invocation_id = opened.invocation_id AND event.root_task_id = opened.root_task_id
            AND {_RANGE.format("event")}
    WINDOW chain AS (PARTITION BY opened.invocation_id, opened.root_task_id ORDER BY event.sequence)),
judged AS (
    SELECT *, type IS NULL OR coalesce(has_context
           AND sequence = expected AND previous_status = status AND occurred_at >= earlier AND {_MOVES}
           AND CASE WHEN type = 'stream'
                    THEN chunk_count > 0 AND chunk_bytes > 0 AND chunk_index = chunks + chunk_count
                         AND latency_ms IS NULL AND error_code IS NULL AND reason IS NULL
                    ELSE chunk_index IS NULL AND chunk_count IS NULL AND chunk_bytes IS NULL
                         AND latency_ms = floor(extract(epoch FROM occurred_at - created_at) * 1000)
                         AND {_ERRORS} END, false) AS is_linked
      FROM chained),
whole AS (
    SELECT invocation_id, root_task_id, min(opened_events) + count(type) AS events,
           coalesce(bool_or(type <> 'stream'), false) AS has_ended,
           bool_and(is_linked AND coalesce(is_right AND opened_events IS NOT NULL, false)) AS is_kept,
           coalesce(bool_or(may_run), false) AS may_run
      FROM judged GROUP BY invocation_id, root_task_id)
SELECT count(*), coalesce(sum(events), 0)::bigint, count(*) FILTER (WHERE NOT has_ended),
       array_agg(invocation_id) FILTER (WHERE NOT (is_kept AND (has_ended OR may_run))),
       array_agg(root_task_id) FILTER (WHERE NOT (is_kept AND (has_ended OR may_run)))
  FROM whole
"""  # noqa: S608  parts of our own, here and below
# The last Invocation of each batch, in the order of the key.
_BATCH_END: Final = """
SELECT invocation_id, root_task_id FROM ledger.invocation
 WHERE (invocation_id, root_task_id) > ($1, $2) AND invocation_id <= $3
 ORDER BY invocation_id, root_task_id OFFSET $4 LIMIT 1
"""


@dataclass(frozen=True)
class Judged:
    """What a batch has: Invocations, events, Invocations that have not ended, and those that must be read again."""

    checked: int
    events: int
    open: int
    unconfirmed: Sequence[Pair]


async def judged(connection: Connection, span: Span, ids: tuple[UUID, UUID]) -> AsyncGenerator[Judged, None]:
    """The Invocations of a span, whose ids lie between these two, both included."""
    last: Pair = (ids[0], FIRST_ID)
    while last[0] < ids[1]:
        found = await connection.fetchrow(_BATCH_END, *last, ids[1], _BATCH - 1)
        end: Pair = (ids[1], LAST_ID) if found is None else (found[0], found[1])
        row = await connection.fetchrow(_UNCONFIRMED, *last, *end, span.since, span.until)
        checked, events, running, named, roots = row
        yield Judged(checked, events, running, sorted(zip(named or (), roots or (), strict=True)))
        last = end
