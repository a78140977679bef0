-- The guard of numbered positions looks each Invocation up by its key. As NOT EXISTS it was planned as a join, and while a
-- Ledger is young PostgreSQL has no statistics of the numbers: it then read all of them for every Invocation of a batch.
CREATE OR REPLACE FUNCTION ledger.fence_numbered_position() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger.invocation
                WHERE router_id = NEW.router_id AND epoch = NEW.epoch AND position < NEW.position AND position >= coalesce(
                      (SELECT max(position) FROM ledger.numbered_position WHERE router_id = NEW.router_id AND epoch = NEW.epoch), 0)
                  AND (SELECT true FROM ledger.number
                        WHERE number.invocation_id = invocation.invocation_id AND number.sequence = 0) IS NULL) THEN
        RAISE EXCEPTION 'an Invocation at a lower position has no number';
    END IF;
    RETURN NEW;
END $$;
