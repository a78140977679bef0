-- One sequence over all events of the Ledger, and figures counted along it.
--
-- A Router, whoever holds the lock of the sequencer, gives committed rows numbers without a gap. An opening stands for up to three
-- events, so that a row of ledger.number covers as many numbers as its row stands for events. Nothing here is a fact of its own:
-- numbers say in which order events were found, and figures can be counted again.

CREATE TABLE ledger.numbering (
    first       bigint CONSTRAINT numbering_key PRIMARY KEY,
    past        bigint NOT NULL CONSTRAINT numbering_past UNIQUE,
    before      bigint GENERATED ALWAYS AS (nullif(first, 0)) STORED,
    settled     bigint NOT NULL,
    router_id   text COLLATE "C" NOT NULL,
    epoch       bigint NOT NULL,
    numbered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT numbering_grows CHECK (first >= 0 AND past > first AND settled >= 0 AND settled <= past),
    CONSTRAINT numbering_without_gap FOREIGN KEY (before) REFERENCES ledger.numbering (past)
);
COMMENT ON TABLE ledger.numbering IS 'one transaction of the sequencer: the numbers from first to before past';
COMMENT ON COLUMN ledger.numbering.settled IS 'every Invocation whose opening has a lower number has its terminal numbered';

CREATE TABLE ledger.number (
    number        bigint CONSTRAINT number_key PRIMARY KEY,
    invocation_id uuid NOT NULL,
    sequence      integer NOT NULL,
    events        smallint NOT NULL,
    is_terminal   boolean NOT NULL,
    workspace_id  text COLLATE "C" NOT NULL,
    CONSTRAINT number_once UNIQUE (invocation_id, sequence),
    CONSTRAINT number_of_row CHECK (
        CASE WHEN sequence = 0 THEN events BETWEEN 1 AND 3 AND NOT is_terminal ELSE sequence > 0 AND events = 1 END)
);
CREATE INDEX number_by_workspace ON ledger.number (workspace_id, number);
COMMENT ON COLUMN ledger.number.number IS 'of its first event; its other events have the numbers behind it';

CREATE TABLE ledger.numbered_position (
    router_id text COLLATE "C" NOT NULL,
    epoch     bigint NOT NULL,
    position  bigint NOT NULL,
    CONSTRAINT numbered_position_key PRIMARY KEY (router_id, epoch, position),
    CONSTRAINT numbered_position_of_epoch FOREIGN KEY (router_id, epoch) REFERENCES ledger.epoch
);
COMMENT ON COLUMN ledger.numbered_position.position IS
    'every Invocation of the epoch accepted at a lower position has its number; the largest bigint says that the epoch is over';

-- What calls are counted by. One without an outcome counts acceptances.
CREATE TABLE ledger.figure_key (
    key             integer GENERATED ALWAYS AS IDENTITY CONSTRAINT figure_key_key PRIMARY KEY,
    workspace_id    text COLLATE "C" NOT NULL,
    target_agent_id text COLLATE "C" NOT NULL,
    capability      text COLLATE "C" NOT NULL,
    outcome         text COLLATE "C",
    error_code      text COLLATE "C",
    reason          text COLLATE "C",
    CONSTRAINT figure_key_once UNIQUE NULLS NOT DISTINCT (
        workspace_id, target_agent_id, capability, outcome, error_code, reason)
);

-- A tile counts the rows with a number in a range of fixed length. All tiles of the newest edition count; a new edition counts again.
CREATE TABLE ledger.figure_tile (
    edition    integer NOT NULL CONSTRAINT figure_tile_edition CHECK (edition > 0),
    tile       bigint NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT figure_tile_key PRIMARY KEY (edition, tile)
);

