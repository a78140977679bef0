-- Figures that few rows answer: two levels of tiles, each with cells of five widths of time.
--
-- A tile of level 0 counts 1,024 numbers, one of level 1 what 64 of these count. A read takes the tiles of level 1 and those of level 0
-- behind them, and of each the widest cells that lie in one step of its window. The counts of before are dropped: they are no facts, and
-- the sequencer counts all numbers again.

DROP TABLE ledger.figure, ledger.figure_tile;

CREATE TABLE ledger.figure_tile (
    edition    integer NOT NULL CONSTRAINT figure_tile_edition CHECK (edition > 0),
    level      smallint NOT NULL CONSTRAINT figure_tile_level CHECK (level IN (0, 1)),
    tile       bigint NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT figure_tile_key PRIMARY KEY (edition, level, tile)
);
COMMENT ON TABLE ledger.figure_tile IS 'all tiles of the newest edition count; a new edition counts again';

CREATE TABLE ledger.figure (
    workspace_id   text COLLATE "C" NOT NULL,
    edition        integer NOT NULL,
    level          smallint NOT NULL,
    tile           bigint NOT NULL,
    run            bigint GENERATED ALWAYS AS (CASE level WHEN 0 THEN tile / 64 ELSE 0 END) STORED,
    width          integer NOT NULL CONSTRAINT figure_width CHECK (width IN (60, 120, 300, 3600, 86400)),
    start          timestamptz NOT NULL CONSTRAINT figure_start CHECK (extract(epoch FROM start) % width = 0),
    keys           integer[] NOT NULL,
    calls          integer[] NOT NULL,
    first_latency  integer,
    latency_calls  integer[],
    max_latency_ms bigint,
    CONSTRAINT figure_of_cell PRIMARY KEY (workspace_id, edition, level, run, width, start, tile),
    CONSTRAINT figure_of_tile FOREIGN KEY (edition, level, tile) REFERENCES ledger.figure_tile,
    CONSTRAINT figure_in_pairs CHECK (cardinality(keys) = cardinality(calls)),
    CONSTRAINT figure_latencies CHECK (num_nonnulls(first_latency, latency_calls, max_latency_ms) IN (0, 3))
);
CREATE INDEX figure_by_tile ON ledger.figure (edition, level, tile);
COMMENT ON TABLE ledger.figure IS 'Invocations of a Workspace created in so many seconds from a start, as far as a tile counts them';
COMMENT ON COLUMN ledger.figure.run IS
    'tiles that are read together: of level 0 those that one tile of level 1 will count, of level 1 all';
COMMENT ON COLUMN ledger.figure.latency_calls IS
    'by buckets of latencies, whose bounds the Router knows and never changes, from the last one that has calls down to first_latency';

-- A run of level 0 begins when level 1 counts the one before it, so that a reader never meets the tiles of two runs.
CREATE OR REPLACE FUNCTION ledger.fence_tile() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    counted bigint := (SELECT coalesce(max(tile), -1) + 1 FROM ledger.figure_tile WHERE edition = NEW.edition AND level = NEW.level);
    others  bigint := (SELECT coalesce(max(tile), -1) + 1 FROM ledger.figure_tile WHERE edition = NEW.edition AND level = 1 - NEW.level);
    needed  bigint := CASE NEW.level WHEN 0 THEN NEW.tile / 64 ELSE (NEW.tile + 1) * 64 END;
BEGIN
    IF NEW.tile <> counted OR others <> needed THEN
        RAISE EXCEPTION 'tiles of an edition follow each other';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER figure_tile_fenced BEFORE INSERT ON ledger.figure_tile FOR EACH ROW EXECUTE FUNCTION ledger.fence_tile();
CREATE TRIGGER figure_tile_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.figure_tile
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER figure_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.figure
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
ALTER TABLE ledger.figure_tile ENABLE ALWAYS TRIGGER figure_tile_fenced;
ALTER TABLE ledger.figure_tile ENABLE ALWAYS TRIGGER figure_tile_kept;
ALTER TABLE ledger.figure ENABLE ALWAYS TRIGGER figure_kept;

GRANT SELECT ON ledger.figure_tile, ledger.figure TO aop_router;
GRANT INSERT (edition, level, tile) ON ledger.figure_tile TO aop_router;
GRANT INSERT (workspace_id, edition, level, tile, width, start, keys, calls, first_latency, latency_calls, max_latency_ms)
    ON ledger.figure TO aop_router;
