-- Most writes are of rows that are all new, and those without a parent need no look for one.
--
-- ON CONFLICT looks every row up in each unique index before it adds it, takes a lock for it and confirms it with a record of its own in the
-- log. So rows are added without it first. If one is there already, nothing of that is kept, and the statement of before decides row by row.
-- A row of several arrays by subscript takes less than by one unnest of all: that keeps each array once more.
--
-- Every constraint and the fence of each table hold for both statements.

CREATE OR REPLACE FUNCTION ledger.accept(
    of_router text, own_epoch bigint, positions bigint[], invocation_ids uuid[], root_task_ids uuid[], trace_ids uuid[],
    parent_ids uuid[], caller_types text[], caller_ids text[], workspace_ids text[], agent_ids text[], versions text[],
    release_ids uuid[], digests bytea[], capabilities text[], openings text[], event_ids uuid[],
    created timestamptz[], deadlines timestamptz[], authorizations bytea[]
) RETURNS TABLE (accepted_event_id uuid, accepted_at timestamptz) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    lowest  uuid;
    highest uuid;
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    IF cardinality(array_remove(parent_ids, NULL)) = 0 THEN
        BEGIN
            INSERT INTO ledger.invocation (
                position, invocation_id, root_task_id, trace_id, caller_type, caller_id, workspace_id, target_agent_id,
                agent_card_version, agent_release_id, agent_card_digest, capability, opening, opening_event_id, created_at,
                deadline_at, authorization_digest, router_id, epoch)
            SELECT positions[n], invocation_ids[n], root_task_ids[n], trace_ids[n], caller_types[n], caller_ids[n], workspace_ids[n],
                   agent_ids[n], versions[n], release_ids[n], digests[n], capabilities[n], openings[n], event_ids[n], created[n],
                   deadlines[n], authorizations[n], of_router, own_epoch
              FROM generate_series(1, cardinality(positions)) AS given (n);
            RETURN QUERY SELECT * FROM unnest(event_ids, created);
            RETURN;
        EXCEPTION WHEN unique_violation THEN
            NULL; -- some are there already: below, those come back that are not
        END;
    END IF;
    -- Without a parent both are null, and no partition is opened to look for one.
    SELECT (array_agg(child.root_task_id ORDER BY child.root_task_id))[1], (array_agg(child.root_task_id ORDER BY child.root_task_id DESC))[1]
      INTO lowest, highest
      FROM unnest(root_task_ids, parent_ids) AS child (root_task_id, parent_id) WHERE child.parent_id IS NOT NULL;
    RETURN QUERY
    INSERT INTO ledger.invocation AS added (
        invocation_id, root_task_id, trace_id, parent_invocation_id, parent_opening, parent_created_at, caller_type,
        caller_id, workspace_id, target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability,
        router_id, epoch, position, opening, opening_event_id, created_at, deadline_at, authorization_digest)
    SELECT given.invocation_id, given.root_task_id, given.trace_id, given.parent_id, parent.opening, parent.created_at,
           given.caller_type, given.caller_id, given.workspace_id, given.agent_id, given.version, given.release_id,
           given.digest, given.capability, of_router, own_epoch, given.position, given.opening, given.event_id,
           greatest(given.created, parent.created_at), given.deadline, given.permitted_by
      FROM unnest(positions, invocation_ids, root_task_ids, trace_ids, parent_ids, caller_types, caller_ids, workspace_ids,
                  agent_ids, versions, release_ids, digests, capabilities, openings, event_ids, created, deadlines, authorizations)
           AS given (position, invocation_id, root_task_id, trace_id, parent_id, caller_type, caller_id, workspace_id,
                     agent_id, version, release_id, digest, capability, opening, event_id, created, deadline, permitted_by)
      LEFT JOIN LATERAL (
           SELECT running.opening, running.created_at FROM ledger.invocation AS running
            WHERE running.invocation_id = given.parent_id AND running.root_task_id = given.root_task_id
              AND running.root_task_id BETWEEN lowest AND highest
              AND running.opening = 'started' AND running.target_agent_id = given.caller_id
              AND NOT EXISTS (SELECT FROM ledger.event AS ended
                               WHERE ended.invocation_id = given.parent_id AND ended.root_task_id = given.root_task_id
                                 AND ended.root_task_id BETWEEN lowest AND highest AND ended.type <> 'stream')
            LIMIT 1) AS parent ON true
     WHERE given.parent_id IS NULL OR parent.opening IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING added.opening_event_id, added.created_at;
END $$;

CREATE OR REPLACE FUNCTION ledger.append(
    of_router text, own_epoch bigint, invocation_ids uuid[], sequences integer[], event_ids uuid[], moments timestamptz[],
    types text[], previous_statuses text[], previous_sequences integer[], previous_chunks integer[],
    previous_moments timestamptz[], openings text[], trace_ids uuid[], root_task_ids uuid[], workspace_ids text[],
    created timestamptz[], chunk_indexes integer[], chunk_counts integer[], chunk_sizes bigint[], latencies bigint[],
    error_codes text[], reasons text[]
) RETURNS TABLE (appended_id uuid, appended_sequence integer) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    BEGIN
        INSERT INTO ledger.event (
            invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence, previous_chunk_index,
            previous_at, opening, trace_id, root_task_id, workspace_id, created_at, chunk_index, chunk_count, chunk_bytes,
            latency_ms, error_code, reason, router_id, epoch)
        SELECT invocation_ids[n], sequences[n], event_ids[n], moments[n], types[n], previous_statuses[n], previous_sequences[n],
               previous_chunks[n], previous_moments[n], openings[n], trace_ids[n], root_task_ids[n], workspace_ids[n], created[n],
               chunk_indexes[n], chunk_counts[n], chunk_sizes[n], latencies[n], error_codes[n], reasons[n], of_router, own_epoch
          FROM generate_series(1, cardinality(invocation_ids)) AS given (n);
        RETURN QUERY SELECT * FROM unnest(invocation_ids, sequences);
        RETURN;
    EXCEPTION WHEN unique_violation THEN
        NULL;
    END;
    RETURN QUERY
    INSERT INTO ledger.event AS added (
        invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence, previous_chunk_index,
        previous_at, opening, trace_id, root_task_id, workspace_id, created_at, chunk_index, chunk_count, chunk_bytes,
        latency_ms, error_code, reason, router_id, epoch)
    SELECT given.*, of_router, own_epoch
      FROM unnest(invocation_ids, sequences, event_ids, moments, types, previous_statuses, previous_sequences,
                  previous_chunks, previous_moments, openings, trace_ids, root_task_ids, workspace_ids, created,
                  chunk_indexes, chunk_counts, chunk_sizes, latencies, error_codes, reasons) AS given
    ON CONFLICT DO NOTHING
    RETURNING added.invocation_id, added.sequence;
END $$;
