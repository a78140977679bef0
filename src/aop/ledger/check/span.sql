-- name: whole
-- The first and last number of the whole Ledger, and how many Invocations it has.
SELECT (SELECT number FROM ledger.number ORDER BY number LIMIT 1),
       (SELECT number + events - 1 FROM ledger.number ORDER BY number DESC LIMIT 1),
       (SELECT count(*) FROM ledger.invocation)

-- name: span
-- The least and greatest id of Invocations created from $1 to before $2, their first and last number, and how many they
-- are. By the index of Workspace and time, one Workspace after the other: there is none of time alone, and to look at
-- every Invocation for the few of an hour would take longer the larger the Ledger is.
WITH RECURSIVE space AS (
    (SELECT workspace_id FROM ledger.invocation ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT one.workspace_id FROM ledger.invocation AS one WHERE one.workspace_id > space.workspace_id
             ORDER BY one.workspace_id LIMIT 1)
      FROM space WHERE space.workspace_id IS NOT NULL)
SELECT min(called.invocation_id::text COLLATE "C")::uuid, max(called.invocation_id::text COLLATE "C")::uuid,
       min(numbers.first), max(numbers.past) - 1, count(called.invocation_id)
  FROM space
 CROSS JOIN LATERAL (SELECT one.invocation_id, one.root_task_id FROM ledger.invocation AS one
                      WHERE one.workspace_id = space.workspace_id
                        AND one.created_at >= coalesce($1::timestamptz, '-infinity')
                        AND one.created_at < coalesce($2::timestamptz, 'infinity')
                     OFFSET 0) AS called
  LEFT JOIN LATERAL (SELECT min(number.number) AS first, max(number.number + number.events) AS past
                       FROM ledger.number
                      WHERE number.invocation_id = called.invocation_id
                        AND number.root_task_id = called.root_task_id) AS numbers ON true
