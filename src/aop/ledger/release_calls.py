"""Counts the calls of a Release: what checkpoints have counted, and the few Invocations that none covers yet."""

from typing import Final

from aop.store.database import Connection
from aop.store.rows import Row, to_row

MAX_COUNTED_AT_ONCE: Final = 50_000
"""How many positions one checkpoint covers at most: more would not be counted within the time of a statement."""

# Below, OFFSET 0 keeps a look-up in ledger.invocation one scan of its index on positions, from a position that is known
# then. As a join, the planner may as well read the whole epoch, or the whole table of events.
_SETTLE = (
    "WITH before AS (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint"
    "  WHERE router_id = $1 AND epoch = $2),"
    " added AS (INSERT INTO ledger.checkpoint (router_id, epoch, position) VALUES ($1, $2, $3)"
    "  ON CONFLICT DO NOTHING RETURNING position)"
    " INSERT INTO ledger.release_calls (agent_release_id, minute, router_id, epoch, position, calls)"
    " SELECT settled.agent_release_id, date_trunc('minute', settled.created_at), $1, $2, added.position, count(*)"
    " FROM before CROSS JOIN added CROSS JOIN LATERAL (SELECT agent_release_id, created_at FROM ledger.invocation"
    "  WHERE router_id = $1 AND epoch = $2 AND position >= before.position AND position < added.position OFFSET 0)"
    " AS settled GROUP BY 1, 2, 5"
)
_HOUR, _DAY = (f"(date_trunc('minute', now()) - interval '1 {length}')" for length in ("hour", "day"))
# One snapshot of both, so that nothing is counted twice. A closed epoch has no further checkpoints, so that its last
# Invocations are never in the counts. One that was closed before the window, and an hour more for clocks that differ,
# has none in it.
_REACH = (
    f"WITH counted AS (SELECT sum(calls) FILTER (WHERE minute >= {_HOUR}) AS hour, sum(calls) AS day"  # noqa: S608
    f"  FROM ledger.release_calls WHERE agent_release_id = $1 AND minute >= {_DAY}),"
    f" recent AS (SELECT count(*) FILTER (WHERE latest.created_at >= {_HOUR}) AS hour,"
    f"  count(*) FILTER (WHERE latest.created_at >= {_DAY}) AS day,"
    "  count(*) FILTER (WHERE latest.outcome IS NULL) AS running"
    "  FROM ledger.epoch AS life LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)"
    "  CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint"
    "   WHERE checkpoint.router_id = life.router_id AND checkpoint.epoch = life.epoch) AS settled"
    "  CROSS JOIN LATERAL (SELECT invocation.created_at, (SELECT ended.type FROM ledger.event AS ended"
    "    WHERE ended.invocation_id = invocation.invocation_id AND ended.root_task_id = invocation.root_task_id"
    "     AND ended.type <> 'stream' LIMIT 1) AS outcome"
    "   FROM ledger.invocation WHERE invocation.router_id = life.router_id AND invocation.epoch = life.epoch"
    "   AND invocation.position >= settled.position AND invocation.agent_release_id = $1 OFFSET 0) AS latest"
    f"  WHERE closed.closed_at IS NULL OR closed.closed_at >= {_DAY} - interval '1 hour')"
    " SELECT (coalesce(counted.hour, 0) + recent.hour)::bigint, (coalesce(counted.day, 0) + recent.day)::bigint,"
    " recent.running FROM counted, recent"
)


class CallsRow(Row, frozen=True):
    last_hour: int
    last_day: int
    running: int


async def settle(connection: Connection, router_id: str, epoch: int, position: int) -> None:
    """Adds a checkpoint, and the counts of what lies between it and the one before."""
    await connection.execute(_SETTLE, router_id, epoch, position)


async def calls_of(connection: Connection, release: str) -> CallsRow:
    """In the caller's transaction. The statistics of a table that grows fast say little of its newest rows: a plan that
    reads all of it is never right here."""
    await connection.execute("SET LOCAL enable_seqscan = off")
    return to_row(CallsRow, await connection.fetchrow(_REACH, release))
