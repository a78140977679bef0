-- The four longest rules of an event are functions, which a session reads once. Constraints keep their names and say the same.
--
-- PostgreSQL reads the constraints of a table anew for every statement that adds to it: 41 kB of text for an event, a third of what a lone
-- event costs. Of a call that succeeded, the rules of errors and reasons call nothing.
--
-- These functions set no search_path, which would cost as much as the rule itself. They use operators of pg_catalog alone, and no unit's login
-- may create others.

CREATE FUNCTION ledger.is_chained(
    opening text, created_at timestamptz, sequence integer, occurred_at timestamptz, previous_status text, previous_sequence integer,
    previous_chunk_index integer, previous_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN previous_sequence IS NOT NULL
        THEN previous_sequence = sequence - 1 AND previous_status = 'running' AND previous_chunk_index IS NOT NULL
             AND coalesce(previous_at <= occurred_at, false)
        ELSE previous_chunk_index IS NULL AND previous_at IS NULL AND coalesce(created_at <= occurred_at, false)
             AND (coalesce(opening, ''), sequence, previous_status) IN
                 (('started', 3, 'running'), ('routing', 2, 'routing'), ('created', 1, 'pending'))
        END;
END $$;

CREATE FUNCTION ledger.is_transition(previous_status text, type text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE previous_status
        WHEN 'pending' THEN type IN ('canceled', 'timed_out')
        WHEN 'routing' THEN type IN ('failed', 'canceled', 'timed_out')
        WHEN 'running' THEN type IN ('stream', 'succeeded', 'failed', 'canceled', 'timed_out')
        ELSE false
        END;
END $$;

CREATE FUNCTION ledger.is_error_of(type text, error_code text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE type
        WHEN 'failed' THEN error_code IN (
            'ROUTE_NOT_FOUND', 'AGENT_AUTH_UNSUPPORTED', 'AGENT_UNAVAILABLE', 'A2A_PROTOCOL_ERROR',
            'AGENT_RESPONSE_TOO_LARGE', 'AGENT_EXECUTION_FAILED', 'DEPENDENCY_ERROR', 'INTERNAL_ERROR')
        WHEN 'canceled' THEN error_code = 'CANCELED'
        WHEN 'timed_out' THEN error_code = 'TIMEOUT'
        ELSE false
        END;
END $$;

CREATE FUNCTION ledger.is_reason_of(error_code text, reason text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE error_code
        WHEN 'ROUTE_NOT_FOUND' THEN reason IN ('address_refused', 'streaming_not_declared')
        WHEN 'AGENT_UNAVAILABLE' THEN reason IN (
            'name_not_resolved', 'connect_failed', 'tls_failed', 'transfer_broken', 'http_redirect', 'http_auth', 'http_client_error',
            'http_server_error', 'http_other_success')
        WHEN 'A2A_PROTOCOL_ERROR' THEN reason IN (
            'media_type', 'not_json', 'rpc_envelope', 'message_shape', 'task_shape', 'task_changed', 'task_state_unknown', 'stream_order',
            'artifact_order', 'artifact_replaced', 'stream_ended_early', 'output_schema')
        WHEN 'AGENT_RESPONSE_TOO_LARGE' THEN reason IN ('head_size', 'body_size', 'event_size', 'frame_size', 'schema_work')
        WHEN 'AGENT_EXECUTION_FAILED' THEN reason IN (
            'task_failed', 'task_rejected', 'input_required', 'auth_required', 'rpc_error', 'rpc_method_not_found',
            'rpc_version_not_supported')
        WHEN 'DEPENDENCY_ERROR' THEN reason IN (
            'acceptance_unknown', 'router_unreachable', 'store_unavailable', 'outcome_unknown', 'router_restarted',
            'control_plane_unreachable')
        ELSE false
        END;
END $$;

REVOKE ALL ON FUNCTION ledger.is_chained, ledger.is_transition, ledger.is_error_of, ledger.is_reason_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.is_chained, ledger.is_transition, ledger.is_error_of, ledger.is_reason_of TO aop_router;

-- The rules are those of before. The next migration reads all rows that are there once more.
ALTER TABLE ledger.event
    DROP CONSTRAINT event_chained, DROP CONSTRAINT event_transition, DROP CONSTRAINT event_error, DROP CONSTRAINT event_reason,
    ADD CONSTRAINT event_chained CHECK (ledger.is_chained(
        opening, created_at, sequence, occurred_at, previous_status, previous_sequence, previous_chunk_index, previous_at)) NOT VALID,
    ADD CONSTRAINT event_transition CHECK (ledger.is_transition(previous_status, type)) NOT VALID,
    ADD CONSTRAINT event_error CHECK (
        CASE WHEN error_code IS NULL THEN type NOT IN ('failed', 'canceled', 'timed_out') ELSE ledger.is_error_of(type, error_code) END) NOT VALID,
    ADD CONSTRAINT event_reason CHECK (reason IS NULL OR ledger.is_reason_of(error_code, reason)) NOT VALID;
