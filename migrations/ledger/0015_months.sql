-- The Ledger in partitions by month, so that an old month can be exported and detached as a whole.
--
-- The key is the root task: its id is a UUIDv7 and begins with the time at which its Trace began, so that a whole Trace lies in one
-- partition, and what belongs together is declared and looked up together. Every key of these tables is a pair with the root task. Partitions
-- are made ahead of need. None takes what has no month: such a row is refused.
--
-- All rows are written again here, into their months. Units of before do not know the new columns, so that all of them must have ended.

DROP VIEW ledger.record;
DROP FUNCTION ledger.request_cancel;
CREATE SCHEMA ledger_before;
ALTER TABLE ledger.cancel_request SET SCHEMA ledger_before;
ALTER TABLE ledger.event SET SCHEMA ledger_before;
ALTER TABLE ledger.invocation SET SCHEMA ledger_before;
ALTER TABLE ledger.number SET SCHEMA ledger_before;

CREATE TABLE ledger.invocation (
    LIKE ledger_before.invocation INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS INCLUDING STORAGE,
    CONSTRAINT invocation_key PRIMARY KEY (invocation_id, root_task_id)
) PARTITION BY RANGE (root_task_id);
CREATE INDEX invocation_by_time ON ledger.invocation (workspace_id, created_at DESC, invocation_id DESC);
CREATE INDEX invocation_roots ON ledger.invocation (workspace_id, created_at DESC, invocation_id DESC)
    WHERE parent_invocation_id IS NULL;
CREATE INDEX invocation_by_trace ON ledger.invocation (trace_id, workspace_id) WHERE position > 0;
CREATE INDEX invocation_by_position ON ledger.invocation (router_id, epoch, position);
CREATE INDEX invocation_by_parent ON ledger.invocation (parent_invocation_id) WHERE parent_invocation_id IS NOT NULL;

CREATE TABLE ledger.event (
    LIKE ledger_before.event INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,
    CONSTRAINT event_key PRIMARY KEY (invocation_id, sequence, root_task_id)
) PARTITION BY RANGE (root_task_id);
-- Progress between the first event and the terminal has its context by its chain, and its root task of its own.
ALTER TABLE ledger.event DROP CONSTRAINT event_context, ADD CONSTRAINT event_context CHECK (
    CASE WHEN opening IS NULL
         THEN type = 'stream' AND num_nonnulls(trace_id, workspace_id, created_at) = 0
         ELSE num_nonnulls(trace_id, workspace_id, created_at) = 3
    END);
CREATE UNIQUE INDEX event_one_terminal ON ledger.event (invocation_id, root_task_id) WHERE type <> 'stream';
CREATE INDEX event_by_outcome ON ledger.event (workspace_id, type, created_at DESC, invocation_id DESC) WHERE type <> 'stream';
CREATE INDEX event_by_latency ON ledger.event (workspace_id, (-latency_ms), invocation_id) WHERE type <> 'stream';
CREATE INDEX event_by_code ON ledger.event (workspace_id, error_code, created_at DESC, invocation_id DESC)
    WHERE error_code IS NOT NULL;
CREATE INDEX event_by_reason ON ledger.event (workspace_id, reason, created_at DESC, invocation_id DESC)
    WHERE reason IS NOT NULL;

CREATE TABLE ledger.cancel_request (
    LIKE ledger_before.cancel_request INCLUDING DEFAULTS,
    root_task_id uuid NOT NULL,
    CONSTRAINT cancel_request_key PRIMARY KEY (invocation_id, root_task_id),
    CONSTRAINT cancel_request_of_invocation FOREIGN KEY (invocation_id, root_task_id) REFERENCES ledger.invocation
) PARTITION BY RANGE (root_task_id);

-- Numbers are never detached. A row of them leads to the month of what it names.
CREATE TABLE ledger.number (
    LIKE ledger_before.number INCLUDING CONSTRAINTS INCLUDING COMMENTS,
    root_task_id uuid NOT NULL,
    CONSTRAINT number_key PRIMARY KEY (number),
    CONSTRAINT number_once UNIQUE (invocation_id, sequence)
);

