-- name: attached
-- The partitions of Invocations that are there, the oldest first.
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
 WHERE inhparent = 'ledger.invocation'::regclass ORDER BY relname

-- name: has_this_month
-- By the clock of the store: root tasks of a clock that is wrong by a month are refused.
SELECT EXISTS (SELECT FROM pg_inherits
                WHERE inhparent = 'ledger.event'::regclass
                  AND inhrelid = to_regclass('ledger.event' || to_char(now() AT TIME ZONE 'UTC', '_YYYY_MM')))

-- name: is_invocation_archived
-- Whether the Invocation $1, of the Workspace $2 if one is named, was detached: its number is there and leads to its month.
SELECT EXISTS (SELECT FROM ledger.number JOIN ledger.detached_month AS gone
                   ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root
                WHERE number.invocation_id = $1 AND ($2::text IS NULL OR number.workspace_id = $2))

-- name: is_trace_archived
-- Whether the Trace $1 of the Workspace $2 was detached.
SELECT EXISTS (SELECT FROM ledger.detached_trace WHERE trace_id = $1 AND workspace_id = $2)

-- name: detached_numbers
-- Numbers from $1 to before $2 whose rows were detached, each with how many events it stands for.
SELECT number.number, number.events FROM ledger.number JOIN ledger.detached_month AS gone
    ON number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root
 WHERE number.number >= $1 AND number.number < $2

-- name: end_of_detached
-- The number after the last event of the Workspace $1 that was detached, from the newest detached number $2 down: what a
-- Workspace did last in the detached months is met soon.
SELECT number.number + number.events FROM ledger.number
 WHERE (number.workspace_id, number.number) >= ($1, 0) AND (number.workspace_id, number.number) <= ($1, $2)
   AND EXISTS (SELECT FROM ledger.detached_month AS gone
                WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)
 ORDER BY number.workspace_id DESC, number.number DESC LIMIT 1
