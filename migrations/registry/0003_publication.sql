-- Providers, Endpoint Bindings, Challenges, evidence and Releases. No column can hold a proof: only its SHA-256.

CREATE TABLE registry.provider (
    provider_id text COLLATE "C" CONSTRAINT provider_key PRIMARY KEY,
    owner_id    text COLLATE "C" NOT NULL,
    claimed_at  timestamptz NOT NULL
);

CREATE TABLE registry.binding (
    binding_id      text COLLATE "C" CONSTRAINT binding_key PRIMARY KEY,
    provider_id     text COLLATE "C" NOT NULL CONSTRAINT binding_of_provider REFERENCES registry.provider,
    agent_id        text COLLATE "C" NOT NULL,
    version         text COLLATE "C" NOT NULL,
    endpoint_origin text COLLATE "C" NOT NULL,
    endpoint_path   text COLLATE "C" NOT NULL,
    method          text COLLATE "C" NOT NULL CONSTRAINT binding_method CHECK (method = 'http_well_known'),
    status          text COLLATE "C" NOT NULL,
    failure_code    text COLLATE "C",
    evidence_digest text COLLATE "C",
    verified_at     timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT binding_of_card FOREIGN KEY (agent_id, version) REFERENCES registry.card,
    CONSTRAINT binding_state CHECK (
        CASE status
            WHEN 'pending' THEN failure_code IS NULL AND evidence_digest IS NULL AND verified_at IS NULL
            WHEN 'failed' THEN evidence_digest IS NULL AND verified_at IS NULL AND failure_code IN
                ('wrong_proof', 'challenge_expired', 'disallowed_network', 'endpoint_unavailable', 'redirect_not_allowed')
            WHEN 'verified' THEN failure_code IS NULL AND evidence_digest IS NOT NULL AND verified_at IS NOT NULL
            ELSE false
        END)
);
CREATE INDEX binding_by_provider ON registry.binding (provider_id, created_at DESC, binding_id);
CREATE INDEX binding_by_agent ON registry.binding (provider_id, agent_id, created_at DESC, binding_id);

CREATE TABLE registry.challenge (
    challenge_id text COLLATE "C" CONSTRAINT challenge_key PRIMARY KEY,
    binding_id   text COLLATE "C" NOT NULL CONSTRAINT challenge_of_binding REFERENCES registry.binding,
    proof_sha256 bytea NOT NULL CONSTRAINT challenge_proof_hashed CHECK (octet_length(proof_sha256) = 32),
    expires_at   timestamptz NOT NULL,
    used_at      timestamptz
);

CREATE TABLE registry.evidence (
    binding_id      text COLLATE "C" CONSTRAINT evidence_key PRIMARY KEY CONSTRAINT evidence_of_binding REFERENCES registry.binding,
    challenge_id    text COLLATE "C" NOT NULL CONSTRAINT evidence_of_challenge REFERENCES registry.challenge,
    endpoint_origin text COLLATE "C" NOT NULL,
    method          text COLLATE "C" NOT NULL,
    proof_sha256    bytea NOT NULL,
    verified_at     timestamptz NOT NULL,
    digest          text COLLATE "C" NOT NULL
);

CREATE TABLE registry.release (
    release_id      text COLLATE "C" CONSTRAINT release_key PRIMARY KEY,
    provider_id     text COLLATE "C" NOT NULL CONSTRAINT release_of_provider REFERENCES registry.provider,
    agent_id        text COLLATE "C" NOT NULL,
    version         text COLLATE "C" NOT NULL,
    card_digest     text COLLATE "C" NOT NULL,
    binding_id      text COLLATE "C" NOT NULL CONSTRAINT release_of_binding REFERENCES registry.binding,
    endpoint_origin text COLLATE "C" NOT NULL,
    endpoint_path   text COLLATE "C" NOT NULL,
    method          text COLLATE "C" NOT NULL,
    evidence_digest text COLLATE "C",
    state           text COLLATE "C" NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    verified_at     timestamptz,
    published_at    timestamptz,
    suspended_at    timestamptz,
    revoked_at      timestamptz,
    CONSTRAINT release_of_card FOREIGN KEY (agent_id, version) REFERENCES registry.card,
    CONSTRAINT release_once_per_version UNIQUE (agent_id, version),
    CONSTRAINT release_state CHECK (
        CASE state
            WHEN 'pending_verification' THEN evidence_digest IS NULL AND verified_at IS NULL AND published_at IS NULL
                AND suspended_at IS NULL AND revoked_at IS NULL
            WHEN 'verified' THEN evidence_digest IS NOT NULL AND verified_at IS NOT NULL AND published_at IS NULL
                AND suspended_at IS NULL AND revoked_at IS NULL
            WHEN 'published' THEN evidence_digest IS NOT NULL AND verified_at IS NOT NULL AND published_at IS NOT NULL
                AND suspended_at IS NULL AND revoked_at IS NULL
            WHEN 'suspended' THEN evidence_digest IS NOT NULL AND suspended_at IS NOT NULL AND revoked_at IS NULL
            WHEN 'revoked' THEN evidence_digest IS NOT NULL AND revoked_at IS NOT NULL
            ELSE false
        END)
);
CREATE INDEX release_by_provider ON registry.release (provider_id, created_at DESC, release_id);
CREATE INDEX release_by_agent ON registry.release (provider_id, agent_id, created_at DESC, release_id);
CREATE INDEX release_published ON registry.release (agent_id, published_at DESC, release_id) WHERE state = 'published';

