"""The rules of an Invocation and its events: PostgreSQL judges some thousand Invocations at a time.

Each rule is stated once, as a condition and as what is wrong where it does not hold. A row that keeps all of them costs
one comparison after the other; the texts are made for any other row alone.
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
_IS_ROOT: Final = "one.parent_invocation_id IS NULL"
# A scalar subquery is a look-up by the key. EXISTS may become a hash of the whole table.
_ELSEWHERE: Final = (
    "(SELECT true FROM ledger.invocation AS above WHERE above.invocation_id = one.parent_invocation_id LIMIT 1) IS NULL"
)


def _of_parent(condition: str) -> str:
    return f"{_IS_ROOT} OR parent.opening IS NULL OR {condition}"


_OF_OPENING: Final = {
    "'its epoch was never opened'": "life.epoch IS NOT NULL",
    "'the digest is not of 32 bytes'": "octet_length(one.agent_card_digest) = 32",
    "'has no number although its position counts as numbered'": (
        "number.number IS NOT NULL OR one.position >= coalesce(life.numbered, 0)"
    ),
    "'got its number at position ' || number.position || ' and stands at ' || one.position": (
        "number.position IS NULL OR number.position = one.position"
    ),
    "'its opening is none'": f"{_OPENED} IS NOT NULL",
    "'a root is not called by a user'": f"NOT ({_IS_ROOT}) OR one.caller_type = 'user'",
    "'its parent is missing'": f"{_IS_ROOT} OR parent.opening IS NOT NULL OR ({_ELSEWHERE}) IS FALSE",
    "'its root task is not its parent''s'": f"{_IS_ROOT} OR parent.opening IS NOT NULL OR {_ELSEWHERE}",
    "'its trace is not its parent''s'": _of_parent("one.trace_id = parent.trace_id"),
    "'its Workspace is not its parent''s'": _of_parent("one.workspace_id = parent.workspace_id"),
    "'its caller is not its parent''s Agent'": _of_parent(
        "one.caller_type = 'agent' AND one.caller_id = parent.target_agent_id"
    ),
    "'its parent never started'": _of_parent("parent.opening = 'started'"),
    "'was created before its parent started'": _of_parent("one.created_at >= parent.created_at"),
}
_OF_UNENDED: Final = {
    "'has no terminal in a closed epoch'": "life.is_open IS NOT FALSE",
    "'has no terminal before a checkpoint'": "one.position >= coalesce(life.settled, 0)",
    "'was over at its acceptance and has no terminal'": "one.opening = 'started'",
}
# What an event repeats must be right, and a terminal repeats all of it.
_CONTEXT: Final = " AND ".join(
    f"(event.{name} = opened.{name} OR event.type = 'stream' AND event.{name} IS NULL)"
    for name in ("opening", "trace_id", "workspace_id", "created_at")
)
_OF_EVENT: Final = {
    "format('event %s stands where %s should', sequence, expected)": "sequence = expected",
    "format('%s follows %s', type, status)": _MOVES,
    "format('event %s goes back in time', sequence)": "occurred_at >= earlier",
    "format('event %s names another status before it', sequence)": "previous_status = status",
    "format('event %s was written by another Router or an older epoch', sequence)": "is_of_writer",
    "format('event %s was written in an epoch that was never opened', sequence)": (
        "event_epoch <= coalesce(newest_epoch, event_epoch)"
    ),
    "format('event %s has another context', sequence)": "has_context",
    "format('event %s counts its chunks wrongly', sequence)": (
        "CASE WHEN type = 'stream' THEN chunk_count > 0 AND chunk_bytes > 0 AND chunk_index = chunks + chunk_count"
        " ELSE num_nonnulls(chunk_index, chunk_count, chunk_bytes) = 0 END"
    ),
    "format('event %s has a wrong latency', sequence)": (
        "CASE WHEN type = 'stream' THEN latency_ms IS NULL"
        " ELSE latency_ms = floor(extract(epoch FROM occurred_at - created_at) * 1000) END"
    ),
    "format('%s may not carry %s', type, concat_ws(' ', coalesce(error_code, 'None'), reason))": (
        f"CASE WHEN type = 'stream' THEN error_code IS NULL AND reason IS NULL ELSE {_ERRORS} END"
    ),
}


def _broken(rules: Mapping[str, str]) -> str:
    """The texts of the rules that do not hold, a line each; NULL if all of them hold. What is unknown does not hold."""
    every = " AND ".join(f"({holds})" for holds in rules.values())
    texts = ", ".join(f"CASE WHEN ({holds}) IS NOT TRUE THEN {text} END" for text, holds in rules.items())
    return f"CASE WHEN ({every}) IS NOT TRUE THEN concat_ws(E'\\n', {texts}) END"


# Of the range alone, which both keys begin with, so that both are read in their order.
_RANGE: Final = "{0}.invocation_id >= $1 AND {0}.invocation_id <= $3"
_JUDGED: Final = f"""
WITH life AS MATERIALIZED (
    SELECT epoch.router_id, epoch.epoch, max(epoch.epoch) OVER (PARTITION BY epoch.router_id) AS newest,
           closed.epoch IS NULL AS is_open,
           (SELECT max(position) FROM ledger.checkpoint AS last
             WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch) AS settled,
           (SELECT max(position) FROM ledger.numbered_position AS last
             WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch) AS numbered
      FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)),
