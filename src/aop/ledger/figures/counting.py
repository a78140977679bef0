"""The statements that tiles are counted by."""

from typing import Final

from aop.ledger.figures.hours import HOUR

NUMBERS_IN_TILE: Final = 1_024
"""Of level 0."""
TILES_IN_RUN: Final = 64
"""Of level 0 that one tile of level 1 sums. The store knows it too: a row of level 0 names its run."""

# OFFSET 0 keeps each look-up one of a row by its key. As a join, the planner may as well read the whole of a table.
OPENING: Final = """
CROSS JOIN LATERAL (SELECT created_at, target_agent_id, capability FROM ledger.invocation AS one
                     WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                    OFFSET 0) AS invocation
"""
NUMBERED: Final = f"""
SELECT number.workspace_id, invocation.created_at, invocation.target_agent_id, invocation.capability,
       ended.type AS outcome, ended.error_code, ended.reason, ended.latency_ms
  FROM ledger.number {OPENING}
  LEFT JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                      WHERE number.is_terminal AND one.invocation_id = number.invocation_id
                        AND one.root_task_id = number.root_task_id AND one.sequence = number.sequence
                     OFFSET 0) AS ended ON true
 WHERE (number.sequence = 0 OR number.is_terminal)
"""  # noqa: S608  parts of our own, here and below
"""A call is counted once when it was accepted, without an outcome, and once more when it ended."""
CALLS_OF_TILE: Final = f"""
SELECT workspace_id, target_agent_id, capability, outcome, error_code, reason,
       array_agg(extract(epoch FROM date_trunc('minute', created_at))::bigint) AS minutes,
       array_agg(latency_ms) AS latencies
  FROM ({NUMBERED} AND number.number >= $1 * {NUMBERS_IN_TILE} AND number.number < ($1 + 1) * {NUMBERS_IN_TILE}) AS row
 GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608
"""Of a tile of level 0 ($1): for each key the minutes in which its calls were accepted, in seconds since 1970, and
their latencies."""
_KEYS: Final = """
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       AS wanted (workspace_id, target_agent_id, capability, outcome, error_code, reason)
"""
_SAME_KEY: Final = """
        figure_key.workspace_id = wanted.workspace_id AND figure_key.target_agent_id = wanted.target_agent_id
    AND figure_key.capability = wanted.capability AND figure_key.outcome IS NOT DISTINCT FROM wanted.outcome
    AND figure_key.error_code IS NOT DISTINCT FROM wanted.error_code
    AND figure_key.reason IS NOT DISTINCT FROM wanted.reason
"""
NUMBERS_OF_KEYS: Final = f"SELECT wanted.*, figure_key.key {_KEYS} JOIN ledger.figure_key ON {_SAME_KEY}"
"""Of keys in columns those that have a number, and it."""
ADD_KEYS: Final = f"""
INSERT INTO ledger.figure_key (workspace_id, target_agent_id, capability, outcome, error_code, reason)
SELECT wanted.* {_KEYS}
 WHERE NOT EXISTS (SELECT FROM ledger.figure_key WHERE {_SAME_KEY})
    ON CONFLICT DO NOTHING
"""  # noqa: S608
"""Of keys in columns those that have no number get one."""
HOURS_OF_RUN: Final = f"""
SELECT workspace_id, extract(epoch FROM start)::bigint, parts
  FROM ledger.figure
 WHERE edition = $1 AND level = 0 AND tile >= $2 * {TILES_IN_RUN} AND tile < ($2 + 1) * {TILES_IN_RUN}
   AND width = {HOUR}
 ORDER BY workspace_id, start
"""  # noqa: S608
"""The hours that the tiles of a run ($2) in an edition ($1) count, those of one Workspace behind each other."""
DETACHED_TILES: Final = f"""
SELECT DISTINCT number / {NUMBERS_IN_TILE} FROM ledger.number JOIN ledger.detached_month AS gone
    ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root
 WHERE number >= $1 AND number < $2
"""  # noqa: S608
"""The tiles of level 0 in a range of numbers that count rows of detached months, and cannot be counted again."""
