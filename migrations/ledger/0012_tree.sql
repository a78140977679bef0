-- A Ledger that others can check: what permitted each Invocation, and a Merkle tree (RFC 6962) over all events in their sequence.
--
-- A leaf is the event with this number in the form of contracts/ledger-leaf. Leaves are not stored: they are made from their rows. A tile
-- of level 0 has the hashes of 256 leaves; a tile of level n stands for 256 tiles below it, and only its root is stored. A head is the root
-- over all leaves before its size. The sequencer adds both behind the numbers. Nothing here is a fact of its own, and nothing is signed.

ALTER TABLE ledger.invocation ADD COLUMN authorization_digest bytea
    CONSTRAINT invocation_authorization_length CHECK (octet_length(authorization_digest) = 32);
COMMENT ON COLUMN ledger.invocation.authorization_digest IS
    'SHA-256 of the Installation and Release that permitted the call; older rows have none';

CREATE TABLE ledger.tree_tile (
    level  smallint NOT NULL CONSTRAINT tree_tile_level CHECK (level BETWEEN 0 AND 6),
    tile   bigint NOT NULL CONSTRAINT tree_tile_counted CHECK (tile >= 0),
    root   bytea NOT NULL CONSTRAINT tree_tile_root_length CHECK (octet_length(root) = 32),
    hashes bytea,
    CONSTRAINT tree_tile_key PRIMARY KEY (level, tile),
    CONSTRAINT tree_tile_hashes CHECK (CASE level WHEN 0 THEN coalesce(octet_length(hashes) = 8192, false) ELSE hashes IS NULL END)
);
-- Hashes cannot be compressed.
ALTER TABLE ledger.tree_tile ALTER COLUMN hashes SET STORAGE EXTERNAL;
COMMENT ON COLUMN ledger.tree_tile.hashes IS 'of the 256 leaves from number tile * 256 on';

CREATE TABLE ledger.tree_head (
    size bigint CONSTRAINT tree_head_key PRIMARY KEY CONSTRAINT tree_head_of_numbers REFERENCES ledger.numbering (past),
    root bytea NOT NULL CONSTRAINT tree_head_root_length CHECK (octet_length(root) = 32)
);
COMMENT ON TABLE ledger.tree_head IS 'the root over the leaves of all numbers before size';

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tree_tile', 'tree_head'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse()', name || '_kept', name);
        EXECUTE format('ALTER TABLE ledger.%I ENABLE ALWAYS TRIGGER %I', name, name || '_kept');
    END LOOP;
END $$;

CREATE FUNCTION ledger.fence_tree_tile() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    below bigint := CASE NEW.level WHEN 0 THEN (SELECT max(past) FROM ledger.numbering)
                    ELSE (SELECT max(tile) + 1 FROM ledger.tree_tile WHERE level = NEW.level - 1) END;
BEGIN
    IF NEW.tile <> (SELECT coalesce(max(tile), -1) + 1 FROM ledger.tree_tile WHERE level = NEW.level)
       OR coalesce((NEW.tile + 1) * 256 > below, true) THEN
        RAISE EXCEPTION 'tiles of the tree follow each other, and what they stand for';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION ledger.fence_tree_head() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger.tree_head WHERE size >= NEW.size)
       OR NEW.size / 256 <> (SELECT coalesce(max(tile), -1) + 1 FROM ledger.tree_tile WHERE level = 0) THEN
        RAISE EXCEPTION 'a head follows the ones before it and the tiles it stands on';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER tree_tile_fenced BEFORE INSERT ON ledger.tree_tile FOR EACH ROW EXECUTE FUNCTION ledger.fence_tree_tile();
CREATE TRIGGER tree_head_fenced BEFORE INSERT ON ledger.tree_head FOR EACH ROW EXECUTE FUNCTION ledger.fence_tree_head();
ALTER TABLE ledger.tree_tile ENABLE ALWAYS TRIGGER tree_tile_fenced;
ALTER TABLE ledger.tree_head ENABLE ALWAYS TRIGGER tree_head_fenced;

DROP FUNCTION ledger.accept;

-- Acceptances, many at once. A row that does not come back was refused: its id is taken, or its parent
-- is not running or is not its caller.
CREATE FUNCTION ledger.accept(
    of_router text, own_epoch bigint, positions bigint[], invocation_ids uuid[], root_task_ids uuid[], trace_ids uuid[],
    parent_ids uuid[], caller_types text[], caller_ids text[], workspace_ids text[], agent_ids text[], versions text[],
    release_ids uuid[], digests bytea[], capabilities text[], openings text[], event_ids uuid[],
    created timestamptz[], deadlines timestamptz[], authorizations bytea[]
) RETURNS TABLE (accepted_event_id uuid, accepted_at timestamptz) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(of_router, own_epoch);
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
            WHERE running.invocation_id = given.parent_id AND running.opening = 'started'
              AND running.target_agent_id = given.caller_id
              AND NOT EXISTS (SELECT FROM ledger.event AS ended
                               WHERE ended.invocation_id = running.invocation_id AND ended.type <> 'stream')
            LIMIT 1) AS parent ON true
     WHERE given.parent_id IS NULL OR parent.opening IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING added.opening_event_id, added.created_at;
END $$;

CREATE OR REPLACE VIEW ledger.record AS
SELECT invocation.invocation_id, invocation.root_task_id, invocation.trace_id, invocation.parent_invocation_id,
       invocation.parent_opening, invocation.parent_created_at, invocation.caller_type, invocation.caller_id,
       invocation.workspace_id, invocation.target_agent_id, invocation.agent_card_version, invocation.agent_release_id,
       invocation.agent_card_digest, invocation.capability, invocation.router_id, invocation.epoch, invocation.position,
       invocation.opening, invocation.opening_event_id, invocation.created_at, invocation.deadline_at,
       ended.type AS outcome, ended.latency_ms, ended.error_code,
       coalesce(ended.occurred_at,
                (SELECT max(progress.occurred_at) FROM ledger.event AS progress
                  WHERE progress.invocation_id = invocation.invocation_id),
                invocation.created_at) AS updated_at,
       ended.reason, invocation.authorization_digest
  FROM ledger.invocation
  LEFT JOIN ledger.event AS ended ON ended.invocation_id = invocation.invocation_id AND ended.type <> 'stream';

REVOKE ALL ON FUNCTION ledger.fence_tree_tile, ledger.fence_tree_head, ledger.accept FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.accept TO aop_router;
GRANT SELECT ON ledger.tree_tile, ledger.tree_head TO aop_router;
GRANT INSERT ON ledger.tree_tile, ledger.tree_head TO aop_router;
