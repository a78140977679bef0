-- The Ledger: rows are only ever added. Ids, codes, numbers and times; no column can hold a payload.
--
-- An Invocation is accepted by one row of ledger.invocation, its opening: `started` stands for the events created, routing
-- and started; `routing` for created and routing of a refused target; `created` for created alone, past its deadline. The two
-- last never stand without a terminal. Everything later is a row of ledger.event, chained to what came before it.

CREATE TABLE ledger.epoch (
    router_id text COLLATE "C" NOT NULL,
    epoch     bigint NOT NULL CONSTRAINT epoch_positive CHECK (epoch > 0),
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT epoch_key PRIMARY KEY (router_id, epoch)
);

CREATE TABLE ledger.epoch_closed (
    router_id text COLLATE "C" NOT NULL,
    epoch     bigint NOT NULL,
    closed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT epoch_closed_key PRIMARY KEY (router_id, epoch),
    CONSTRAINT epoch_closed_of_epoch FOREIGN KEY (router_id, epoch) REFERENCES ledger.epoch
);

CREATE TABLE ledger.checkpoint (
    router_id   text COLLATE "C" NOT NULL,
    epoch       bigint NOT NULL,
    position    bigint NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT checkpoint_key PRIMARY KEY (router_id, epoch, position),
    CONSTRAINT checkpoint_of_epoch FOREIGN KEY (router_id, epoch) REFERENCES ledger.epoch
);
COMMENT ON COLUMN ledger.checkpoint.position IS 'every Invocation of the epoch accepted at a lower position has a terminal';

CREATE TABLE ledger.invocation (
    invocation_id        uuid CONSTRAINT invocation_key PRIMARY KEY,
    root_task_id         uuid NOT NULL,
    trace_id             uuid NOT NULL,
    parent_invocation_id uuid,
    parent_opening       text COLLATE "C",
    parent_created_at    timestamptz,
    caller_type          text COLLATE "C" NOT NULL,
    caller_id            text COLLATE "C" NOT NULL,
    workspace_id         text COLLATE "C" NOT NULL,
    target_agent_id      text COLLATE "C" NOT NULL,
    agent_card_version   text COLLATE "C" NOT NULL,
    agent_release_id     uuid NOT NULL,
    agent_card_digest    bytea NOT NULL CONSTRAINT invocation_digest_length CHECK (octet_length(agent_card_digest) = 32),
    capability           text COLLATE "C" NOT NULL,
    router_id            text COLLATE "C" NOT NULL,
    epoch                bigint NOT NULL,
    position             bigint NOT NULL CONSTRAINT invocation_position_positive CHECK (position > 0),
    opening              text COLLATE "C" NOT NULL CONSTRAINT invocation_opening CHECK (opening IN ('started', 'routing', 'created')),
    opening_event_id     uuid NOT NULL,
    created_at           timestamptz NOT NULL,
    deadline_at          timestamptz NOT NULL,
    CONSTRAINT invocation_names_short CHECK (
        greatest(octet_length(caller_id), octet_length(workspace_id), octet_length(target_agent_id),
                 octet_length(agent_card_version), octet_length(capability), octet_length(router_id)) <= 128),
    CONSTRAINT invocation_context UNIQUE (invocation_id, opening, workspace_id, trace_id, root_task_id, created_at),
    CONSTRAINT invocation_of_parent
        FOREIGN KEY (parent_invocation_id, parent_opening, workspace_id, trace_id, root_task_id, parent_created_at)
        REFERENCES ledger.invocation (invocation_id, opening, workspace_id, trace_id, root_task_id, created_at),
    CONSTRAINT invocation_lineage CHECK (
        CASE WHEN parent_invocation_id IS NULL
             THEN parent_opening IS NULL AND parent_created_at IS NULL AND caller_type = 'user'
             ELSE coalesce(parent_opening = 'started' AND parent_created_at <= created_at, false) AND caller_type = 'agent'
        END)
);
CREATE INDEX invocation_by_time ON ledger.invocation (workspace_id, created_at DESC, invocation_id DESC);
-- The condition always holds; it keeps the foreign keys, which know nothing of it, from reading whole Traces.
CREATE INDEX invocation_by_trace ON ledger.invocation (trace_id, workspace_id) WHERE position > 0;
CREATE INDEX invocation_by_position ON ledger.invocation (router_id, epoch, position);
CREATE INDEX invocation_by_parent ON ledger.invocation (parent_invocation_id) WHERE parent_invocation_id IS NOT NULL;

CREATE TABLE ledger.cancel_request (
    invocation_id uuid CONSTRAINT cancel_request_key PRIMARY KEY,
    router_id     text COLLATE "C" NOT NULL,
    epoch         bigint NOT NULL,
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT cancel_request_of_invocation FOREIGN KEY (invocation_id) REFERENCES ledger.invocation
);

