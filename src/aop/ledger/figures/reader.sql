-- name: late
-- What no tile counts, of a Workspace ($1) and a window by start, step in seconds and end ($2 to $4), with the bounds of
-- latencies ($5), up to a limit ($6): numbered rows after the tiles, and rows that have no number yet. Of one snapshot,
-- each acceptance and each end is in exactly one of the three, and an acceptance has no outcome. OFFSET 0 and LIMIT keep
-- a look-up one by key, or one scan of the index on positions from a position that is known then; as a join, the planner
-- may as well read the whole of a table.
WITH extent AS MATERIALIZED (
    SELECT (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
             WHERE figure_tile.edition = newest.edition AND level = 0) * 1024 AS counted,
           coalesce((SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1), 0) AS settled
      FROM (SELECT coalesce(max(edition), 1) AS edition FROM ledger.figure_tile) AS newest),
unnumbered AS MATERIALIZED (
    SELECT invocation.invocation_id, invocation.root_task_id, invocation.created_at, invocation.target_agent_id,
           invocation.capability
      FROM ledger.epoch AS life
     CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.numbered_position AS one
                          WHERE one.router_id = life.router_id AND one.epoch = life.epoch) AS numbered
     CROSS JOIN LATERAL (SELECT * FROM ledger.invocation AS one
                          WHERE one.router_id = life.router_id AND one.epoch = life.epoch
                            AND one.position >= numbered.position AND one.workspace_id = $1 OFFSET 0) AS invocation
     WHERE invocation.created_at >= $2 AND invocation.created_at < $4 AND (
           SELECT number FROM ledger.number
            WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0 LIMIT 1) IS NULL)
SELECT floor(extract(epoch FROM created_at - $2) / $3)::integer AS bucket, target_agent_id, capability, outcome,
       error_code, reason,
       width_bucket(latency_ms, $5::bigint[]) AS latency, max(latency_ms) AS max_latency_ms, count(*) AS calls
  FROM (
    -- Numbered after the tiles: an acceptance, or an end that has its number.
    SELECT created_at, target_agent_id, capability, outcome, error_code, reason, latency_ms
      FROM (
           SELECT number.workspace_id, invocation.created_at, invocation.target_agent_id, invocation.capability,
                  ended.type AS outcome, ended.error_code, ended.reason, ended.latency_ms
             FROM ledger.number
            CROSS JOIN LATERAL (SELECT created_at, target_agent_id, capability FROM ledger.invocation AS one
                                 WHERE one.invocation_id = number.invocation_id
                                   AND one.root_task_id = number.root_task_id
                                OFFSET 0) AS invocation
             LEFT JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                                 WHERE number.is_terminal AND one.invocation_id = number.invocation_id
                                   AND one.root_task_id = number.root_task_id AND one.sequence = number.sequence
                                OFFSET 0) AS ended ON true
            WHERE (number.sequence = 0 OR number.is_terminal)
              AND number.workspace_id = $1 AND number.number >= (SELECT counted FROM extent)
              AND invocation.created_at >= $2 AND invocation.created_at < $4) AS row
     UNION ALL
    SELECT created_at, target_agent_id, capability, NULL, NULL, NULL, NULL FROM unnumbered
     UNION ALL
    -- The ends of these.
    SELECT invocation.created_at, invocation.target_agent_id, invocation.capability, ended.type, ended.error_code,
           ended.reason, ended.latency_ms
      FROM unnumbered AS invocation
     CROSS JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                          WHERE one.invocation_id = invocation.invocation_id
                            AND one.root_task_id = invocation.root_task_id
                            AND one.type <> 'stream' OFFSET 0) AS ended
     UNION ALL
    -- Ends without a number of Invocations whose acceptance has one.
    SELECT invocation.created_at, invocation.target_agent_id, invocation.capability, ended.type, ended.error_code,
           ended.reason, ended.latency_ms
      FROM ledger.number
     CROSS JOIN LATERAL (SELECT created_at, target_agent_id, capability FROM ledger.invocation AS one
                          WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                         OFFSET 0) AS invocation
     CROSS JOIN LATERAL (SELECT type, error_code, reason, latency_ms FROM ledger.event AS one
                          WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                            AND one.type <> 'stream' OFFSET 0) AS ended
     WHERE number.workspace_id = $1 AND number.number >= (SELECT settled FROM extent) AND number.sequence = 0
       AND invocation.created_at >= $2 AND invocation.created_at < $4 AND (
           SELECT ended.number FROM ledger.number AS ended
            WHERE ended.invocation_id = number.invocation_id AND ended.is_terminal LIMIT 1) IS NULL) AS row
 GROUP BY 1, 2, 3, 4, 5, 6, 7 LIMIT $6

-- name: rows_in_window
-- Of a Workspace ($1), in ranges of rows by width, first start, end, and whether the parts are read ($2 to $5). Of level 1
-- all tiles are read, of level 0 those of the run that level 1 does not count yet.
WITH newest AS MATERIALIZED (
    SELECT newest.edition,
           (SELECT coalesce(max(tile) + 1, 0) FROM ledger.figure_tile
             WHERE figure_tile.edition = newest.edition AND level = 1) AS runs
      FROM (SELECT coalesce(max(edition), 1) AS edition FROM ledger.figure_tile) AS newest)
SELECT extract(epoch FROM start)::bigint, in_parts, CASE WHEN in_parts THEN parts ELSE cell END
  FROM newest CROSS JOIN LATERAL (VALUES (0::smallint, runs), (1::smallint, 0)) AS part (level, run)
 CROSS JOIN unnest($2::integer[], $3::bigint[], $4::bigint[], $5::boolean[]) AS piece (width, first, past, in_parts)
 CROSS JOIN LATERAL (
       SELECT start, cell, parts FROM ledger.figure AS one
        WHERE one.workspace_id = $1 AND one.edition = newest.edition AND one.level = part.level AND one.run = part.run
          AND one.width = piece.width
          AND one.start >= to_timestamp(piece.first) AND one.start < to_timestamp(piece.past)
       OFFSET 0) AS row

-- name: keys
-- What keys ($1) stand for, by their numbers.
SELECT key, target_agent_id, capability, outcome, error_code, reason FROM ledger.figure_key WHERE key = ANY($1)