opened AS (
    SELECT one.invocation_id, one.root_task_id, one.trace_id, one.workspace_id, one.router_id, one.epoch, one.opening,
           one.created_at, life.newest AS newest_epoch, {_OPENED} AS opened_events, {_BEGUN} AS begun,
           {_broken(_OF_OPENING)} AS broken, {_broken(_OF_UNENDED)} AS broken_unended
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
           event.epoch AS event_epoch,
           event.router_id = opened.router_id AND event.epoch >= opened.epoch AS is_of_writer,
           {_CONTEXT} AS has_context,
           coalesce({_STATUS}, begun) AS status,
           coalesce(lag(event.sequence) OVER chain + 1, opened_events) AS expected,
           coalesce(lag(event.occurred_at) OVER chain, opened.created_at) AS earlier,
           coalesce(lag(event.chunk_index) OVER chain, -1) AS chunks
      FROM opened
      LEFT JOIN ledger.event ON event.invocation_id = opened.invocation_id AND event.root_task_id = opened.root_task_id
            AND {_RANGE.format("event")}
    WINDOW chain AS (PARTITION BY opened.invocation_id, opened.root_task_id ORDER BY event.sequence)),
judged AS (
    SELECT *, CASE WHEN type IS NOT NULL THEN {_broken(_OF_EVENT)} END AS broken_event FROM chained),
whole AS (
    SELECT invocation_id, root_task_id, coalesce(min(opened_events), 0) + count(type) AS events,
           count(*) FILTER (WHERE type <> 'stream') AS terminals, min(broken) AS broken,
           min(broken_unended) AS broken_unended, string_agg(broken_event, E'\n') AS broken_events
      FROM judged GROUP BY invocation_id, root_task_id),
named AS (
    SELECT *, nullif(concat_ws(E'\n', broken, CASE terminals WHEN 0 THEN broken_unended WHEN 1 THEN NULL
                                              ELSE 'has more than one terminal' END, broken_events), '') AS problems
      FROM whole)
SELECT count(*), coalesce(sum(events), 0)::bigint, count(*) FILTER (WHERE terminals = 0),
       array_agg(invocation_id ORDER BY invocation_id) FILTER (WHERE problems IS NOT NULL),
       array_agg(problems ORDER BY invocation_id) FILTER (WHERE problems IS NOT NULL)
  FROM named
"""  # noqa: S608  parts of our own, here and below
# The last Invocation of each batch, in the order of the key.
_BATCH_END: Final = """
SELECT invocation_id, root_task_id FROM ledger.invocation
 WHERE (invocation_id, root_task_id) > ($1, $2) AND invocation_id <= $3
 ORDER BY invocation_id, root_task_id OFFSET $4 LIMIT 1
"""


@dataclass(frozen=True)
class Judged:
    """What a batch has: Invocations, events, Invocations that have not ended, and what is wrong with which one."""

    checked: int
    events: int
    open: int
    broken: Sequence[tuple[UUID, str]]


async def judged(connection: Connection, span: Span, ids: tuple[UUID, UUID]) -> AsyncGenerator[Judged, None]:
    """The Invocations of a span, whose ids lie between these two, both included."""
    last: Pair = (ids[0], FIRST_ID)
    while True:
        found = await connection.fetchrow(_BATCH_END, *last, ids[1], _BATCH - 1)
        end: Pair = (ids[1], LAST_ID) if found is None else (found[0], found[1])
        checked, events, running, named, problems = await connection.fetchrow(
            _JUDGED, *last, *end, span.since, span.until
        )
        broken = [
            (invocation, problem)
            for invocation, lines in zip(named or (), problems or (), strict=True)
            for problem in lines.split("\n")
        ]
        yield Judged(checked, events, running, broken)
        if found is None:
            return
        last = end
