-- name: lone_numbers
-- Numbers from $1 to $2 of which no batch of the sequencer is there, from one to before another. Each batch begins where
-- the one before it ended, and together they are all numbers.
WITH batch AS (SELECT first, past, lag(past, 1, least(first, $1)) OVER (ORDER BY first) AS expected
                 FROM ledger.numbering WHERE past > $1 AND first <= $2)
SELECT expected, first FROM batch WHERE first <> expected
UNION ALL
SELECT * FROM (SELECT coalesce(max(past), $1) AS past, $2 + 1 FROM batch) AS last WHERE past <= $2

-- name: numbered_before
-- Up to where numbers were given more than $1 seconds ago, so that a Router which runs would have put them into the tree.
SELECT coalesce((SELECT past FROM ledger.numbering WHERE numbered_at < now() - make_interval(secs => $1)
                  ORDER BY first DESC LIMIT 1), 0)

-- name: judge_numbers
-- Numbers from $1 to before $2 that break a rule, and which. $3 is the first number that is looked at at all: of it the
-- one before may be anything. A rule is stated as what breaks it. `before` and `next` are of the Invocation's row before;
-- where that one lies outside of the range it is looked up: an opening, the longest row, has three events. What lies in
-- the range is not looked up again: the rows of an Invocation that follow each other mostly do.
SELECT number, problem
  FROM (
SELECT number.number, ARRAY[
       CASE WHEN number.number <> number.expected THEN 'does not follow the one before it' END,
       CASE WHEN (invocation.opening IS NULL OR number.workspace_id <> invocation.workspace_id
                  OR CASE WHEN number.sequence = 0
                          THEN number.events <> CASE invocation.opening WHEN 'started' THEN 3 WHEN 'routing' THEN 2
                                                                        ELSE 1 END
                          ELSE event.type IS NULL OR number.is_terminal <> (event.type <> 'stream') END)
             AND NOT EXISTS (SELECT FROM ledger.detached_month AS gone
                              WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)
            THEN 'is not of the row that it names, of inv_' || replace(number.invocation_id::text, '-', '') END,
       CASE WHEN number.sequence > 0 AND coalesce(number.before < number.number AND number.next = number.sequence, (
                 SELECT true FROM ledger.number AS before WHERE before.invocation_id = number.invocation_id
                    AND before.sequence < number.sequence AND before.sequence >= number.sequence - 3
                    AND before.sequence + before.events = number.sequence AND before.number < number.number
                  LIMIT 1)) IS NOT TRUE
              OR number.sequence = 0 AND invocation.parent_invocation_id IS NOT NULL AND (
                 SELECT true FROM ledger.number AS parent WHERE parent.invocation_id = invocation.parent_invocation_id
                    AND parent.sequence = 0 AND parent.number < number.number) IS NULL
            THEN 'stands before its parent''s or its own earlier event' END,
       CASE WHEN number.sequence = 0 AND NOT number.has_terminal
             AND number.number < (SELECT settled FROM ledger.numbering ORDER BY first DESC LIMIT 1)
             AND (SELECT true FROM ledger.number AS ended
                   WHERE ended.invocation_id = number.invocation_id AND ended.is_terminal LIMIT 1) IS NULL
            THEN 'counts as settled, and its terminal has no number' END] AS problems
  FROM (SELECT *, coalesce(lag(number + events) OVER (ORDER BY number),
                           (SELECT last.number + last.events FROM ledger.number AS last
                             WHERE last.number < $1 AND $1 > $3::bigint ORDER BY last.number DESC LIMIT 1),
                           number) AS expected,
               lag(number) OVER of_invocation AS before, lag(sequence + events) OVER of_invocation AS next,
               bool_or(is_terminal) OVER (PARTITION BY invocation_id) AS has_terminal
          FROM ledger.number WHERE number >= $1 AND number < $2
        WINDOW of_invocation AS (PARTITION BY invocation_id ORDER BY sequence)) AS number
  LEFT JOIN LATERAL (SELECT workspace_id, opening, parent_invocation_id FROM ledger.invocation AS one
                      WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id
                     OFFSET 0) AS invocation ON true
  LEFT JOIN LATERAL (SELECT type FROM ledger.event AS one
                      WHERE one.invocation_id = number.invocation_id AND one.sequence = number.sequence
                        AND one.root_task_id = number.root_task_id AND number.sequence > 0
                     OFFSET 0) AS event ON true) AS judged
 CROSS JOIN LATERAL unnest(array_remove(problems, NULL)) AS problem
 ORDER BY number

-- name: next_number
-- The first number from $1 on.
SELECT min(number) FROM ledger.number WHERE number >= $1

-- name: lost_numbers
-- What reaches behind the last number: it was written with the numbers that it covers, or after them. $1 numbers are in
-- complete tiles of figures, $2 in those of the tree.
SELECT last.past, witness.past, witness.name
  FROM (SELECT coalesce((SELECT number + events FROM ledger.number ORDER BY number DESC LIMIT 1), 0) AS past) AS last
 CROSS JOIN (VALUES ('a batch of the sequencer', (SELECT max(past) FROM ledger.numbering)),
                    ('a head of the tree', (SELECT max(size) FROM ledger.tree_head)),
                    ('the tiles of the tree', $2::bigint), ('the tiles of figures', $1::bigint)) AS witness (name, past)
 WHERE witness.past > last.past
