-- name: batch_end
-- The last Invocation of a batch, in the order of the key: behind the pair $1, $2 and up to the id $3, $4 of them on.
SELECT invocation_id, root_task_id FROM ledger.invocation
 WHERE (invocation_id, root_task_id) > ($1, $2) AND invocation_id <= $3
 ORDER BY invocation_id, root_task_id OFFSET $4 LIMIT 1

-- name: judge
-- Of the Invocations behind the pair $1, $2 and up to $3, $4, created from $5 to before $6: how many there are, how many
-- events they have, how many have not ended; and those that break a rule, each with the rules it breaks, a line each.
-- $7 are the types that may follow a status, as 'running stream'; $8 the terminals that may be, as 'failed TIMEOUT '.
-- Also how many events have no number yet; and those Invocations with one that is older than $9 seconds, each with how
-- many events it has. Only the newest can be: what lies before a number is judged with the sequence.
-- A rule is a condition and what is wrong where it does not hold; one that is unknown (NULL) does not hold.
-- `numbered` is how many events of an Invocation have numbers: 0 without any, and NULL for one that counts as settled,
-- of which none can be missing here. greatest() passes over a NULL.
WITH epoch AS MATERIALIZED (
    SELECT epoch.router_id, epoch.epoch, max(epoch.epoch) OVER (PARTITION BY epoch.router_id) AS newest,
           closed.epoch IS NULL AS is_open,
           (SELECT max(position) FROM ledger.checkpoint AS last
             WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch) AS settled,
           (SELECT max(position) FROM ledger.numbered_position AS last
             WHERE last.router_id = epoch.router_id AND last.epoch = epoch.epoch) AS numbered
      FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)),
opened AS (
    SELECT one.invocation_id, one.root_task_id, one.trace_id, one.workspace_id, one.router_id, one.epoch, one.opening,
           one.created_at, epoch.newest AS newest_epoch,
           CASE one.opening WHEN 'created' THEN 1 WHEN 'routing' THEN 2 WHEN 'started' THEN 3 END AS opened_events,
           CASE one.opening WHEN 'created' THEN 'pending' WHEN 'routing' THEN 'routing'
                            WHEN 'started' THEN 'running' END AS begun,
           CASE WHEN number.number IS NULL THEN 0
                WHEN number.number >= (SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1) IS NOT FALSE
                THEN (SELECT sum(each.events) FROM ledger.number AS each
                       WHERE each.invocation_id = one.invocation_id AND each.root_task_id = one.root_task_id)
           END AS numbered,
           nullif(concat_ws(E'\n',
               CASE WHEN epoch.epoch IS NOT NULL THEN NULL ELSE 'its epoch was never opened' END,
               CASE WHEN octet_length(one.agent_card_digest) = 32 THEN NULL
                    ELSE 'the digest is not of 32 bytes' END,
               CASE WHEN number.number IS NOT NULL OR one.position >= coalesce(epoch.numbered, 0) THEN NULL
                    ELSE 'has no number although its position counts as numbered' END,
               CASE WHEN number.position IS NULL OR number.position = one.position THEN NULL
                    ELSE 'got its number at position ' || number.position || ' and stands at ' || one.position END,
               CASE WHEN one.opening IN ('created', 'routing', 'started') THEN NULL ELSE 'its opening is none' END,
               CASE WHEN one.parent_invocation_id IS NOT NULL OR one.caller_type = 'user' THEN NULL
                    ELSE 'a root is not called by a user' END,
               -- A scalar subquery is a look-up by the key. EXISTS may become a hash of the whole table.
               CASE WHEN one.parent_invocation_id IS NULL OR parent.opening IS NOT NULL THEN NULL
                    WHEN (SELECT true FROM ledger.invocation AS above
                           WHERE above.invocation_id = one.parent_invocation_id LIMIT 1)
                    THEN 'its root task is not its parent''s' ELSE 'its parent is missing' END,
               CASE WHEN parent.opening IS NULL OR one.trace_id = parent.trace_id THEN NULL
                    ELSE 'its trace is not its parent''s' END,
               CASE WHEN parent.opening IS NULL OR one.workspace_id = parent.workspace_id THEN NULL
                    ELSE 'its Workspace is not its parent''s' END,
               CASE WHEN parent.opening IS NULL
                      OR one.caller_type = 'agent' AND one.caller_id = parent.target_agent_id THEN NULL
                    ELSE 'its caller is not its parent''s Agent' END,
               CASE WHEN parent.opening IS NULL OR parent.opening = 'started' THEN NULL
                    ELSE 'its parent never started' END,
               CASE WHEN parent.opening IS NULL OR one.created_at >= parent.created_at THEN NULL
                    ELSE 'was created before its parent started' END), '') AS broken,
           nullif(concat_ws(E'\n',
               CASE WHEN epoch.is_open IS NOT FALSE THEN NULL ELSE 'has no terminal in a closed epoch' END,
               CASE WHEN one.position >= coalesce(epoch.settled, 0) THEN NULL
                    ELSE 'has no terminal before a checkpoint' END,
               CASE WHEN one.opening = 'started' THEN NULL
                    ELSE 'was over at its acceptance and has no terminal' END), '') AS broken_if_unended
      FROM ledger.invocation AS one
      LEFT JOIN epoch USING (router_id, epoch)
      -- By the ids of the range, which both keys begin with, so that both are read in their order; so below.
      LEFT JOIN ledger.number ON number.invocation_id = one.invocation_id AND number.sequence = 0
            AND number.invocation_id >= $1 AND number.invocation_id <= $3
      LEFT JOIN LATERAL (
           SELECT above.trace_id, above.workspace_id, above.target_agent_id, above.opening, above.created_at
             FROM ledger.invocation AS above
            WHERE above.invocation_id = one.parent_invocation_id AND above.root_task_id = one.root_task_id
           OFFSET 0) AS parent ON true
     WHERE (one.invocation_id, one.root_task_id) > ($1::uuid, $2::uuid)
       AND (one.invocation_id, one.root_task_id) <= ($3::uuid, $4::uuid)
       AND one.created_at >= coalesce($5::timestamptz, '-infinity')
       AND one.created_at < coalesce($6::timestamptz, 'infinity')),
