"""The statements that count a window: tiles, numbered rows behind them, and rows that have no number yet.

Of one snapshot, each acceptance and each end is in exactly one of the three.
"""

from typing import Final

from aop.ledger.figures.counting import NUMBERED, NUMBERS_IN_TILE, OPENING
from aop.ledger.figures.tiles import COUNTED

_BUCKET: Final = "floor(extract(epoch FROM {} - $2) / $3)::integer"
_IN_WINDOW: Final = "invocation.created_at >= $2 AND invocation.created_at < $4"
_ROW: Final = "invocation.created_at, invocation.target_agent_id, invocation.capability"
_ENDED: Final = "ended.type, ended.error_code, ended.reason, ended.latency_ms"
_LAST: Final = """
CROSS JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                     WHERE one.invocation_id = {0}.invocation_id AND one.root_task_id = {0}.root_task_id
                       AND one.type <> 'stream' OFFSET 0) AS ended
"""
# OFFSET 0 and LIMIT keep a look-up one scan of the index on positions, from a known position on, or one by key.
_UNNUMBERED: Final = f"""
SELECT invocation.invocation_id, invocation.root_task_id, {_ROW}
  FROM ledger.epoch AS life
 CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.numbered_position AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch) AS numbered
 CROSS JOIN LATERAL (SELECT * FROM ledger.invocation AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch
                        AND one.position >= numbered.position AND one.workspace_id = $1 OFFSET 0) AS invocation
 WHERE {_IN_WINDOW} AND (
       SELECT number FROM ledger.number
        WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0 LIMIT 1) IS NULL
"""  # noqa: S608  parts of our own, here and below
_LATE: Final = f"""
SELECT created_at, target_agent_id, capability, outcome, error_code, reason, latency_ms
  FROM ({NUMBERED} AND number.workspace_id = $1 AND number.number >= (SELECT counted FROM extent)
        AND {_IN_WINDOW}) AS row
 UNION ALL
SELECT created_at, target_agent_id, capability, NULL, NULL, NULL, NULL FROM unnumbered
 UNION ALL
SELECT {_ROW}, {_ENDED} FROM unnumbered AS invocation {_LAST.format("invocation")}
 UNION ALL
SELECT {_ROW}, {_ENDED}
  FROM ledger.number {OPENING} {_LAST.format("number")}
 WHERE number.workspace_id = $1 AND number.number >= (SELECT settled FROM extent) AND number.sequence = 0
   AND {_IN_WINDOW} AND (
       SELECT ended.number FROM ledger.number AS ended
        WHERE ended.invocation_id = number.invocation_id AND ended.is_terminal LIMIT 1) IS NULL
"""  # noqa: S608
LATE: Final = f"""
WITH extent AS MATERIALIZED (
    SELECT tiles * {NUMBERS_IN_TILE} AS counted,
           coalesce((SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1), 0) AS settled
      FROM ({COUNTED}) AS newest),
unnumbered AS MATERIALIZED ({_UNNUMBERED})
SELECT {_BUCKET.format("created_at")} AS bucket, target_agent_id, capability, outcome, error_code, reason,
       width_bucket(latency_ms, $5::bigint[]) AS latency, max(latency_ms) AS max_latency_ms, count(*) AS calls
  FROM ({_LATE}) AS row GROUP BY 1, 2, 3, 4, 5, 6, 7 LIMIT $6
"""  # noqa: S608
"""What no tile counts, of a Workspace ($1) and a window by start, step in seconds and end ($2 to $4), with the bounds
of latencies ($5), up to a limit ($6)."""
# Of level 1 all tiles are read, of level 0 those of the run that level 1 does not count yet.
ROWS_IN_WINDOW: Final = f"""
WITH newest AS MATERIALIZED ({COUNTED})
SELECT extract(epoch FROM start)::bigint, in_parts, CASE WHEN in_parts THEN parts ELSE cell END
  FROM newest CROSS JOIN LATERAL (VALUES (0::smallint, runs), (1::smallint, 0)) AS part (level, run)
 CROSS JOIN unnest($2::integer[], $3::bigint[], $4::bigint[], $5::boolean[]) AS piece (width, first, past, in_parts)
 CROSS JOIN LATERAL (
       SELECT start, cell, parts FROM ledger.figure AS one
        WHERE one.workspace_id = $1 AND one.edition = newest.edition AND one.level = part.level AND one.run = part.run
          AND one.width = piece.width
          AND one.start >= to_timestamp(piece.first) AND one.start < to_timestamp(piece.past)
       OFFSET 0) AS row
"""  # noqa: S608
"""Of a Workspace ($1), in ranges of rows by width, first start, end, and whether the parts are read ($2 to $5)."""
KEYS: Final = (
    "SELECT key, target_agent_id, capability, outcome, error_code, reason FROM ledger.figure_key WHERE key = ANY($1)"
)
