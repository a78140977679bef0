"""The statements that make the cells of a tile: for each Workspace, width and start its calls by key and its latencies.

Level 0 counts rows of the Ledger. Level 1 sums the cells of level 0.
"""

from typing import Final

NUMBERS_IN_TILE: Final = 1_024
"""Of level 0."""
TILES_IN_RUN: Final = 64
"""Of level 0 that one tile of level 1 sums. The store knows it too: a cell of level 0 names its run."""
WIDTHS: Final = (86_400, 3_600, 300, 120, 60)
"""Of a cell, in seconds."""

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
_IN_TILE: Final = (
    f"{NUMBERED} AND number.number >= $2 * {NUMBERS_IN_TILE} AND number.number < ($2 + 1) * {NUMBERS_IN_TILE}"
)
_SAME_KEY: Final = """
        figure_key.workspace_id = counted.workspace_id AND figure_key.target_agent_id = counted.target_agent_id
    AND figure_key.capability = counted.capability AND figure_key.outcome IS NOT DISTINCT FROM counted.outcome
    AND figure_key.error_code IS NOT DISTINCT FROM counted.error_code
    AND figure_key.reason IS NOT DISTINCT FROM counted.reason
"""
ADD_KEYS: Final = f"""
INSERT INTO ledger.figure_key (workspace_id, target_agent_id, capability, outcome, error_code, reason)
SELECT *
  FROM (SELECT DISTINCT workspace_id, target_agent_id, capability, outcome, error_code, reason
          FROM ({_IN_TILE.replace("$2", "$1")}) AS row) AS counted
 WHERE NOT EXISTS (SELECT FROM ledger.figure_key WHERE {_SAME_KEY})
    ON CONFLICT DO NOTHING
"""  # noqa: S608
"""The keys that a tile of level 0 ($1) is the first to need."""
_FROM_ROWS: Final = f"""
WITH counted AS MATERIALIZED (
    SELECT *, date_trunc('minute', created_at) AS minute, width_bucket(latency_ms, $3::bigint[]) AS latency
      FROM ({_IN_TILE}) AS row),
minutes AS MATERIALIZED (
    SELECT counted.workspace_id, counted.minute, false AS is_latency, figure_key.key AS item, count(*) AS calls,
           NULL::bigint AS max_latency_ms
      FROM counted JOIN ledger.figure_key ON {_SAME_KEY} GROUP BY 1, 2, 4
     UNION ALL
    SELECT workspace_id, minute, true, latency, count(*), max(latency_ms)
      FROM counted WHERE latency IS NOT NULL GROUP BY 1, 2, 4),
items AS (
    SELECT workspace_id, width, date_bin(width * interval '1 s', minute, 'epoch') AS start, is_latency, item, calls,
           max_latency_ms
      FROM minutes CROSS JOIN unnest(ARRAY{list(WIDTHS)}) AS width),
"""  # noqa: S608
_FROM_CELLS: Final = f"""
WITH items AS (
    SELECT cell.workspace_id, cell.width, cell.start, item.*
      FROM ledger.figure AS cell
     CROSS JOIN LATERAL (
           SELECT false AS is_latency, item, calls, NULL::bigint AS max_latency_ms
             FROM unnest(cell.keys, cell.calls) AS pair (item, calls)
            UNION ALL
           SELECT true, first_latency + cardinality(latency_calls) - place::integer, calls, cell.max_latency_ms
             FROM unnest(cell.latency_calls) WITH ORDINALITY AS lane (calls, place) WHERE calls > 0) AS item
     WHERE cell.edition = $1 AND cell.level = 0 AND cell.tile >= $2 * {TILES_IN_RUN}
       AND cell.tile < ($2 + 1) * {TILES_IN_RUN}),
"""  # noqa: S608
# The latencies of a cell are an array without gaps: each that has calls is followed by those without up to the next.
_OF_ITEMS: Final = """
sums AS (
    SELECT workspace_id, width, start, is_latency, item, sum(calls)::integer AS calls,
           max(max_latency_ms) AS max_latency_ms
      FROM items GROUP BY 1, 2, 3, 4, 5),
lanes AS (
    SELECT *, lead(item, 1, item + 1) OVER (PARTITION BY workspace_id, width, start, is_latency ORDER BY item) AS next
      FROM sums)
SELECT workspace_id, $1::integer AS edition, {level}::smallint AS level, $2::bigint AS tile, width, start,
       coalesce(array_agg(item ORDER BY item) FILTER (WHERE NOT is_latency), '{{}}') AS keys,
       coalesce(array_agg(calls ORDER BY item) FILTER (WHERE NOT is_latency), '{{}}') AS calls,
       min(item) FILTER (WHERE is_latency) AS first_latency,
       array_agg(CASE item WHEN lane THEN calls ELSE 0 END ORDER BY lane DESC) FILTER (WHERE is_latency)
           AS latency_calls,
       max(max_latency_ms) AS max_latency_ms
  FROM lanes CROSS JOIN LATERAL generate_series(item, CASE WHEN is_latency THEN next - 1 ELSE item END) AS lane
 GROUP BY workspace_id, width, start
"""
CELLS_OF_ROWS: Final = _FROM_ROWS + _OF_ITEMS.format(level=0)
"""As they should be in the store, of a tile of level 0 in an edition ($1, $2), with the bounds of latencies ($3)."""
CELLS_OF_CELLS: Final = _FROM_CELLS + _OF_ITEMS.format(level=1)
"""As they should be in the store, of a tile of level 1 in an edition ($1, $2), as far as level 0 is right."""