CREATE TABLE ledger.event (
    invocation_id        uuid NOT NULL,
    sequence             integer NOT NULL,
    event_id             uuid NOT NULL,
    occurred_at          timestamptz NOT NULL,
    type                 text COLLATE "C" NOT NULL,
    previous_status      text COLLATE "C" NOT NULL,
    previous_sequence    integer,
    previous_chunk_index integer,
    previous_at          timestamptz,
    opening              text COLLATE "C",
    trace_id             uuid,
    root_task_id         uuid,
    workspace_id         text COLLATE "C",
    created_at           timestamptz,
    chunk_index          integer,
    chunk_count          integer,
    chunk_bytes          bigint,
    latency_ms           bigint,
    error_code           text COLLATE "C",
    router_id            text COLLATE "C" NOT NULL,
    epoch                bigint NOT NULL,
    CONSTRAINT event_key PRIMARY KEY (invocation_id, sequence),
    CONSTRAINT event_as_previous UNIQUE (invocation_id, sequence, chunk_index, occurred_at),
    CONSTRAINT event_after_event FOREIGN KEY (invocation_id, previous_sequence, previous_chunk_index, previous_at)
        REFERENCES ledger.event (invocation_id, sequence, chunk_index, occurred_at),
    CONSTRAINT event_after_opening FOREIGN KEY (invocation_id, opening, workspace_id, trace_id, root_task_id, created_at)
        REFERENCES ledger.invocation (invocation_id, opening, workspace_id, trace_id, root_task_id, created_at),
    -- Only progress has a chunk index, so what a row names as its previous one is progress, never a terminal.
    CONSTRAINT event_chained CHECK (
        CASE WHEN previous_sequence IS NOT NULL
             THEN previous_sequence = sequence - 1 AND previous_status = 'running' AND previous_chunk_index IS NOT NULL
                  AND coalesce(previous_at <= occurred_at, false)
             ELSE previous_chunk_index IS NULL AND previous_at IS NULL AND coalesce(created_at <= occurred_at, false)
                  AND (coalesce(opening, ''), sequence, previous_status) IN
                      (('started', 3, 'running'), ('routing', 2, 'routing'), ('created', 1, 'pending'))
        END),
    -- The first event behind the opening and the terminal repeat the context; progress between them has it by its chain.
    CONSTRAINT event_context CHECK (
        CASE WHEN opening IS NULL
             THEN type = 'stream' AND num_nonnulls(trace_id, root_task_id, workspace_id, created_at) = 0
             ELSE num_nonnulls(trace_id, root_task_id, workspace_id, created_at) = 4
        END),
    CONSTRAINT event_transition CHECK (
        CASE previous_status
            WHEN 'pending' THEN type IN ('canceled', 'timed_out')
            WHEN 'routing' THEN type IN ('failed', 'canceled', 'timed_out')
            WHEN 'running' THEN type IN ('stream', 'succeeded', 'failed', 'canceled', 'timed_out')
            ELSE false
        END),
    CONSTRAINT event_progress CHECK (
        CASE WHEN type = 'stream'
             THEN coalesce(chunk_count > 0 AND chunk_bytes > 0
                           AND chunk_index = coalesce(previous_chunk_index, -1) + chunk_count, false)
             ELSE chunk_index IS NULL AND chunk_count IS NULL AND chunk_bytes IS NULL
        END),
    CONSTRAINT event_terminal CHECK (
        CASE WHEN type = 'stream'
             THEN latency_ms IS NULL
             ELSE coalesce(latency_ms = floor(extract(epoch FROM occurred_at - created_at) * 1000), false)
        END),
    CONSTRAINT event_error CHECK (
        CASE type
            WHEN 'failed' THEN coalesce(error_code, '') IN (
                'ROUTE_NOT_FOUND', 'AGENT_AUTH_UNSUPPORTED', 'AGENT_UNAVAILABLE', 'A2A_PROTOCOL_ERROR',
                'AGENT_RESPONSE_TOO_LARGE', 'AGENT_EXECUTION_FAILED', 'DEPENDENCY_ERROR', 'INTERNAL_ERROR')
            WHEN 'canceled' THEN coalesce(error_code, '') = 'CANCELED'
            WHEN 'timed_out' THEN coalesce(error_code, '') = 'TIMEOUT'
            ELSE error_code IS NULL
        END)
);
CREATE UNIQUE INDEX event_one_terminal ON ledger.event (invocation_id) WHERE type <> 'stream';
CREATE INDEX event_by_outcome ON ledger.event (workspace_id, type, created_at DESC, invocation_id DESC) WHERE type <> 'stream';

CREATE FUNCTION ledger.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'the Ledger only grows';
END $$;

