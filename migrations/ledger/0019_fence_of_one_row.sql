-- The fences judge a lone row without the detours that several rows need.
--
-- A fence finds its writers by grouping the rows it was given, and the partitions by the bounds of all their root tasks. For one row that is
-- most of what it costs, and at low load nearly all statements have one row. So one row is judged by its own values, with the rules and
-- messages of before, in the same order: first the epoch, under its lock, then what the row follows.

CREATE OR REPLACE FUNCTION ledger.fence_events() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    writer   record;
    one      record;
    newest   bigint;
    follows  boolean := true;
    lowest   uuid;
    highest  uuid;
    chained  boolean := false;
    is_wrong boolean;
BEGIN
    SELECT router_id, epoch, invocation_id, root_task_id, opening, workspace_id, trace_id, created_at, previous_sequence,
           previous_chunk_index, previous_at, (SELECT count(*) FROM added) AS rows
      INTO one FROM added;
    IF one.rows = 1 THEN
        -- As an expression, because a statement around it would cost more than the lock.
        IF pg_advisory_xact_lock_shared(hashtextextended(one.router_id, 0)) IS NULL THEN
            RAISE EXCEPTION 'no lock of this Router';
        END IF;
        SELECT max(epoch) INTO newest FROM ledger.epoch WHERE router_id = one.router_id;
        IF one.epoch IS DISTINCT FROM newest THEN
            RAISE EXCEPTION 'a newer epoch of this Router exists' USING ERRCODE = 'AOP01';
        END IF;
        IF one.opening IS NOT NULL THEN
            SELECT true INTO follows FROM ledger.invocation AS opened
             WHERE opened.invocation_id = one.invocation_id AND opened.opening = one.opening
               AND opened.workspace_id = one.workspace_id AND opened.trace_id = one.trace_id
               AND opened.root_task_id = one.root_task_id AND opened.created_at = one.created_at;
        END IF;
        IF follows AND one.previous_sequence IS NOT NULL THEN
            SELECT true INTO follows FROM ledger.event AS previous
             WHERE previous.invocation_id = one.invocation_id AND previous.sequence = one.previous_sequence
               AND previous.root_task_id = one.root_task_id AND previous.chunk_index = one.previous_chunk_index
               AND previous.occurred_at = one.previous_at;
        END IF;
        is_wrong := follows IS NULL;
    ELSE
        FOR writer IN
            SELECT router_id, epoch, array_agg(root_task_id ORDER BY root_task_id) AS roots, count(previous_sequence) > 0 AS chained
              FROM added GROUP BY 1, 2
        LOOP
            PERFORM ledger.require_epoch(writer.router_id, writer.epoch);
            lowest := least(lowest, writer.roots[1]);
            highest := greatest(highest, writer.roots[cardinality(writer.roots)]);
            chained := chained OR writer.chained;
        END LOOP;
        -- Two statements, because most events follow an opening alone, and whatever a statement names is opened.
        is_wrong := EXISTS (
                SELECT FROM added WHERE added.opening IS NOT NULL AND (
                    SELECT true FROM ledger.invocation AS opened
                     WHERE opened.invocation_id = added.invocation_id AND opened.opening = added.opening
                       AND opened.workspace_id = added.workspace_id AND opened.trace_id = added.trace_id
                       AND opened.root_task_id = added.root_task_id AND opened.created_at = added.created_at
                       AND opened.root_task_id BETWEEN lowest AND highest) IS NULL);
        IF chained AND NOT is_wrong THEN
            is_wrong := EXISTS (
                SELECT FROM added WHERE added.previous_sequence IS NOT NULL AND (
                    SELECT true FROM ledger.event AS previous
                     WHERE previous.invocation_id = added.invocation_id AND previous.sequence = added.previous_sequence
                       AND previous.root_task_id = added.root_task_id AND previous.root_task_id BETWEEN lowest AND highest
                       AND previous.chunk_index = added.previous_chunk_index AND previous.occurred_at = added.previous_at) IS NULL);
        END IF;
    END IF;
    IF is_wrong THEN
        RAISE EXCEPTION 'an event follows an opening or progress that is in the Ledger' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION ledger.fence_invocations() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    writer  record;
    one     record;
    newest  bigint;
    lowest  uuid;
    highest uuid;
BEGIN
    SELECT router_id, epoch, parent_invocation_id, (SELECT count(*) FROM added) AS rows INTO one FROM added;
    IF one.rows = 1 AND one.parent_invocation_id IS NULL THEN
        IF pg_advisory_xact_lock_shared(hashtextextended(one.router_id, 0)) IS NULL THEN
            RAISE EXCEPTION 'no lock of this Router';
        END IF;
        SELECT max(epoch) INTO newest FROM ledger.epoch WHERE router_id = one.router_id;
        IF one.epoch IS DISTINCT FROM newest THEN
            RAISE EXCEPTION 'a newer epoch of this Router exists' USING ERRCODE = 'AOP01';
        END IF;
        RETURN NULL;
    END IF;
    FOR writer IN
        SELECT router_id, epoch, array_agg(root_task_id ORDER BY root_task_id) FILTER (WHERE parent_invocation_id IS NOT NULL) AS roots
          FROM added GROUP BY 1, 2
    LOOP
        PERFORM ledger.require_epoch(writer.router_id, writer.epoch);
        lowest := least(lowest, writer.roots[1]);
        highest := greatest(highest, writer.roots[cardinality(writer.roots)]);
    END LOOP;
    IF lowest IS NOT NULL AND EXISTS (
        SELECT FROM added
         WHERE added.parent_invocation_id IS NOT NULL AND (
               SELECT true FROM ledger.invocation AS parent
                WHERE parent.invocation_id = added.parent_invocation_id AND parent.opening = added.parent_opening
                  AND parent.workspace_id = added.workspace_id AND parent.trace_id = added.trace_id
                  AND parent.root_task_id = added.root_task_id AND parent.created_at = added.parent_created_at
                  AND parent.root_task_id BETWEEN lowest AND highest) IS NULL) THEN
        RAISE EXCEPTION 'the parent of an Invocation is in the Ledger' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;
