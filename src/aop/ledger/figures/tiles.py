"""Tiles: what was accepted and what ended in a fixed range of numbers, counted by Workspace and minute of acceptance.

A tile is counted once, when all its numbers are given, and never changes: a call that ends later is in a later tile, in
the minute in which it was accepted.
"""

from typing import Final

from aop.ledger.figures.latency_buckets import LOWER_BOUNDS
from aop.store.database import Connection

NUMBERS_IN_TILE: Final = 4_096
# OFFSET 0 keeps each look-up one of a row by its key. As a join, the planner may as well read the whole of a table.
OPENING: Final = """
CROSS JOIN LATERAL (SELECT created_at, target_agent_id, capability FROM ledger.invocation AS one
                     WHERE one.invocation_id = number.invocation_id OFFSET 0) AS invocation
"""
NUMBERED: Final = f"""
SELECT number.workspace_id, invocation.created_at, invocation.target_agent_id, invocation.capability,
       ended.type AS outcome, ended.error_code, ended.reason, ended.latency_ms
  FROM ledger.number {OPENING}
  LEFT JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                      WHERE number.is_terminal AND one.invocation_id = number.invocation_id
                        AND one.sequence = number.sequence OFFSET 0) AS ended ON true
 WHERE (number.sequence = 0 OR number.is_terminal)
"""  # noqa: S608  parts of our own, here and below
"""A call is counted once when it was accepted, without an outcome, and once more when it ended."""
NEWEST_TILE: Final = (
    "SELECT edition, tile FROM ledger.figure_tile"
    " WHERE edition = (SELECT max(edition) FROM ledger.figure_tile) ORDER BY tile DESC LIMIT 1"
)
_IN_TILE: Final = (
    f"{NUMBERED} AND number.number >= $2 * {NUMBERS_IN_TILE} AND number.number < ($2 + 1) * {NUMBERS_IN_TILE}"
)
_SAME_KEY: Final = """
        figure_key.workspace_id = counted.workspace_id AND figure_key.target_agent_id = counted.target_agent_id
    AND figure_key.capability = counted.capability AND figure_key.outcome IS NOT DISTINCT FROM counted.outcome
    AND figure_key.error_code IS NOT DISTINCT FROM counted.error_code
    AND figure_key.reason IS NOT DISTINCT FROM counted.reason
"""
_ADD_KEYS: Final = f"""
INSERT INTO ledger.figure_key (workspace_id, target_agent_id, capability, outcome, error_code, reason)
SELECT DISTINCT workspace_id, target_agent_id, capability, outcome, error_code, reason
  FROM ({_IN_TILE.replace("$2", "$1")}) AS counted
 WHERE NOT EXISTS (SELECT FROM ledger.figure_key WHERE {_SAME_KEY})
    ON CONFLICT DO NOTHING
"""  # noqa: S608
CELLS: Final = f"""
WITH counted AS MATERIALIZED (
    SELECT *, date_trunc('minute', created_at) AS minute, width_bucket(latency_ms, $3::bigint[]) AS latency
      FROM ({_IN_TILE}) AS row),
lanes AS (
    SELECT workspace_id, minute, latency, 1 AS calls, latency_ms FROM counted WHERE latency IS NOT NULL
     UNION ALL
    SELECT workspace_id, minute, generate_series(min(latency), max(latency)), 0, NULL
      FROM counted WHERE latency IS NOT NULL GROUP BY 1, 2),
pairs AS (
    SELECT counted.workspace_id, counted.minute, false AS is_latency, figure_key.key AS item,
           count(*)::integer AS calls, NULL::bigint AS max_latency_ms
      FROM counted JOIN ledger.figure_key ON {_SAME_KEY} GROUP BY 1, 2, 4
     UNION ALL
    SELECT workspace_id, minute, true, latency, sum(calls)::integer, max(latency_ms) FROM lanes GROUP BY 1, 2, 4)
SELECT workspace_id, $1::integer AS edition, minute, $2::bigint AS tile,
       coalesce(array_agg(item ORDER BY item) FILTER (WHERE NOT is_latency), '{{}}') AS keys,
       coalesce(array_agg(calls ORDER BY item) FILTER (WHERE NOT is_latency), '{{}}') AS calls,
       min(item) FILTER (WHERE is_latency) AS first_latency,
       array_agg(calls ORDER BY item DESC) FILTER (WHERE is_latency) AS latency_calls,
       max(max_latency_ms) AS max_latency_ms
  FROM pairs GROUP BY workspace_id, minute
"""  # noqa: S608
"""The rows of a tile of an edition ($1, $2), with the bounds of latencies ($3), as they should be in the store."""
_ADD_CELLS: Final = (
    "INSERT INTO ledger.figure (workspace_id, edition, minute, tile, keys, calls, first_latency, latency_calls,"
    f" max_latency_ms) {CELLS}"
)


async def count_next_tile(connection: Connection, past: int) -> bool:
    """Counts the first tile that is not counted, if the numbers before `past` fill it. False when they do not."""
    newest = await connection.fetchrow(NEWEST_TILE)
    edition, tile = (1, 0) if newest is None else (newest["edition"], newest["tile"] + 1)
    if (tile + 1) * NUMBERS_IN_TILE > past:
        return False
    await count_tile(connection, edition, tile)
    return True


async def begin_edition(connection: Connection) -> int | None:
    """Counts the first tile again, in an edition that counts from now on; the sequencer counts the others. None while
    there is no tile."""
    newest = await connection.fetchrow(NEWEST_TILE)
    if newest is None:
        return None
    edition: int = newest["edition"] + 1
    await count_tile(connection, edition, 0)
    return edition


async def count_tile(connection: Connection, edition: int, tile: int) -> None:
    async with connection.transaction():
        await connection.execute("INSERT INTO ledger.figure_tile (edition, tile) VALUES ($1, $2)", edition, tile)
        await connection.execute(_ADD_KEYS, tile)
        await connection.execute(_ADD_CELLS, edition, tile, LOWER_BOUNDS)