-- What an operator exported and detached. Reads of it say so.
CREATE TABLE ledger.detached_month (
    month       date CONSTRAINT detached_month_key PRIMARY KEY CONSTRAINT detached_month_first CHECK (extract(day FROM month) = 1),
    first_root  uuid NOT NULL,
    past_root   uuid NOT NULL,
    invocations bigint NOT NULL,
    events      bigint NOT NULL,
    last_number bigint,
    sha256      bytea NOT NULL CONSTRAINT detached_month_digest CHECK (octet_length(sha256) = 32),
    detached_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN ledger.detached_month.last_number IS 'the largest of its rows; the numbers themselves stay';
COMMENT ON COLUMN ledger.detached_month.sha256 IS 'of the file it was exported to';

CREATE TABLE ledger.detached_trace (
    trace_id     uuid NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    CONSTRAINT detached_trace_key PRIMARY KEY (trace_id, workspace_id)
);
CREATE SCHEMA ledger_detached;

CREATE FUNCTION ledger.first_root(month date) RETURNS uuid LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
    SELECT rpad(lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
COMMENT ON FUNCTION ledger.first_root IS 'the smallest id of a root task that a month (UTC) can have';

CREATE FUNCTION ledger.month_of(root_task_id uuid) RETURNS date LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
    SELECT date_trunc('month', to_timestamp(
        ('x' || substr(replace(root_task_id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000) AT TIME ZONE 'UTC')::date
$$;

-- Attached when it is complete: a table that is attached holds up no reader, and writers for a moment only.
CREATE FUNCTION ledger.make_month(month date) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    parent    text;
    partition text;
    fence     text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['invocation', 'event', 'cancel_request'] LOOP
        partition := parent || to_char(month, '_YYYY_MM');
        fence := CASE parent WHEN 'invocation' THEN 'fence_invocations' WHEN 'event' THEN 'fence_events' ELSE 'fence' END;
        EXECUTE format('CREATE TABLE ledger.%I (LIKE ledger.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)',
                       partition, parent);
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse()', parent || '_kept', partition);
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON ledger.%I REFERENCING NEW TABLE AS added'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.%I()', parent || '_fenced', partition, fence);
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', partition, parent || '_kept');
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', partition, parent || '_fenced');
        EXECUTE format('ALTER TABLE ledger.%I ATTACH PARTITION ledger.%I FOR VALUES FROM (%L) TO (%L)', parent, partition,
                       ledger.first_root(month), ledger.first_root((month + interval '1 month')::date));
    END LOOP;
END $$;

-- The months around now: that before it, for clocks that differ, and the next two. A detached month is over for good. Runs with the
-- rights of its owner, because a Router may make no tables; it can do nothing else.
CREATE FUNCTION ledger.make_months() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog SET lock_timeout = '300ms' AS $$
DECLARE
    this   date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    made   integer := 0;
    wanted date;
BEGIN
    FOR wanted IN SELECT (this + step * interval '1 month')::date FROM generate_series(-1, 2) AS step LOOP
        CONTINUE WHEN to_regclass('ledger.event' || to_char(wanted, '_YYYY_MM')) IS NOT NULL
                   OR EXISTS (SELECT FROM ledger.detached_month WHERE month = wanted);
        -- 'aopmon' as a number. Of several Routers one makes them.
        EXIT WHEN NOT pg_try_advisory_xact_lock(x'616f706d6f6e'::bigint);
        CONTINUE WHEN to_regclass('ledger.event' || to_char(wanted, '_YYYY_MM')) IS NOT NULL;
        PERFORM ledger.make_month(wanted);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

-- What a row follows is in its partition. The bounds over all rows are parameters, so that only the partitions between them are opened: by
-- the row's own root task alone, all would be opened before the first row is looked at.
CREATE OR REPLACE FUNCTION ledger.fence_events() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    writer   record;
    lowest   uuid;
    highest  uuid;
    chained  boolean := false;
    is_wrong boolean;
BEGIN
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
    IF is_wrong THEN
        RAISE EXCEPTION 'an event follows an opening or progress that is in the Ledger' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION ledger.fence_invocations() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    writer  record;
    lowest  uuid;
    highest uuid;
BEGIN
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

CREATE OR REPLACE FUNCTION ledger.fence_closing() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger.epoch WHERE router_id = NEW.router_id AND epoch > NEW.epoch) THEN
        RAISE EXCEPTION 'only a newer epoch of a Router closes an older one';
    END IF;
    IF EXISTS (SELECT FROM ledger.invocation
                WHERE router_id = NEW.router_id AND epoch = NEW.epoch AND position >= coalesce(
                      (SELECT max(position) FROM ledger.checkpoint WHERE router_id = NEW.router_id AND epoch = NEW.epoch), 0)
                  AND NOT EXISTS (SELECT FROM ledger.event AS ended
                                   WHERE ended.invocation_id = invocation.invocation_id
                                     AND ended.root_task_id = invocation.root_task_id AND ended.type <> 'stream')) THEN
        RAISE EXCEPTION 'the epoch has Invocations without a terminal';
    END IF;
    RETURN NEW;
END $$;

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

CREATE FUNCTION ledger.request_cancel(of_router text, own_epoch bigint, invocation_ids uuid[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
    INSERT INTO ledger.cancel_request (invocation_id, root_task_id, router_id, epoch)
    SELECT named.invocation_id, named.root_task_id, of_router, own_epoch
      FROM ledger.invocation AS named WHERE named.invocation_id = ANY(invocation_ids)
    ON CONFLICT DO NOTHING;
END $$;

CREATE VIEW ledger.record AS
SELECT invocation.*, ended.type AS outcome, ended.latency_ms, ended.error_code,
       coalesce(ended.occurred_at,
                (SELECT max(progress.occurred_at) FROM ledger.event AS progress
                  WHERE progress.invocation_id = invocation.invocation_id AND progress.root_task_id = invocation.root_task_id),
                invocation.created_at) AS updated_at,
       ended.reason
  FROM ledger.invocation
  LEFT JOIN ledger.event AS ended
    ON ended.invocation_id = invocation.invocation_id AND ended.root_task_id = invocation.root_task_id AND ended.type <> 'stream';

DO $$
DECLARE
    month date;
BEGIN
    FOR month IN SELECT DISTINCT ledger.month_of(root_task_id) FROM ledger_before.invocation ORDER BY 1 LOOP
        PERFORM ledger.make_month(month);
    END LOOP;
    PERFORM ledger.make_months();
END $$;

INSERT INTO ledger.invocation SELECT * FROM ledger_before.invocation;
INSERT INTO ledger.event (
    invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence, previous_chunk_index, previous_at, opening,
    trace_id, root_task_id, workspace_id, created_at, chunk_index, chunk_count, chunk_bytes, latency_ms, error_code, router_id, epoch, reason)
SELECT event.invocation_id, event.sequence, event.event_id, event.occurred_at, event.type, event.previous_status,
       event.previous_sequence, event.previous_chunk_index, event.previous_at, event.opening, event.trace_id, opened.root_task_id,
       event.workspace_id, event.created_at, event.chunk_index, event.chunk_count, event.chunk_bytes, event.latency_ms,
       event.error_code, event.router_id, event.epoch, event.reason
  FROM ledger_before.event JOIN ledger_before.invocation AS opened USING (invocation_id);
INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch, recorded_at, root_task_id)
SELECT request.invocation_id, request.router_id, request.epoch, request.recorded_at, opened.root_task_id
  FROM ledger_before.cancel_request AS request JOIN ledger_before.invocation AS opened USING (invocation_id);
INSERT INTO ledger.number (number, invocation_id, sequence, events, is_terminal, workspace_id, root_task_id)
SELECT number.number, number.invocation_id, number.sequence, number.events, number.is_terminal, number.workspace_id,
       opened.root_task_id
  FROM ledger_before.number JOIN ledger_before.invocation AS opened USING (invocation_id)
 ORDER BY number.number;
CREATE INDEX number_by_workspace ON ledger.number (workspace_id, number);

-- Nothing may be lost on the way: a row that names no Invocation would have been left behind.
DO $$
DECLARE
    name text;
    kept boolean;
BEGIN
    FOREACH name IN ARRAY ARRAY['invocation', 'event', 'cancel_request', 'number'] LOOP
        EXECUTE format('SELECT (SELECT count(*) FROM ledger.%1$I) = (SELECT count(*) FROM ledger_before.%1$I)', name) INTO kept;
        IF NOT kept THEN
            RAISE EXCEPTION 'ledger.% has rows that name no Invocation; aop ledger check tells which', name;
        END IF;
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse()', name || '_kept', name);
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON ledger.%I REFERENCING NEW TABLE AS added'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.%I()', name || '_fenced', name,
                       CASE name WHEN 'invocation' THEN 'fence_invocations' WHEN 'event' THEN 'fence_events'
                                 WHEN 'number' THEN 'fence_numbers' ELSE 'fence' END);
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', name, name || '_kept');
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', name, name || '_fenced');
    END LOOP;
END $$;

CREATE TRIGGER detached_month_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.detached_month
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER detached_trace_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.detached_trace
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
ALTER TABLE ledger.detached_month ENABLE ALWAYS TRIGGER detached_month_kept;
ALTER TABLE ledger.detached_trace ENABLE ALWAYS TRIGGER detached_trace_kept;

DROP TABLE ledger_before.cancel_request, ledger_before.event, ledger_before.number, ledger_before.invocation;
DROP SCHEMA ledger_before;

-- No unit has a right on a partition: all go through the table that it belongs to, and meet its fence.
REVOKE ALL ON FUNCTION ledger.first_root, ledger.month_of, ledger.make_month, ledger.make_months, ledger.request_cancel FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.make_months, ledger.request_cancel TO aop_router;
GRANT SELECT ON ledger.invocation, ledger.event, ledger.cancel_request, ledger.number, ledger.record, ledger.detached_month,
    ledger.detached_trace TO aop_router;
GRANT INSERT ON ledger.invocation, ledger.event, ledger.number TO aop_router;
GRANT INSERT (invocation_id, root_task_id, router_id, epoch) ON ledger.cancel_request TO aop_router;
