-- What a row follows is looked up once for all rows of a statement, by the fence of its table.
--
-- A foreign key asks for each row in a statement of its own, locks the row it finds, which writes to it, and needs a unique index of all
-- columns it names. Rows of the Ledger are never changed or deleted, so that there is nothing to lock: it is enough to look. The fence
-- already looks at all rows of a statement, for everybody and always.

ALTER TABLE ledger.event DROP CONSTRAINT event_after_event, DROP CONSTRAINT event_after_opening;
ALTER TABLE ledger.event DROP CONSTRAINT event_as_previous;
ALTER TABLE ledger.invocation DROP CONSTRAINT invocation_of_parent;
ALTER TABLE ledger.invocation DROP CONSTRAINT invocation_context;

-- A scalar subquery is a lookup by its key, whatever the statistics say.
CREATE FUNCTION ledger.fence_events() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(writer.router_id, writer.epoch)
       FROM (SELECT DISTINCT added.router_id, added.epoch FROM added) AS writer;
    IF EXISTS (
        SELECT FROM added
         WHERE added.opening IS NOT NULL AND (
               SELECT true FROM ledger.invocation AS opened
                WHERE opened.invocation_id = added.invocation_id AND opened.opening = added.opening
                  AND opened.workspace_id = added.workspace_id AND opened.trace_id = added.trace_id
                  AND opened.root_task_id = added.root_task_id AND opened.created_at = added.created_at) IS NULL
            OR added.previous_sequence IS NOT NULL AND (
               SELECT true FROM ledger.event AS previous
                WHERE previous.invocation_id = added.invocation_id AND previous.sequence = added.previous_sequence
                  AND previous.chunk_index = added.previous_chunk_index AND previous.occurred_at = added.previous_at) IS NULL) THEN
        RAISE EXCEPTION 'an event follows an opening or progress that is in the Ledger' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION ledger.fence_invocations() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ledger.require_epoch(writer.router_id, writer.epoch)
       FROM (SELECT DISTINCT added.router_id, added.epoch FROM added) AS writer;
    IF EXISTS (
        SELECT FROM added
         WHERE added.parent_invocation_id IS NOT NULL AND (
               SELECT true FROM ledger.invocation AS parent
                WHERE parent.invocation_id = added.parent_invocation_id AND parent.opening = added.parent_opening
                  AND parent.workspace_id = added.workspace_id AND parent.trace_id = added.trace_id
                  AND parent.root_task_id = added.root_task_id AND parent.created_at = added.parent_created_at) IS NULL) THEN
        RAISE EXCEPTION 'the parent of an Invocation is in the Ledger' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;

DROP TRIGGER event_fenced ON ledger.event;
DROP TRIGGER invocation_fenced ON ledger.invocation;
CREATE TRIGGER event_fenced AFTER INSERT ON ledger.event REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence_events();
CREATE TRIGGER invocation_fenced AFTER INSERT ON ledger.invocation REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence_invocations();
ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_fenced;
ALTER TABLE ledger.invocation ENABLE ALWAYS TRIGGER invocation_fenced;

REVOKE ALL ON FUNCTION ledger.fence_events, ledger.fence_invocations FROM PUBLIC;
