-- name: epochs
-- Epochs that do not follow the one before, or are closed although they are the newest of their Router.
SELECT 'epoch ' || epoch || ' of Router ' || router_id AS about, unnest(array_remove(ARRAY[
           CASE WHEN epoch <> before + 1 THEN 'follows epoch ' || before END,
           CASE WHEN is_newest AND is_closed THEN 'is closed although no newer one exists' END], NULL)) AS problem
  FROM (SELECT epoch.router_id, epoch.epoch, lag(epoch.epoch, 1, 0::bigint) OVER of_router AS before,
               lead(epoch.epoch) OVER of_router IS NULL AS is_newest, closed.epoch IS NOT NULL AS is_closed
          FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
        WINDOW of_router AS (PARTITION BY epoch.router_id ORDER BY epoch.epoch)) AS epoch

-- name: checkpoints
-- How many checkpoints there are since $1: an earlier one can belong to no Invocation of the span.
SELECT count(*) FROM ledger.checkpoint WHERE recorded_at >= coalesce($1::timestamptz, '-infinity')

-- name: lost_checkpoints
-- Checkpoints that are named since $1, by a later checkpoint or by calls that it counted, and that are not there.
SELECT 'checkpoint ' || one.position || ' of epoch ' || one.epoch || ' of Router ' || one.router_id AS about,
       'is missing: ' || named_by || ' names it' AS problem
  FROM (SELECT router_id, epoch, before AS position, 'the checkpoint at ' || position AS named_by
          FROM ledger.checkpoint
         WHERE recorded_at >= coalesce($1::timestamptz, '-infinity') AND before > 0
        UNION ALL
        SELECT DISTINCT router_id, epoch, position, 'the calls that it counted'
          FROM ledger.release_calls
         WHERE minute >= date_trunc('minute', coalesce($1::timestamptz, '-infinity'))) AS one
 WHERE (SELECT true FROM ledger.checkpoint AS last
         WHERE last.router_id = one.router_id AND last.epoch = one.epoch AND last.position = one.position) IS NULL

-- name: uncounted_calls
-- Epochs of which calls before their last checkpoint were counted with no checkpoint. Those with checkpoints of before
-- the migration ledger/0022 may have more calls than counts.
WITH settled AS (SELECT router_id, epoch, max(position) AS position FROM ledger.checkpoint
                  GROUP BY router_id, epoch HAVING bool_and(before IS NOT NULL) AND bool_or(before = 0)),
counted AS (SELECT router_id, epoch, sum(calls)::bigint AS calls FROM ledger.release_calls GROUP BY router_id, epoch)
SELECT 'epoch ' || epoch || ' of Router ' || router_id AS about,
       'has ' || there.calls || ' calls before its last checkpoint, and ' || coalesce(counted.calls, 0)
       || ' were counted' AS problem
  FROM settled LEFT JOIN counted USING (router_id, epoch)
 CROSS JOIN LATERAL (SELECT count(*) AS calls FROM ledger.invocation AS one
                      WHERE one.router_id = settled.router_id AND one.epoch = settled.epoch
                        AND one.position < settled.position OFFSET 0) AS there
 WHERE there.calls > coalesce(counted.calls, 0)

-- name: lone_calls
-- Invocations with ids from $1 to before $2 of which nothing but the number of the opening is there, in no month that
-- was put away.
SELECT 'inv_' || replace(number.invocation_id::text, '-', '') AS about,
       'is gone, and its number ' || number.number || ' is there' AS problem
  FROM ledger.number
 WHERE number.invocation_id >= $1 AND number.invocation_id < $2 AND number.sequence = 0
   AND (SELECT true FROM ledger.invocation AS one
         WHERE one.invocation_id = number.invocation_id AND one.root_task_id = number.root_task_id) IS NULL
   AND NOT EXISTS (SELECT FROM ledger.detached_month AS gone
                    WHERE number.root_task_id >= gone.first_root AND number.root_task_id < gone.past_root)

-- name: unsettled_epochs
-- Epochs that were alive from $1 on and before $2, and that accepted calls $3 seconds after the first one behind their
-- last checkpoint had ended: a Router settles what has ended every ten seconds. By the clock of that Router.
SELECT 'epoch ' || life.epoch || ' of Router ' || life.router_id
  FROM (SELECT epoch.* FROM ledger.epoch LEFT JOIN ledger.epoch_closed AS closed USING (router_id, epoch)
         WHERE coalesce(closed_at, 'infinity') >= coalesce($1::timestamptz, '-infinity')
        OFFSET 0) AS life
 CROSS JOIN LATERAL (SELECT created_at FROM ledger.invocation AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch
                      ORDER BY one.position DESC LIMIT 1) AS newest
 CROSS JOIN LATERAL (SELECT one.invocation_id, one.root_task_id, one.created_at FROM ledger.invocation AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch
                        AND one.position >= coalesce((SELECT max(position) FROM ledger.checkpoint AS last
                             WHERE last.router_id = life.router_id AND last.epoch = life.epoch), 0)
                      ORDER BY one.position LIMIT 1) AS first
 CROSS JOIN LATERAL (SELECT occurred_at FROM ledger.event AS one
                      WHERE one.invocation_id = first.invocation_id AND one.root_task_id = first.root_task_id
                        AND one.type <> 'stream' AND one.epoch = life.epoch LIMIT 1) AS ended
 WHERE newest.created_at >= coalesce($1::timestamptz, '-infinity')
   AND first.created_at < coalesce($2::timestamptz, 'infinity')
   AND newest.created_at > ended.occurred_at + make_interval(secs => $3)
 ORDER BY life.opened_at, life.router_id, life.epoch

-- name: stray_events
-- Invocations of a month, by root tasks from $1 to before $2, that events name and no acceptance leads to. The range
-- stands on both sides, so that the anti-join reads one partition of each table; with it on the events alone, each event
-- would be looked up in every month.
SELECT DISTINCT 'inv_' || replace(invocation_id::text, '-', '') AS about, 'an event without its Invocation' AS problem
  FROM ledger.event
 WHERE root_task_id >= $1 AND root_task_id < $2
   AND NOT EXISTS (SELECT FROM ledger.invocation
                    WHERE invocation.invocation_id = event.invocation_id
                      AND invocation.root_task_id = event.root_task_id
                      AND invocation.root_task_id >= $1 AND invocation.root_task_id < $2)

-- name: stray_cancel_requests
-- Likewise of cancel requests.
SELECT DISTINCT 'inv_' || replace(invocation_id::text, '-', '') AS about,
       'a cancel request without its Invocation' AS problem
  FROM ledger.cancel_request
 WHERE root_task_id >= $1 AND root_task_id < $2
   AND NOT EXISTS (SELECT FROM ledger.invocation
                    WHERE invocation.invocation_id = cancel_request.invocation_id
                      AND invocation.root_task_id = cancel_request.root_task_id
                      AND invocation.root_task_id >= $1 AND invocation.root_task_id < $2)
