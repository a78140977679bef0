-- name: numbers
-- Rows of the Workspace $1 from the number $2 on, up to a limit. By both columns as one value: only the index of
-- Workspace and number has this order. Ordered by the number alone, a read of a quiet Workspace might follow the primary
-- key through everything that all the others did.
SELECT number, invocation_id, root_task_id, sequence, events FROM ledger.number
 WHERE (workspace_id, number) >= ($1, $2) AND (workspace_id, number) <= ($1, 9223372036854775807)
 ORDER BY workspace_id, number LIMIT $3

-- name: openings
-- The acceptances of Invocations, which are named with their root tasks.
SELECT invocation.invocation_id, invocation.root_task_id, invocation.trace_id, invocation.parent_invocation_id,
       invocation.caller_type, invocation.caller_id, invocation.workspace_id, invocation.target_agent_id,
       invocation.agent_card_version, invocation.agent_release_id, invocation.agent_card_digest, invocation.capability,
       invocation.opening, invocation.opening_event_id, invocation.created_at, invocation.deadline_at,
       invocation.authorization_digest
  FROM unnest($1::uuid[], $2::uuid[]) AS wanted (invocation_id, root_task_id)
  JOIN ledger.invocation USING (invocation_id, root_task_id)

-- name: events
-- Events with these keys, which are named with their root tasks, and of which Invocation each is.
SELECT event.event_id, event.sequence, event.occurred_at, event.type, event.chunk_index, event.chunk_count,
       event.chunk_bytes, event.latency_ms, event.error_code, event.reason, event.invocation_id
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS wanted (invocation_id, root_task_id, sequence)
  JOIN ledger.event USING (invocation_id, root_task_id, sequence)
