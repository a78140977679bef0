-- Figures that few rows answer, also for steps of minutes: a row for each hour of a tile has all of the hour's cells as bytes.
--
-- Cells were rows of their own in five widths, with arrays. To read a day in steps of five minutes took more than a thousand of them. Days
-- and hours have rows now; cells of five minutes and of a minute stand behind each other in the row of their hour. The counts of before
-- are dropped: they are no facts, and the sequencer counts all numbers again.

DROP TABLE ledger.figure;
ALTER TABLE ledger.figure_tile DISABLE TRIGGER figure_tile_kept;
TRUNCATE ledger.figure_tile;
ALTER TABLE ledger.figure_tile ENABLE ALWAYS TRIGGER figure_tile_kept;

CREATE TABLE ledger.figure (
    workspace_id text COLLATE "C" NOT NULL,
    edition      integer NOT NULL,
    level        smallint NOT NULL,
    tile         bigint NOT NULL,
    run          bigint GENERATED ALWAYS AS (CASE level WHEN 0 THEN tile / 64 ELSE 0 END) STORED,
    width        integer NOT NULL CONSTRAINT figure_width CHECK (width IN (3600, 86400)),
    start        timestamptz NOT NULL CONSTRAINT figure_start CHECK (extract(epoch FROM start) % width = 0),
    cell         bytea NOT NULL,
    parts        bytea CONSTRAINT figure_parts CHECK ((parts IS NOT NULL) = (width = 3600)),
    CONSTRAINT figure_of_cell PRIMARY KEY (workspace_id, edition, level, run, width, start, tile),
    CONSTRAINT figure_of_tile FOREIGN KEY (edition, level, tile) REFERENCES ledger.figure_tile
);
-- A read takes longer to unpack what is compressed than to fetch it as it is.
ALTER TABLE ledger.figure ALTER COLUMN cell SET STORAGE EXTERNAL, ALTER COLUMN parts SET STORAGE EXTERNAL;
CREATE INDEX figure_by_tile ON ledger.figure (edition, level, tile);
COMMENT ON TABLE ledger.figure IS 'Invocations of a Workspace created in an hour or a day (UTC), as far as a tile counts them';
COMMENT ON COLUMN ledger.figure.run IS
    'tiles that are read together: of level 0 those that one tile of level 1 will count, of level 1 all';
COMMENT ON COLUMN ledger.figure.cell IS 'calls by key and by buckets of latencies; the Router knows the form of the bytes';
COMMENT ON COLUMN ledger.figure.parts IS 'of an hour: the cells of its five minutes and of its minutes that have any calls';

CREATE TRIGGER figure_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.figure
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
ALTER TABLE ledger.figure ENABLE ALWAYS TRIGGER figure_kept;

GRANT SELECT ON ledger.figure TO aop_router;
GRANT INSERT (workspace_id, edition, level, tile, width, start, cell, parts) ON ledger.figure TO aop_router;