-- Each event beside the one before it, or beside the opening if it is the first; one row without an event of an
-- Invocation that has none.
chained AS (
    SELECT opened.*, event.type, event.sequence, event.occurred_at, event.previous_status, event.latency_ms,
           event.error_code, event.reason, event.chunk_index, event.chunk_count, event.chunk_bytes,
           event.epoch AS event_epoch,
           event.router_id = opened.router_id AND event.epoch >= opened.epoch AS is_of_writer,
           -- What an event repeats must be right, and a terminal repeats all of it.
           (event.opening = opened.opening OR event.type = 'stream' AND event.opening IS NULL)
           AND (event.trace_id = opened.trace_id OR event.type = 'stream' AND event.trace_id IS NULL)
           AND (event.workspace_id = opened.workspace_id OR event.type = 'stream' AND event.workspace_id IS NULL)
           AND (event.created_at = opened.created_at OR event.type = 'stream' AND event.created_at IS NULL)
           AS has_context,
           CASE lag(event.type) OVER chain WHEN 'stream' THEN 'running'
                ELSE coalesce(lag(event.type) OVER chain, begun) END AS status,
           coalesce(lag(event.sequence) OVER chain + 1, opened_events) AS expected,
           coalesce(lag(event.occurred_at) OVER chain, opened.created_at) AS earlier,
           coalesce(lag(event.chunk_index) OVER chain, -1) AS chunks
      FROM opened
      LEFT JOIN ledger.event ON event.invocation_id = opened.invocation_id AND event.root_task_id = opened.root_task_id
            AND event.invocation_id >= $1 AND event.invocation_id <= $3
    WINDOW chain AS (PARTITION BY opened.invocation_id, opened.root_task_id ORDER BY event.sequence)),
