-- Who suspended a Release: its provider through the Gateway, or the operator of the platform with access to the store.

ALTER TABLE registry.release ADD COLUMN suspended_by text COLLATE "C";

-- Until now only a provider could suspend. The rows are final for every login, so their guard rests for this statement.
ALTER TABLE registry.release DISABLE TRIGGER release_immutable;
UPDATE registry.release SET suspended_by = 'provider' WHERE suspended_at IS NOT NULL;
ALTER TABLE registry.release ENABLE ALWAYS TRIGGER release_immutable;

ALTER TABLE registry.release ADD CONSTRAINT release_suspended_by CHECK (
    CASE WHEN suspended_at IS NULL THEN suspended_by IS NULL
         ELSE suspended_by IS NOT NULL AND suspended_by IN ('provider', 'operator') END);

CREATE OR REPLACE FUNCTION registry.guard_release() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.release_id, NEW.provider_id, NEW.agent_id, NEW.version, NEW.card_digest, NEW.binding_id, NEW.endpoint_origin,
        NEW.endpoint_path, NEW.method, NEW.created_at)
       IS DISTINCT FROM
       (OLD.release_id, OLD.provider_id, OLD.agent_id, OLD.version, OLD.card_digest, OLD.binding_id, OLD.endpoint_origin,
        OLD.endpoint_path, OLD.method, OLD.created_at)
       OR (OLD.evidence_digest IS NOT NULL AND NEW.evidence_digest IS DISTINCT FROM OLD.evidence_digest)
       OR (OLD.verified_at IS NOT NULL AND NEW.verified_at IS DISTINCT FROM OLD.verified_at)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.suspended_at IS NOT NULL
           AND (NEW.suspended_at, NEW.suspended_by) IS DISTINCT FROM (OLD.suspended_at, OLD.suspended_by))
       OR (OLD.state, NEW.state) NOT IN (
           ('pending_verification', 'verified'), ('verified', 'published'), ('verified', 'suspended'),
           ('verified', 'revoked'), ('published', 'suspended'), ('published', 'revoked'), ('suspended', 'revoked')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

GRANT UPDATE (suspended_by) ON registry.release TO aop_control_plane;