CREATE TRIGGER epoch_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.epoch
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER epoch_closed_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.epoch_closed
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER checkpoint_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER invocation_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.invocation
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER cancel_request_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.cancel_request
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER event_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.event
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
ALTER TABLE ledger.epoch ENABLE ALWAYS TRIGGER epoch_kept;
ALTER TABLE ledger.epoch_closed ENABLE ALWAYS TRIGGER epoch_closed_kept;
ALTER TABLE ledger.checkpoint ENABLE ALWAYS TRIGGER checkpoint_kept;
ALTER TABLE ledger.invocation ENABLE ALWAYS TRIGGER invocation_kept;
ALTER TABLE ledger.cancel_request ENABLE ALWAYS TRIGGER cancel_request_kept;
ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_kept;

-- The fence. A writer holds the shared lock of its Router until it commits and writes only in the newest epoch; whoever opens an
-- epoch takes the lock alone, so that no older writer is in flight when it begins to close what they left open.
CREATE FUNCTION ledger.require_epoch(of_router text, own_epoch bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(of_router, 0));
    IF own_epoch IS DISTINCT FROM (SELECT max(epoch) FROM ledger.epoch WHERE router_id = of_router) THEN
        RAISE EXCEPTION 'a newer epoch of this Router exists' USING ERRCODE = 'AOP01';
    END IF;
END $$;

CREATE FUNCTION ledger.open_epoch(of_router text) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    opened bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(of_router, 0));
    INSERT INTO ledger.epoch (router_id, epoch)
    SELECT of_router, coalesce(max(epoch), 0) + 1 FROM ledger.epoch WHERE router_id = of_router
    RETURNING epoch INTO opened;
    RETURN opened;
END $$;

-- The same rules for whoever inserts without the functions.
CREATE FUNCTION ledger.fence() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(writer.router_id, writer.epoch)
       FROM (SELECT DISTINCT added.router_id, added.epoch FROM added) AS writer;
    RETURN NULL;
END $$;

CREATE FUNCTION ledger.fence_epoch() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.router_id, 0));
    IF NEW.epoch IS DISTINCT FROM (SELECT coalesce(max(epoch), 0) + 1 FROM ledger.epoch WHERE router_id = NEW.router_id) THEN
        RAISE EXCEPTION 'epochs of a Router follow each other';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION ledger.fence_closing() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger.epoch WHERE router_id = NEW.router_id AND epoch > NEW.epoch) THEN
        RAISE EXCEPTION 'only a newer epoch of a Router closes an older one';
    END IF;
    IF EXISTS (SELECT FROM ledger.invocation
                WHERE router_id = NEW.router_id AND epoch = NEW.epoch AND position >= coalesce(
                      (SELECT max(position) FROM ledger.checkpoint WHERE router_id = NEW.router_id AND epoch = NEW.epoch), 0)
                  AND NOT EXISTS (SELECT FROM ledger.event AS ended
                                   WHERE ended.invocation_id = invocation.invocation_id AND ended.type <> 'stream')) THEN
        RAISE EXCEPTION 'the epoch has Invocations without a terminal';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER epoch_fenced BEFORE INSERT ON ledger.epoch FOR EACH ROW EXECUTE FUNCTION ledger.fence_epoch();
CREATE TRIGGER epoch_closed_fenced BEFORE INSERT ON ledger.epoch_closed
    FOR EACH ROW EXECUTE FUNCTION ledger.fence_closing();
CREATE TRIGGER checkpoint_fenced AFTER INSERT ON ledger.checkpoint REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
CREATE TRIGGER invocation_fenced AFTER INSERT ON ledger.invocation REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
CREATE TRIGGER cancel_request_fenced AFTER INSERT ON ledger.cancel_request REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
CREATE TRIGGER event_fenced AFTER INSERT ON ledger.event REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
ALTER TABLE ledger.epoch ENABLE ALWAYS TRIGGER epoch_fenced;
ALTER TABLE ledger.epoch_closed ENABLE ALWAYS TRIGGER epoch_closed_fenced;
ALTER TABLE ledger.checkpoint ENABLE ALWAYS TRIGGER checkpoint_fenced;
ALTER TABLE ledger.invocation ENABLE ALWAYS TRIGGER invocation_fenced;
ALTER TABLE ledger.cancel_request ENABLE ALWAYS TRIGGER cancel_request_fenced;
ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_fenced;