judged AS (
    SELECT *, CASE WHEN type IS NOT NULL THEN nullif(concat_ws(E'\n',
               CASE WHEN sequence = expected THEN NULL
                    ELSE format('event %s stands where %s should', sequence, expected) END,
               CASE WHEN status || ' ' || type = ANY($7::text[]) THEN NULL ELSE format('%s follows %s', type, status) END,
               CASE WHEN occurred_at >= earlier THEN NULL ELSE format('event %s goes back in time', sequence) END,
               CASE WHEN previous_status = status THEN NULL
                    ELSE format('event %s names another status before it', sequence) END,
               CASE WHEN is_of_writer THEN NULL
                    ELSE format('event %s was written by another Router or an older epoch', sequence) END,
               CASE WHEN event_epoch <= coalesce(newest_epoch, event_epoch) THEN NULL
                    ELSE format('event %s was written in an epoch that was never opened', sequence) END,
               CASE WHEN has_context THEN NULL ELSE format('event %s has another context', sequence) END,
               CASE WHEN CASE WHEN type = 'stream'
                              THEN chunk_count > 0 AND chunk_bytes > 0 AND chunk_index = chunks + chunk_count
                              ELSE num_nonnulls(chunk_index, chunk_count, chunk_bytes) = 0 END THEN NULL
                    ELSE format('event %s counts its chunks wrongly', sequence) END,
               CASE WHEN CASE WHEN type = 'stream' THEN latency_ms IS NULL
                              ELSE latency_ms = floor(extract(epoch FROM occurred_at - created_at) * 1000) END THEN NULL
                    ELSE format('event %s has a wrong latency', sequence) END,
               CASE WHEN CASE WHEN type = 'stream' THEN error_code IS NULL AND reason IS NULL
                              ELSE concat(type, ' ', error_code, ' ', reason) = ANY($8::text[]) END THEN NULL
                    ELSE format('%s may not carry %s', type, concat_ws(' ', coalesce(error_code, 'None'), reason)) END
               ), '') END AS broken_event
      FROM chained),
whole AS (
    SELECT invocation_id, coalesce(min(opened_events), 0) + count(type) AS events,
           count(*) FILTER (WHERE type <> 'stream') AS terminals, min(broken) AS broken,
           min(broken_if_unended) AS broken_if_unended, string_agg(broken_event, E'\n') AS broken_events,
           min(numbered) AS numbered,
           least(min(created_at) FILTER (WHERE numbered = 0), min(occurred_at) FILTER (WHERE sequence >= numbered))
           AS unnumbered_since
      FROM judged GROUP BY invocation_id, root_task_id),
named AS (
    SELECT *, nullif(concat_ws(E'\n', broken, CASE terminals WHEN 0 THEN broken_if_unended WHEN 1 THEN NULL
                                              ELSE 'has more than one terminal' END, broken_events), '') AS problems
      FROM whole)
SELECT count(*), coalesce(sum(events), 0)::bigint, count(*) FILTER (WHERE terminals = 0),
       array_agg(invocation_id ORDER BY invocation_id) FILTER (WHERE problems IS NOT NULL),
       array_agg(problems ORDER BY invocation_id) FILTER (WHERE problems IS NOT NULL),
       coalesce(sum(greatest(events - numbered, 0)), 0)::bigint,
       array_agg(invocation_id ORDER BY invocation_id) FILTER (WHERE is_late),
       array_agg(events ORDER BY invocation_id) FILTER (WHERE is_late)
  FROM (SELECT *, unnumbered_since < now() - make_interval(secs => $9) AS is_late FROM named) AS named

-- name: numbered
-- How many events of these Invocations have their numbers.
SELECT wanted.invocation_id, coalesce(sum(number.events), 0)::bigint
  FROM unnest($1::uuid[]) AS wanted (invocation_id) LEFT JOIN ledger.number USING (invocation_id)
 GROUP BY wanted.invocation_id ORDER BY wanted.invocation_id
