-- name: worker_names
-- The names under which the Router $1 has ever written: its id, and that with the number of a worker behind it.
SELECT DISTINCT router_id FROM ledger.epoch
 WHERE router_id = $1
    OR (starts_with(router_id, $1 || '.') AND substr(router_id, length($1) + 2) ~ '^[1-9][0-9]{0,3}$')
 ORDER BY router_id

-- name: find_acceptances
-- Of acceptances, named by Invocation and event, those in the store; an id taken by another one does not count.
SELECT opening_event_id, created_at FROM ledger.invocation
  JOIN unnest($1::uuid[], $2::uuid[]) AS entry (invocation_id, opening_event_id)
 USING (invocation_id, opening_event_id)

-- name: find_events
-- The events with these keys.
SELECT event_id FROM ledger.event JOIN unnest($1::uuid[], $2::integer[]) AS entry (invocation_id, sequence)
 USING (invocation_id, sequence)

-- name: unclosed_epochs
-- The epochs of the Router $1 before $2 that are not closed.
SELECT epoch FROM ledger.epoch
 WHERE router_id = $1 AND epoch < $2
   AND NOT EXISTS (SELECT FROM ledger.epoch_closed AS closed
                    WHERE closed.router_id = epoch.router_id AND closed.epoch = epoch.epoch)
 ORDER BY epoch

-- name: open_rows
-- Invocations of an epoch without a terminal, from its last checkpoint on, each with its last progress.
SELECT invocation.invocation_id, invocation.root_task_id, invocation.trace_id, invocation.parent_invocation_id,
       invocation.caller_type, invocation.caller_id, invocation.workspace_id, invocation.target_agent_id,
       invocation.agent_card_version, invocation.agent_release_id, invocation.agent_card_digest, invocation.capability,
       invocation.opening, invocation.created_at, last.sequence, last.chunk_index, last.occurred_at,
       EXISTS (SELECT FROM ledger.cancel_request AS request
                WHERE request.invocation_id = invocation.invocation_id
                  AND request.root_task_id = invocation.root_task_id) AS cancel_requested
  FROM ledger.invocation
  LEFT JOIN LATERAL (SELECT sequence, chunk_index, occurred_at FROM ledger.event
                      WHERE event.invocation_id = invocation.invocation_id
                        AND event.root_task_id = invocation.root_task_id
                      ORDER BY sequence DESC LIMIT 1) AS last ON true
 WHERE invocation.router_id = $1 AND invocation.epoch = $2
   AND invocation.position >= coalesce((SELECT max(position) FROM ledger.checkpoint
                                         WHERE router_id = $1 AND epoch = $2), 0)
   AND NOT EXISTS (SELECT FROM ledger.event AS ended
                    WHERE ended.invocation_id = invocation.invocation_id
                      AND ended.root_task_id = invocation.root_task_id AND ended.type <> 'stream')
 ORDER BY invocation.position LIMIT $3

-- name: settle
-- Adds the checkpoint $3 to an epoch, and counts by Release what lies between it and the one before. OFFSET 0 keeps the
-- look-up in ledger.invocation one scan of its index on positions, from a position that is known then.
WITH before AS (SELECT coalesce(max(position), 1) AS position FROM ledger.checkpoint
                 WHERE router_id = $1 AND epoch = $2),
added AS (INSERT INTO ledger.checkpoint (router_id, epoch, position) VALUES ($1, $2, $3)
              ON CONFLICT DO NOTHING RETURNING position)
INSERT INTO ledger.release_calls (agent_release_id, minute, router_id, epoch, position, calls)
SELECT settled.agent_release_id, date_trunc('minute', settled.created_at), $1, $2, added.position, count(*)
  FROM before CROSS JOIN added
 CROSS JOIN LATERAL (SELECT agent_release_id, created_at FROM ledger.invocation
                      WHERE router_id = $1 AND epoch = $2
                        AND position >= before.position AND position < added.position OFFSET 0) AS settled
 GROUP BY 1, 2, 5