-- Acceptances, many at once. A row that does not come back was refused: its id is taken, or its parent
-- is not running or is not its caller.
CREATE FUNCTION ledger.accept(
    of_router text, own_epoch bigint, positions bigint[], invocation_ids uuid[], root_task_ids uuid[], trace_ids uuid[],
    parent_ids uuid[], caller_types text[], caller_ids text[], workspace_ids text[], agent_ids text[], versions text[],
    release_ids uuid[], digests bytea[], capabilities text[], openings text[], event_ids uuid[],
    created timestamptz[], deadlines timestamptz[]
) RETURNS TABLE (accepted_event_id uuid, accepted_at timestamptz) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    RETURN QUERY
    INSERT INTO ledger.invocation AS added (
        invocation_id, root_task_id, trace_id, parent_invocation_id, parent_opening, parent_created_at, caller_type,
        caller_id, workspace_id, target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability,
        router_id, epoch, position, opening, opening_event_id, created_at, deadline_at)
    SELECT given.invocation_id, given.root_task_id, given.trace_id, given.parent_id, parent.opening, parent.created_at,
           given.caller_type, given.caller_id, given.workspace_id, given.agent_id, given.version, given.release_id,
           given.digest, given.capability, of_router, own_epoch, given.position, given.opening, given.event_id,
           greatest(given.created, parent.created_at), given.deadline
      FROM unnest(positions, invocation_ids, root_task_ids, trace_ids, parent_ids, caller_types, caller_ids, workspace_ids,
                  agent_ids, versions, release_ids, digests, capabilities, openings, event_ids, created, deadlines)
           AS given (position, invocation_id, root_task_id, trace_id, parent_id, caller_type, caller_id, workspace_id,
                     agent_id, version, release_id, digest, capability, opening, event_id, created, deadline)
      LEFT JOIN LATERAL (
           SELECT running.opening, running.created_at FROM ledger.invocation AS running
            WHERE running.invocation_id = given.parent_id AND running.opening = 'started'
              AND running.target_agent_id = given.caller_id
              AND NOT EXISTS (SELECT FROM ledger.event AS ended
                               WHERE ended.invocation_id = running.invocation_id AND ended.type <> 'stream')
            LIMIT 1) AS parent ON true
     WHERE given.parent_id IS NULL OR parent.opening IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING added.opening_event_id, added.created_at;
END $$;

-- Progress and terminals, many at once. A row that does not come back lost to a terminal that was there first.
CREATE FUNCTION ledger.append(
    of_router text, own_epoch bigint, invocation_ids uuid[], sequences integer[], event_ids uuid[], moments timestamptz[],
    types text[], previous_statuses text[], previous_sequences integer[], previous_chunks integer[], previous_moments timestamptz[], openings text[],
    trace_ids uuid[], root_task_ids uuid[], workspace_ids text[], created timestamptz[], chunk_indexes integer[],
    chunk_counts integer[], chunk_sizes bigint[], latencies bigint[], error_codes text[]
) RETURNS TABLE (appended_id uuid, appended_sequence integer) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    RETURN QUERY
    INSERT INTO ledger.event AS added (
        invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence, previous_chunk_index,
        previous_at, opening, trace_id, root_task_id, workspace_id, created_at, chunk_index, chunk_count, chunk_bytes, latency_ms,
        error_code, router_id, epoch)
    SELECT given.*, of_router, own_epoch
      FROM unnest(invocation_ids, sequences, event_ids, moments, types, previous_statuses, previous_sequences,
                  previous_chunks, previous_moments, openings, trace_ids, root_task_ids, workspace_ids, created, chunk_indexes, chunk_counts,
                  chunk_sizes, latencies, error_codes) AS given
    ON CONFLICT DO NOTHING
    RETURNING added.invocation_id, added.sequence;
END $$;

CREATE FUNCTION ledger.request_cancel(of_router text, own_epoch bigint, invocation_ids uuid[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch)
    SELECT given.id, of_router, own_epoch FROM unnest(invocation_ids) AS given (id)
    ON CONFLICT DO NOTHING;
END $$;

-- The read projection: one row per Invocation, derived and never stored.
CREATE VIEW ledger.record AS
SELECT invocation.*, ended.type AS outcome, ended.latency_ms, ended.error_code,
       coalesce(ended.occurred_at,
                (SELECT max(progress.occurred_at) FROM ledger.event AS progress
                  WHERE progress.invocation_id = invocation.invocation_id),
                invocation.created_at) AS updated_at
  FROM ledger.invocation
  LEFT JOIN ledger.event AS ended ON ended.invocation_id = invocation.invocation_id AND ended.type <> 'stream';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ledger FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.require_epoch, ledger.open_epoch, ledger.accept, ledger.append, ledger.request_cancel
    TO aop_router;
GRANT SELECT ON ledger.epoch, ledger.epoch_closed, ledger.checkpoint, ledger.invocation, ledger.cancel_request,
    ledger.event, ledger.record TO aop_router;
GRANT INSERT (router_id, epoch) ON ledger.epoch, ledger.epoch_closed TO aop_router;
GRANT INSERT (router_id, epoch, position) ON ledger.checkpoint TO aop_router;
GRANT INSERT (invocation_id, router_id, epoch) ON ledger.cancel_request TO aop_router;
GRANT INSERT ON ledger.invocation, ledger.event TO aop_router;