CREATE TABLE ledger.figure (
    workspace_id   text COLLATE "C" NOT NULL,
    edition        integer NOT NULL,
    minute         timestamptz NOT NULL CONSTRAINT figure_whole_minute CHECK (extract(second FROM minute) = 0),
    tile           bigint NOT NULL,
    keys           integer[] NOT NULL,
    calls          integer[] NOT NULL,
    first_latency  integer,
    latency_calls  integer[],
    max_latency_ms bigint,
    CONSTRAINT figure_of_cell PRIMARY KEY (workspace_id, edition, minute, tile),
    CONSTRAINT figure_of_tile FOREIGN KEY (edition, tile) REFERENCES ledger.figure_tile,
    CONSTRAINT figure_in_pairs CHECK (cardinality(keys) = cardinality(calls)),
    CONSTRAINT figure_latencies CHECK (num_nonnulls(first_latency, latency_calls, max_latency_ms) IN (0, 3))
);
COMMENT ON TABLE ledger.figure IS 'Invocations of a Workspace created in a minute, as far as a tile counts them';
COMMENT ON COLUMN ledger.figure.latency_calls IS
    'by buckets of latencies, whose bounds the Router knows and never changes, from the last one that has calls down to first_latency';

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['numbering', 'number', 'numbered_position', 'figure_key', 'figure_tile', 'figure'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse()', name || '_kept', name);
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', name, name || '_kept');
    END LOOP;
END $$;

-- Numbers fill a batch of the sequencer from its first to its last, in one statement.
CREATE FUNCTION ledger.fence_numbers() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF EXISTS (SELECT FROM added) AND NOT EXISTS (
            SELECT FROM ledger.numbering JOIN (SELECT min(number) AS first, max(number + events) AS past FROM added) AS batch
             USING (first, past))
       OR EXISTS (SELECT FROM (SELECT number, lag(number + events, 1, number) OVER (ORDER BY number) AS expected FROM added) AS row
                   WHERE row.number <> row.expected) THEN
        RAISE EXCEPTION 'numbers follow each other without a gap';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION ledger.fence_numbered_position() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger.invocation
                WHERE router_id = NEW.router_id AND epoch = NEW.epoch AND position < NEW.position AND position >= coalesce(
                      (SELECT max(position) FROM ledger.numbered_position WHERE router_id = NEW.router_id AND epoch = NEW.epoch), 0)
                  AND NOT EXISTS (SELECT FROM ledger.number
                                   WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0)) THEN
        RAISE EXCEPTION 'an Invocation at a lower position has no number';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION ledger.fence_tile() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.tile IS DISTINCT FROM (SELECT coalesce(max(tile), -1) + 1 FROM ledger.figure_tile WHERE edition = NEW.edition) THEN
        RAISE EXCEPTION 'tiles of an edition follow each other';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER numbering_fenced AFTER INSERT ON ledger.numbering REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
CREATE TRIGGER number_fenced AFTER INSERT ON ledger.number REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence_numbers();
CREATE TRIGGER numbered_position_fenced BEFORE INSERT ON ledger.numbered_position
    FOR EACH ROW EXECUTE FUNCTION ledger.fence_numbered_position();
CREATE TRIGGER figure_tile_fenced BEFORE INSERT ON ledger.figure_tile FOR EACH ROW EXECUTE FUNCTION ledger.fence_tile();
ALTER TABLE ledger.numbering ENABLE ALWAYS TRIGGER numbering_fenced;
ALTER TABLE ledger.number ENABLE ALWAYS TRIGGER number_fenced;
ALTER TABLE ledger.numbered_position ENABLE ALWAYS TRIGGER numbered_position_fenced;
ALTER TABLE ledger.figure_tile ENABLE ALWAYS TRIGGER figure_tile_fenced;

REVOKE ALL ON FUNCTION ledger.fence_numbers, ledger.fence_numbered_position, ledger.fence_tile FROM PUBLIC;
GRANT SELECT ON ledger.numbering, ledger.number, ledger.numbered_position, ledger.figure_key, ledger.figure_tile, ledger.figure
    TO aop_router;
GRANT INSERT (first, past, settled, router_id, epoch) ON ledger.numbering TO aop_router;
GRANT INSERT ON ledger.number, ledger.numbered_position, ledger.figure TO aop_router;
GRANT INSERT (workspace_id, target_agent_id, capability, outcome, error_code, reason) ON ledger.figure_key TO aop_router;
GRANT INSERT (edition, tile) ON ledger.figure_tile TO aop_router;