CREATE FUNCTION registry.guard_binding() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.binding_id, NEW.provider_id, NEW.agent_id, NEW.version, NEW.endpoint_origin, NEW.endpoint_path, NEW.method,
        NEW.created_at)
       IS DISTINCT FROM
       (OLD.binding_id, OLD.provider_id, OLD.agent_id, OLD.version, OLD.endpoint_origin, OLD.endpoint_path, OLD.method,
        OLD.created_at)
       OR OLD.status = 'verified' THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION registry.guard_challenge() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.challenge_id, NEW.binding_id, NEW.proof_sha256, NEW.expires_at)
       IS DISTINCT FROM (OLD.challenge_id, OLD.binding_id, OLD.proof_sha256, OLD.expires_at)
       OR OLD.used_at IS NOT NULL THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION registry.guard_release() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.release_id, NEW.provider_id, NEW.agent_id, NEW.version, NEW.card_digest, NEW.binding_id, NEW.endpoint_origin,
        NEW.endpoint_path, NEW.method, NEW.created_at)
       IS DISTINCT FROM
       (OLD.release_id, OLD.provider_id, OLD.agent_id, OLD.version, OLD.card_digest, OLD.binding_id, OLD.endpoint_origin,
        OLD.endpoint_path, OLD.method, OLD.created_at)
       OR (OLD.evidence_digest IS NOT NULL AND NEW.evidence_digest IS DISTINCT FROM OLD.evidence_digest)
       OR (OLD.verified_at IS NOT NULL AND NEW.verified_at IS DISTINCT FROM OLD.verified_at)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.suspended_at IS NOT NULL AND NEW.suspended_at IS DISTINCT FROM OLD.suspended_at)
       OR (OLD.state, NEW.state) NOT IN (
           ('pending_verification', 'verified'), ('verified', 'published'), ('verified', 'suspended'),
           ('verified', 'revoked'), ('published', 'suspended'), ('published', 'revoked'), ('suspended', 'revoked')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER provider_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.provider
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
CREATE TRIGGER binding_immutable BEFORE UPDATE ON registry.binding
    FOR EACH ROW EXECUTE FUNCTION registry.guard_binding();
CREATE TRIGGER binding_kept BEFORE DELETE OR TRUNCATE ON registry.binding
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
CREATE TRIGGER challenge_immutable BEFORE UPDATE ON registry.challenge
    FOR EACH ROW EXECUTE FUNCTION registry.guard_challenge();
CREATE TRIGGER challenge_kept BEFORE DELETE OR TRUNCATE ON registry.challenge
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
CREATE TRIGGER evidence_kept BEFORE UPDATE ON registry.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
CREATE TRIGGER release_immutable BEFORE UPDATE ON registry.release
    FOR EACH ROW EXECUTE FUNCTION registry.guard_release();
CREATE TRIGGER release_kept BEFORE DELETE OR TRUNCATE ON registry.release
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
ALTER TABLE registry.provider ENABLE ALWAYS TRIGGER provider_kept;
ALTER TABLE registry.binding ENABLE ALWAYS TRIGGER binding_immutable;
ALTER TABLE registry.binding ENABLE ALWAYS TRIGGER binding_kept;
ALTER TABLE registry.challenge ENABLE ALWAYS TRIGGER challenge_immutable;
ALTER TABLE registry.challenge ENABLE ALWAYS TRIGGER challenge_kept;
ALTER TABLE registry.evidence ENABLE ALWAYS TRIGGER evidence_kept;
ALTER TABLE registry.release ENABLE ALWAYS TRIGGER release_immutable;
ALTER TABLE registry.release ENABLE ALWAYS TRIGGER release_kept;

GRANT SELECT, INSERT ON registry.provider, registry.binding, registry.challenge, registry.evidence, registry.release
    TO aop_control_plane;
GRANT UPDATE (status, failure_code, evidence_digest, verified_at, updated_at) ON registry.binding TO aop_control_plane;
GRANT UPDATE (used_at) ON registry.challenge TO aop_control_plane;
GRANT UPDATE (state, evidence_digest, updated_at, verified_at, published_at, suspended_at, revoked_at)
    ON registry.release TO aop_control_plane;
