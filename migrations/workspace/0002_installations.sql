-- Workspaces and Installations. A Workspace never changes; of an Installation only its status and the times of its
-- lifecycle do, and only forward. What was uninstalled is history.

CREATE TABLE workspace.workspace (
    workspace_id text COLLATE "C" CONSTRAINT workspace_key PRIMARY KEY,
    owner_id     text COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT workspace_times CHECK (updated_at >= created_at)
);
CREATE INDEX workspace_by_owner ON workspace.workspace (owner_id, created_at, workspace_id);

CREATE TABLE workspace.installation (
    installation_id       text COLLATE "C" CONSTRAINT installation_key PRIMARY KEY,
    workspace_id          text COLLATE "C" NOT NULL CONSTRAINT installation_of_workspace REFERENCES workspace.workspace,
    agent_id              text COLLATE "C" NOT NULL,
    version_constraint    text COLLATE "C" NOT NULL,
    installed_version     text COLLATE "C" NOT NULL,
    installed_release_id  text COLLATE "C" NOT NULL,
    installed_card_digest text COLLATE "C" NOT NULL,
    accepted_permissions  text[] COLLATE "C" NOT NULL,
    status                text COLLATE "C" NOT NULL DEFAULT 'enabled',
    installed_at          timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    uninstalled_at        timestamptz,
    CONSTRAINT installation_digest_form CHECK (installed_card_digest ~ '^[0-9a-f]{64}$'),
    CONSTRAINT installation_permissions_named CHECK (array_position(accepted_permissions, NULL) IS NULL),
    CONSTRAINT installation_times CHECK (updated_at >= installed_at),
    CONSTRAINT installation_state CHECK (
        CASE
            WHEN status IN ('enabled', 'disabled') THEN uninstalled_at IS NULL
            WHEN status = 'uninstalled' THEN uninstalled_at IS NOT DISTINCT FROM updated_at
            ELSE false
        END)
);

COMMENT ON COLUMN workspace.installation.installed_card_digest IS 'digest of the pinned Card when it was installed';

-- At most one current Installation of an Agent in a Workspace, whoever writes at the same time.
CREATE UNIQUE INDEX installation_current ON workspace.installation (workspace_id, agent_id)
    WHERE status <> 'uninstalled';
CREATE INDEX installation_by_workspace ON workspace.installation (workspace_id, installed_at, installation_id);

CREATE FUNCTION workspace.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'this fact does not change';
END $$;

CREATE FUNCTION workspace.guard_installation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.installation_id, NEW.workspace_id, NEW.agent_id, NEW.version_constraint, NEW.installed_version,
        NEW.installed_release_id, NEW.installed_card_digest, NEW.accepted_permissions, NEW.installed_at)
       IS DISTINCT FROM
       (OLD.installation_id, OLD.workspace_id, OLD.agent_id, OLD.version_constraint, OLD.installed_version,
        OLD.installed_release_id, OLD.installed_card_digest, OLD.accepted_permissions, OLD.installed_at)
       OR NEW.updated_at <= OLD.updated_at
       OR (OLD.status, NEW.status) NOT IN (
           ('enabled', 'disabled'), ('disabled', 'enabled'), ('enabled', 'uninstalled'), ('disabled', 'uninstalled')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION workspace.guard_new_installation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.status <> 'enabled' OR NEW.updated_at <> NEW.installed_at THEN
        RAISE EXCEPTION 'a new Installation is enabled';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER workspace_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON workspace.workspace
    FOR EACH STATEMENT EXECUTE FUNCTION workspace.refuse();
CREATE TRIGGER installation_begins BEFORE INSERT ON workspace.installation
    FOR EACH ROW EXECUTE FUNCTION workspace.guard_new_installation();
CREATE TRIGGER installation_immutable BEFORE UPDATE ON workspace.installation
    FOR EACH ROW EXECUTE FUNCTION workspace.guard_installation();
CREATE TRIGGER installation_kept BEFORE DELETE OR TRUNCATE ON workspace.installation
    FOR EACH STATEMENT EXECUTE FUNCTION workspace.refuse();
ALTER TABLE workspace.workspace ENABLE ALWAYS TRIGGER workspace_kept;
ALTER TABLE workspace.installation ENABLE ALWAYS TRIGGER installation_begins;
ALTER TABLE workspace.installation ENABLE ALWAYS TRIGGER installation_immutable;
ALTER TABLE workspace.installation ENABLE ALWAYS TRIGGER installation_kept;

GRANT SELECT, INSERT ON workspace.workspace TO aop_control_plane;
GRANT SELECT ON workspace.installation TO aop_control_plane;
GRANT INSERT (installation_id, workspace_id, agent_id, version_constraint, installed_version, installed_release_id,
    installed_card_digest, accepted_permissions, installed_at, updated_at) ON workspace.installation TO aop_control_plane;
GRANT UPDATE (status, updated_at, uninstalled_at) ON workspace.installation TO aop_control_plane;
