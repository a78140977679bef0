-- Callers: principals with whom the owner of a Workspace shares it. A record begins once and ends once; one who is added
-- again has a new record.

CREATE TABLE workspace.caller (
    workspace_id         text COLLATE "C" NOT NULL CONSTRAINT caller_of_workspace REFERENCES workspace.workspace,
    principal_id         text COLLATE "C" NOT NULL,
    added_at             timestamptz NOT NULL,
    added_by             text COLLATE "C" NOT NULL,
    removed_at           timestamptz,
    workspace_created_at timestamptz NOT NULL,
    CONSTRAINT caller_key PRIMARY KEY (workspace_id, principal_id, added_at),
    CONSTRAINT caller_times CHECK (removed_at > added_at)
);

COMMENT ON COLUMN workspace.caller.workspace_created_at IS
    'of the Workspace; a page of the Workspaces that a principal may call is read in this order';

-- At most one current record of a principal in a Workspace, whoever writes at the same time.
CREATE UNIQUE INDEX caller_current ON workspace.caller (workspace_id, principal_id) WHERE removed_at IS NULL;
CREATE INDEX caller_by_workspace ON workspace.caller (workspace_id, added_at, principal_id);
CREATE INDEX caller_by_principal ON workspace.caller (principal_id, workspace_created_at, workspace_id)
    WHERE removed_at IS NULL;

CREATE FUNCTION workspace.guard_new_caller() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.removed_at IS NOT NULL OR NOT EXISTS (
        SELECT FROM workspace.workspace
        WHERE workspace.workspace_id = NEW.workspace_id AND workspace.created_at = NEW.workspace_created_at
          AND workspace.owner_id = NEW.added_by AND workspace.owner_id <> NEW.principal_id) THEN
        RAISE EXCEPTION 'the owner of a Workspace adds others as its callers';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION workspace.guard_caller() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.workspace_id, NEW.principal_id, NEW.added_at, NEW.added_by, NEW.workspace_created_at)
       IS DISTINCT FROM
       (OLD.workspace_id, OLD.principal_id, OLD.added_at, OLD.added_by, OLD.workspace_created_at)
       OR OLD.removed_at IS NOT NULL OR NEW.removed_at IS NULL THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER caller_begins BEFORE INSERT ON workspace.caller
    FOR EACH ROW EXECUTE FUNCTION workspace.guard_new_caller();
CREATE TRIGGER caller_immutable BEFORE UPDATE ON workspace.caller
    FOR EACH ROW EXECUTE FUNCTION workspace.guard_caller();
CREATE TRIGGER caller_kept BEFORE DELETE OR TRUNCATE ON workspace.caller
    FOR EACH STATEMENT EXECUTE FUNCTION workspace.refuse();
ALTER TABLE workspace.caller ENABLE ALWAYS TRIGGER caller_begins;
ALTER TABLE workspace.caller ENABLE ALWAYS TRIGGER caller_immutable;
ALTER TABLE workspace.caller ENABLE ALWAYS TRIGGER caller_kept;

GRANT SELECT ON workspace.caller TO aop_control_plane;
GRANT INSERT (workspace_id, principal_id, added_at, added_by, workspace_created_at) ON workspace.caller
    TO aop_control_plane;
GRANT UPDATE (removed_at) ON workspace.caller TO aop_control_plane;
