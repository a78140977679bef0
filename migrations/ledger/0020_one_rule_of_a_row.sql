-- All rules of an event are one constraint, and all rules of an Invocation another. They say the same as before.
--
-- PostgreSQL reads the text of every constraint of a table for every statement that adds to it: 13 kB in seven constraints for an event, 8 kB in
-- six for an Invocation. That was a third of what a lone event costs. A function is read once for a session. As with a constraint of its own, a
-- rule that is neither kept nor broken (because a value is absent) breaks nothing.
--
-- These functions set no search_path, which would cost as much as the rules. They use operators of pg_catalog alone, and no unit's login may
-- create others.

CREATE FUNCTION ledger.is_event(
    type text, opening text, sequence integer, created_at timestamptz, occurred_at timestamptz, trace_id uuid, workspace_id text,
    previous_status text, previous_sequence integer, previous_chunk_index integer, previous_at timestamptz,
    chunk_index integer, chunk_count integer, chunk_bytes bigint, latency_ms bigint, error_code text, reason text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN
        -- It follows an opening or progress, without a gap and in time.
        (CASE WHEN previous_sequence IS NOT NULL
            THEN previous_sequence = sequence - 1 AND previous_status = 'running' AND previous_chunk_index IS NOT NULL
                 AND coalesce(previous_at <= occurred_at, false)
            ELSE previous_chunk_index IS NULL AND previous_at IS NULL AND coalesce(created_at <= occurred_at, false)
                 AND (coalesce(opening, ''), sequence, previous_status) IN
                     (('started', 3, 'running'), ('routing', 2, 'routing'), ('created', 1, 'pending'))
            END) IS NOT FALSE
        -- The one status leads to the other.
        AND (CASE previous_status
            WHEN 'pending' THEN type IN ('canceled', 'timed_out')
            WHEN 'routing' THEN type IN ('failed', 'canceled', 'timed_out')
            WHEN 'running' THEN type IN ('stream', 'succeeded', 'failed', 'canceled', 'timed_out')
            ELSE false
            END) IS NOT FALSE
        -- What follows an opening repeats its context; only progress behind progress does not.
        AND (CASE WHEN opening IS NULL
            THEN type = 'stream' AND num_nonnulls(trace_id, workspace_id, created_at) = 0
            ELSE num_nonnulls(trace_id, workspace_id, created_at) = 3
            END) IS NOT FALSE
        -- Progress counts its chunks, and a terminal has none.
        AND (CASE WHEN type = 'stream'
            THEN coalesce(chunk_count > 0 AND chunk_bytes > 0 AND chunk_index = coalesce(previous_chunk_index, -1) + chunk_count, false)
            ELSE chunk_index IS NULL AND chunk_count IS NULL AND chunk_bytes IS NULL
            END) IS NOT FALSE
        -- A terminal says how long it took.
        AND (CASE WHEN type = 'stream'
            THEN latency_ms IS NULL
            ELSE coalesce(latency_ms = floor(extract(epoch FROM occurred_at - created_at) * 1000), false)
            END) IS NOT FALSE
        -- It has an error where its type asks for one, and a reason that belongs to the error.
        AND (CASE WHEN error_code IS NULL
            THEN type NOT IN ('failed', 'canceled', 'timed_out')
            ELSE ledger.is_error_of(type, error_code)
            END) IS NOT FALSE
        AND (reason IS NULL OR ledger.is_reason_of(error_code, reason)) IS NOT FALSE;
END $$;

CREATE FUNCTION ledger.is_invocation(
    parent_invocation_id uuid, parent_opening text, parent_created_at timestamptz, caller_type text, caller_id text, workspace_id text,
    target_agent_id text, agent_card_version text, agent_card_digest bytea, authorization_digest bytea, capability text, router_id text,
    "position" bigint, opening text, created_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN
        -- A root is called by a user, and any other by an Agent that was started before it.
        (CASE WHEN parent_invocation_id IS NULL
            THEN parent_opening IS NULL AND parent_created_at IS NULL AND caller_type = 'user'
            ELSE coalesce(parent_opening = 'started' AND parent_created_at <= created_at, false) AND caller_type = 'agent'
            END) IS NOT FALSE
        AND (opening IN ('started', 'routing', 'created')) IS NOT FALSE
        AND ("position" > 0) IS NOT FALSE
        AND (octet_length(agent_card_digest) = 32) IS NOT FALSE
        AND (octet_length(authorization_digest) = 32) IS NOT FALSE
        AND (greatest(octet_length(caller_id), octet_length(workspace_id), octet_length(target_agent_id), octet_length(agent_card_version),
                      octet_length(capability), octet_length(router_id)) <= 128) IS NOT FALSE;
END $$;

REVOKE ALL ON FUNCTION ledger.is_event, ledger.is_invocation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.is_event, ledger.is_invocation TO aop_router;

-- The next migration reads all rows that are there once more. Tables of detached months keep the constraints and the functions of before.
ALTER TABLE ledger.event
    DROP CONSTRAINT event_chained, DROP CONSTRAINT event_transition, DROP CONSTRAINT event_context, DROP CONSTRAINT event_progress,
    DROP CONSTRAINT event_terminal, DROP CONSTRAINT event_error, DROP CONSTRAINT event_reason,
    ADD CONSTRAINT event_rules CHECK (ledger.is_event(
        type, opening, sequence, created_at, occurred_at, trace_id, workspace_id, previous_status, previous_sequence, previous_chunk_index,
        previous_at, chunk_index, chunk_count, chunk_bytes, latency_ms, error_code, reason)) NOT VALID;
ALTER TABLE ledger.invocation
    DROP CONSTRAINT invocation_lineage, DROP CONSTRAINT invocation_opening, DROP CONSTRAINT invocation_position_positive,
    DROP CONSTRAINT invocation_digest_length, DROP CONSTRAINT invocation_authorization_length, DROP CONSTRAINT invocation_names_short,
    ADD CONSTRAINT invocation_rules CHECK (ledger.is_invocation(
        parent_invocation_id, parent_opening, parent_created_at, caller_type, caller_id, workspace_id, target_agent_id, agent_card_version,
        agent_card_digest, authorization_digest, capability, router_id, "position", opening, created_at)) NOT VALID;
