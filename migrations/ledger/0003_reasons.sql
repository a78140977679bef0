-- Why an Invocation failed, in one word of contracts/platform-error/reasons.json. NULL says no more than the code does.
-- The constraint holds for new rows at once; the next migration looks at the others without holding anybody up.

ALTER TABLE ledger.event
    ADD COLUMN reason text COLLATE "C",
    ADD CONSTRAINT event_reason CHECK (
        reason IS NULL OR
        CASE error_code
            WHEN 'ROUTE_NOT_FOUND' THEN reason IN (
                'address_refused', 'streaming_not_declared')
            WHEN 'AGENT_UNAVAILABLE' THEN reason IN (
                'name_not_resolved', 'connect_failed', 'tls_failed', 'transfer_broken', 'http_redirect',
                'http_auth', 'http_client_error', 'http_server_error')
            WHEN 'A2A_PROTOCOL_ERROR' THEN reason IN (
                'media_type', 'not_json', 'rpc_envelope', 'message_shape', 'task_shape', 'task_changed',
                'task_state_unknown', 'stream_order', 'artifact_order', 'artifact_replaced', 'stream_ended_early',
                'output_schema')
            WHEN 'AGENT_RESPONSE_TOO_LARGE' THEN reason IN (
                'body_size', 'event_size', 'frame_size', 'schema_work')
            WHEN 'AGENT_EXECUTION_FAILED' THEN reason IN (
                'task_failed', 'task_rejected', 'input_required', 'auth_required', 'rpc_error',
                'rpc_method_not_found', 'rpc_version_not_supported')
            WHEN 'DEPENDENCY_ERROR' THEN reason IN (
                'acceptance_unknown', 'router_unreachable', 'store_unavailable', 'outcome_unknown',
                'router_restarted', 'control_plane_unreachable')
            ELSE false
        END) NOT VALID;

DROP FUNCTION ledger.append;

-- Progress and terminals, many at once. A row that does not come back lost to a terminal that was there first.
CREATE FUNCTION ledger.append(
    of_router text, own_epoch bigint, invocation_ids uuid[], sequences integer[], event_ids uuid[], moments timestamptz[],
    types text[], previous_statuses text[], previous_sequences integer[], previous_chunks integer[],
    previous_moments timestamptz[], openings text[], trace_ids uuid[], root_task_ids uuid[], workspace_ids text[],
    created timestamptz[], chunk_indexes integer[], chunk_counts integer[], chunk_sizes bigint[], latencies bigint[],
    error_codes text[], reasons text[]
) RETURNS TABLE (appended_id uuid, appended_sequence integer) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
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

CREATE OR REPLACE VIEW ledger.record AS
SELECT invocation.*, ended.type AS outcome, ended.latency_ms, ended.error_code,
       coalesce(ended.occurred_at,
                (SELECT max(progress.occurred_at) FROM ledger.event AS progress
                  WHERE progress.invocation_id = invocation.invocation_id),
                invocation.created_at) AS updated_at,
       ended.reason
  FROM ledger.invocation
  LEFT JOIN ledger.event AS ended ON ended.invocation_id = invocation.invocation_id AND ended.type <> 'stream';

REVOKE ALL ON FUNCTION ledger.append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.append TO aop_router;
