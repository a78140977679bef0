-- Two faults of an Agent had no word: another HTTP status of success than 200, and headers over the limit.
-- The constraint holds for new rows at once; the next migration looks at the others without holding anybody up.

ALTER TABLE ledger.event
    DROP CONSTRAINT event_reason,
    ADD CONSTRAINT event_reason CHECK (
        reason IS NULL OR
        CASE error_code
            WHEN 'ROUTE_NOT_FOUND' THEN reason IN (
                'address_refused', 'streaming_not_declared')
            WHEN 'AGENT_UNAVAILABLE' THEN reason IN (
                'name_not_resolved', 'connect_failed', 'tls_failed', 'transfer_broken', 'http_redirect',
                'http_auth', 'http_client_error', 'http_server_error', 'http_other_success')
            WHEN 'A2A_PROTOCOL_ERROR' THEN reason IN (
                'media_type', 'not_json', 'rpc_envelope', 'message_shape', 'task_shape', 'task_changed',
                'task_state_unknown', 'stream_order', 'artifact_order', 'artifact_replaced', 'stream_ended_early',
                'output_schema')
            WHEN 'AGENT_RESPONSE_TOO_LARGE' THEN reason IN (
                'head_size', 'body_size', 'event_size', 'frame_size', 'schema_work')
            WHEN 'AGENT_EXECUTION_FAILED' THEN reason IN (
                'task_failed', 'task_rejected', 'input_required', 'auth_required', 'rpc_error',
                'rpc_method_not_found', 'rpc_version_not_supported')
            WHEN 'DEPENDENCY_ERROR' THEN reason IN (
                'acceptance_unknown', 'router_unreachable', 'store_unavailable', 'outcome_unknown',
                'router_restarted', 'control_plane_unreachable')
            ELSE false
        END) NOT VALID;
