-- An Installation may be replaced in one step: it is uninstalled and names the one that took its place. Calls that were
-- authorized before are resolved with it for a short time.
-- The constraints hold for new rows at once; the next migration looks at the others without holding anybody up. The two
-- indexes hold up changes of Installations while they are built: about a second for a million rows.

ALTER TABLE workspace.installation
    ADD COLUMN replaced_by text COLLATE "C",
    -- The successor is added after the row that names it, because an Agent has one current Installation in a Workspace.
    ADD CONSTRAINT installation_successor FOREIGN KEY (replaced_by) REFERENCES workspace.installation
        DEFERRABLE INITIALLY DEFERRED NOT VALID,
    ADD CONSTRAINT installation_replaced_ended CHECK (replaced_by IS NULL OR status = 'uninstalled') NOT VALID;

-- A call authorized before a replacement looks for what was replaced last.
CREATE INDEX installation_replaced ON workspace.installation (workspace_id, agent_id, uninstalled_at DESC)
    WHERE replaced_by IS NOT NULL;
-- How many Installations of a Release there are, by status, without reading them.
CREATE INDEX installation_by_release ON workspace.installation (installed_release_id, status)
    WHERE status <> 'uninstalled';

CREATE OR REPLACE FUNCTION workspace.guard_installation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.installation_id, NEW.workspace_id, NEW.agent_id, NEW.version_constraint, NEW.installed_version,
        NEW.installed_release_id, NEW.installed_card_digest, NEW.accepted_permissions, NEW.installed_at)
       IS DISTINCT FROM
       (OLD.installation_id, OLD.workspace_id, OLD.agent_id, OLD.version_constraint, OLD.installed_version,
        OLD.installed_release_id, OLD.installed_card_digest, OLD.accepted_permissions, OLD.installed_at)
       OR NEW.updated_at <= OLD.updated_at
       OR (NEW.replaced_by IS NOT NULL AND OLD.status <> 'enabled')
       OR (OLD.status, NEW.status) NOT IN (
           ('enabled', 'disabled'), ('disabled', 'enabled'), ('enabled', 'uninstalled'), ('disabled', 'uninstalled')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION workspace.guard_new_installation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.status <> 'enabled' OR NEW.updated_at <> NEW.installed_at OR NEW.replaced_by IS NOT NULL THEN
        RAISE EXCEPTION 'a new Installation is enabled';
    END IF;
    RETURN NEW;
END $$;

GRANT UPDATE (replaced_by) ON workspace.installation TO aop_control_plane;
