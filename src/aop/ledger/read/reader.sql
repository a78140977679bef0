-- name: record
-- The Invocation $1 of the Workspace $2.
SELECT invocation_id, root_task_id, trace_id, parent_invocation_id, caller_type, caller_id, workspace_id,
       target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability, opening, opening_event_id,
       created_at, deadline_at, authorization_digest, updated_at, outcome, latency_ms, error_code, reason
  FROM ledger.record WHERE invocation_id = $1 AND workspace_id = $2

-- name: events
-- What followed the opening of the Invocation $1 with the root task $2: then only the month of that is opened.
SELECT event_id, sequence, occurred_at, type, chunk_index, chunk_count, chunk_bytes, latency_ms, error_code, reason
  FROM ledger.event WHERE invocation_id = $1 AND root_task_id = $2 ORDER BY sequence

-- name: trace
-- The Invocations of the Trace $1 in the Workspace $2. The condition on the position is that of the index, here and
-- below; without it the whole table would be read.
SELECT invocation_id, root_task_id, trace_id, parent_invocation_id, caller_type, caller_id, workspace_id,
       target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability, opening, opening_event_id,
       created_at, deadline_at, authorization_digest, updated_at, outcome, latency_ms, error_code, reason
  FROM ledger.record WHERE trace_id = $1 AND workspace_id = $2 AND position > 0

-- name: trace_sizes
-- How many Invocations Traces have, which are named by their ids and root tasks, in a Workspace.
SELECT trace_id, count(*) FROM ledger.invocation
 WHERE trace_id = ANY($1) AND root_task_id = ANY($2) AND workspace_id = $3 AND position > 0 GROUP BY 1

-- name: trace_parts
-- Of such Traces the Invocations of the same Agent that ended the same way: how many, and when the last one changed.
SELECT trace_id, target_agent_id, outcome, error_code, reason, count(*), max(updated_at) FROM ledger.record
 WHERE trace_id = ANY($1) AND root_task_id = ANY($2) AND workspace_id = $3 AND position > 0 GROUP BY 1, 2, 3, 4, 5

-- name: parent
-- The Invocation $1 with the root task $2, and how many Invocations that has.
SELECT invocation_id, root_task_id, trace_id, parent_invocation_id, caller_type, caller_id, workspace_id,
       target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability, opening, outcome,
       (SELECT count(*) FROM ledger.invocation AS other WHERE other.root_task_id = $2 AND other.position > 0
           AND other.trace_id = record.trace_id AND other.workspace_id = record.workspace_id) AS in_root_task
  FROM ledger.record WHERE invocation_id = $1 AND root_task_id = $2

-- name: ended_with_children
-- Of Invocations those that ended in one of some ways.
SELECT invocation_id FROM ledger.event WHERE invocation_id = ANY($1) AND type <> 'stream' AND type = ANY($2)

-- name: calls_of
-- The calls of the Release $1 in the last hour and day, and how many run: what checkpoints have counted, and the few
-- Invocations that none covers yet. One snapshot of both, so that nothing is counted twice. A closed epoch has no further
-- checkpoints, so that its last Invocations are never in the counts. One that was closed before the window, and an hour
-- more for clocks that differ, has none in it. OFFSET 0 keeps the look-up in ledger.invocation one scan of its index on
-- positions, from a position that is known then; as a join, the planner may as well read the whole epoch.
WITH counted AS (
    SELECT sum(calls) FILTER (WHERE minute >= date_trunc('minute', now()) - interval '1 hour') AS hour,
           sum(calls) AS day
      FROM ledger.release_calls
     WHERE agent_release_id = $1 AND minute >= date_trunc('minute', now()) - interval '1 day'),
recent AS (
    SELECT count(*) FILTER (WHERE latest.created_at >= date_trunc('minute', now()) - interval '1 hour') AS hour,
           count(*) FILTER (WHERE latest.created_at >= date_trunc('minute', now()) - interval '1 day') AS day,
           count(*) FILTER (WHERE latest.outcome IS NULL) AS running
      FROM ledger.epoch AS life LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
     CROSS JOIN LATERAL (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint
                          WHERE checkpoint.router_id = life.router_id AND checkpoint.epoch = life.epoch) AS settled
     CROSS JOIN LATERAL (
           SELECT invocation.created_at, (
                  SELECT ended.type FROM ledger.event AS ended
                   WHERE ended.invocation_id = invocation.invocation_id
                     AND ended.root_task_id = invocation.root_task_id AND ended.type <> 'stream' LIMIT 1) AS outcome
             FROM ledger.invocation
            WHERE invocation.router_id = life.router_id AND invocation.epoch = life.epoch
              AND invocation.position >= settled.position AND invocation.agent_release_id = $1 OFFSET 0) AS latest
     WHERE closed.closed_at IS NULL OR closed.closed_at >= date_trunc('minute', now()) - interval '1 day 1 hour')
SELECT (coalesce(counted.hour, 0) + recent.hour)::bigint, (coalesce(counted.day, 0) + recent.day)::bigint,
       recent.running FROM counted, recent
