-- What `aop ledger check` compares places, heads and checkpoints with.
--
-- Where an Invocation stands in its epoch was written in one row alone, and a head or a checkpoint that is taken away left no trace. Now the
-- number of an opening repeats its position, and each head and each checkpoint says which one was the last before it. Rows of before say
-- nothing: they are compared as far as they go.

ALTER TABLE ledger.number ADD COLUMN position bigint;
COMMENT ON COLUMN ledger.number.position IS 'that of the Invocation in its epoch, of its opening alone; rows of before have none';

ALTER TABLE ledger.tree_head ADD COLUMN before bigint;
COMMENT ON COLUMN ledger.tree_head.before IS 'the size of the head before it, 0 for the first; rows of before have none';

ALTER TABLE ledger.checkpoint ADD COLUMN before bigint;
COMMENT ON COLUMN ledger.checkpoint.before IS 'the position of the checkpoint before it in its epoch, 0 for the first; rows of before have none';

CREATE OR REPLACE FUNCTION ledger.fence_tree_head() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    NEW.before := coalesce((SELECT max(size) FROM ledger.tree_head), 0);
    IF NEW.before >= NEW.size
       OR NEW.size / 256 <> (SELECT coalesce(max(tile), -1) + 1 FROM ledger.tree_tile WHERE level = 0) THEN
        RAISE EXCEPTION 'a head follows the ones before it and the tiles it stands on';
    END IF;
    RETURN NEW;
END $$;

-- Checkpoints of one epoch may come in any order: that of a smaller position does no harm.
CREATE FUNCTION ledger.follow_checkpoint() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    NEW.before := coalesce((SELECT max(position) FROM ledger.checkpoint
                             WHERE router_id = NEW.router_id AND epoch = NEW.epoch), 0);
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION ledger.follow_checkpoint FROM PUBLIC;
CREATE TRIGGER checkpoint_follows BEFORE INSERT ON ledger.checkpoint FOR EACH ROW EXECUTE FUNCTION ledger.follow_checkpoint();
ALTER TABLE ledger.checkpoint ENABLE ALWAYS TRIGGER checkpoint_follows;
