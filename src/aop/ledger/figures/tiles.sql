-- name: tile_counts
-- The newest edition, how many tiles it has of level 0, and how many of level 1.
SELECT newest.edition,
       (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
         WHERE figure_tile.edition = newest.edition AND level = 0) AS tiles,
       (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
         WHERE figure_tile.edition = newest.edition AND level = 1) AS runs
  FROM (SELECT coalesce(max(edition), 1) AS edition FROM ledger.figure_tile) AS newest

-- name: calls_of_tile
-- Of a tile of level 0 ($1), which are 1,024 numbers: for each key the minutes in which its calls were accepted, in
-- seconds since 1970, and their latencies. A call is counted once when it was accepted, without an outcome, and once more
-- when it ended. OFFSET 0 keeps each look-up one of a row by its key.
SELECT workspace_id, target_agent_id, capability, outcome, error_code, reason,
       array_agg(extract(epoch FROM date_trunc('minute', created_at))::bigint) AS minutes,
       array_agg(latency_ms) AS latencies
  FROM (
       SELECT number.workspace_id, invocation.created_at, invocation.target_agent_id, invocation.capability,
              ended.type AS outcome, ended.error_code, ended.reason, ended.latency_ms
         FROM ledger.number
        CROSS JOIN LATERAL (SELECT created_at, target_agent_id, capability FROM ledger.invocation AS one
                             WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                            OFFSET 0) AS invocation
         LEFT JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                             WHERE number.is_terminal AND one.invocation_id = number.invocation_id
                               AND one.root_task_id = number.root_task_id AND one.sequence = number.sequence
                            OFFSET 0) AS ended ON true
        WHERE (number.sequence = 0 OR number.is_terminal)
          AND number.number >= $1 * 1024 AND number.number < ($1 + 1) * 1024) AS row
 GROUP BY 1, 2, 3, 4, 5, 6

-- name: numbers_of_keys
-- Of keys in columns those that have a number, and it.
SELECT wanted.*, figure_key.key
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       AS wanted (workspace_id, target_agent_id, capability, outcome, error_code, reason)
  JOIN ledger.figure_key ON
        figure_key.workspace_id = wanted.workspace_id AND figure_key.target_agent_id = wanted.target_agent_id
    AND figure_key.capability = wanted.capability AND figure_key.outcome IS NOT DISTINCT FROM wanted.outcome
    AND figure_key.error_code IS NOT DISTINCT FROM wanted.error_code
    AND figure_key.reason IS NOT DISTINCT FROM wanted.reason

-- name: add_keys
-- Of keys in columns those that have no number get one.
INSERT INTO ledger.figure_key (workspace_id, target_agent_id, capability, outcome, error_code, reason)
SELECT wanted.*
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       AS wanted (workspace_id, target_agent_id, capability, outcome, error_code, reason)
 WHERE NOT EXISTS (SELECT FROM ledger.figure_key WHERE
        figure_key.workspace_id = wanted.workspace_id AND figure_key.target_agent_id = wanted.target_agent_id
    AND figure_key.capability = wanted.capability AND figure_key.outcome IS NOT DISTINCT FROM wanted.outcome
    AND figure_key.error_code IS NOT DISTINCT FROM wanted.error_code
    AND figure_key.reason IS NOT DISTINCT FROM wanted.reason)
    ON CONFLICT DO NOTHING

-- name: hours_of_run
-- The hours that the 64 tiles of a run ($2) in an edition ($1) count, those of one Workspace one after the other.
SELECT workspace_id, extract(epoch FROM start)::bigint, parts
  FROM ledger.figure
 WHERE edition = $1 AND level = 0 AND tile >= $2 * 64 AND tile < ($2 + 1) * 64
   AND width = 3600
 ORDER BY workspace_id, start

-- name: detached_tiles
-- The tiles of level 0 in a range of numbers that count rows of detached months, and cannot be counted again.
SELECT DISTINCT number / 1024 FROM ledger.number JOIN ledger.detached_month AS gone
    ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root
 WHERE number >= $1 AND number < $2

-- name: add_rows
-- Rows of the tile $3 of a level ($2) in an edition ($1).
INSERT INTO ledger.figure (edition, level, tile, workspace_id, width, start, cell, parts)
SELECT $1, $2, $3, workspace_id, width, to_timestamp(start), cell, parts
  FROM unnest($4::text[], $5::integer[], $6::bigint[], $7::bytea[], $8::bytea[])
       AS one (workspace_id, width, start, cell, parts)

-- name: copy_rows
-- The rows of the tile $2 of level 0 as they are in the edition $3, for the edition $1.
INSERT INTO ledger.figure (edition, level, tile, workspace_id, width, start, cell, parts)
SELECT $1, level, tile, workspace_id, width, start, cell, parts
  FROM ledger.figure WHERE edition = $3 AND level = 0 AND tile = $2
