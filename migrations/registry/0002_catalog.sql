-- Agents and their Card versions. A Card is kept as its canonical bytes; every other column of it is derived from them
-- at registration and never changes.

CREATE TABLE registry.agent (
    agent_id        text COLLATE "C" CONSTRAINT agent_key PRIMARY KEY,
    owner_id        text COLLATE "C" NOT NULL,
    public_agent_id text COLLATE "C" NOT NULL CONSTRAINT agent_public_id_once UNIQUE,
    provider_id     text COLLATE "C",
    CONSTRAINT agent_public_id_form CHECK (public_agent_id ~ '^agt_[0-9a-f]{32}$')
);

CREATE TABLE registry.card (
    agent_id      text COLLATE "C" NOT NULL CONSTRAINT card_of_agent REFERENCES registry.agent,
    version       text COLLATE "C" NOT NULL,
    document      bytea NOT NULL,
    digest        text COLLATE "C" NOT NULL,
    owner_id      text COLLATE "C" NOT NULL,
    precedence    text COLLATE "C" NOT NULL,
    folded_name   text COLLATE "C" NOT NULL,
    folded_text   text COLLATE "C" NOT NULL,
    grams         integer[] NOT NULL,
    skill_ids     text[] COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL,
    registered_at timestamptz NOT NULL,
    published_at  timestamptz,
    disabled_at   timestamptz,
    publication   bigint,
    CONSTRAINT card_key PRIMARY KEY (agent_id, version),
    CONSTRAINT card_digest_of_document CHECK (digest = encode(sha256(document), 'hex')),
    CONSTRAINT card_state CHECK (
        CASE status
            WHEN 'draft' THEN published_at IS NULL AND disabled_at IS NULL AND publication IS NULL
            WHEN 'published' THEN published_at IS NOT NULL AND disabled_at IS NULL AND publication IS NOT NULL
            WHEN 'disabled' THEN disabled_at IS NOT NULL
            ELSE false
        END)
);

COMMENT ON COLUMN registry.card.precedence IS 'SemVer precedence as text that sorts bytewise';
COMMENT ON COLUMN registry.card.folded_text IS 'case-folded description';
COMMENT ON COLUMN registry.card.grams IS 'hashes of the trigrams of folded name and description';

CREATE INDEX card_by_publication ON registry.card (published_at DESC, agent_id, version) WHERE status = 'published';
CREATE INDEX card_by_owner_publication ON registry.card (owner_id, published_at DESC, agent_id, version)
    WHERE status = 'published';
CREATE INDEX card_by_skill ON registry.card USING gin (skill_ids) WHERE status = 'published';
CREATE INDEX card_by_gram ON registry.card USING gin (grams) WHERE status = 'published';
CREATE INDEX card_by_precedence ON registry.card (agent_id, precedence, version);
CREATE INDEX card_by_owner ON registry.card (owner_id, registered_at DESC, agent_id, version);
CREATE INDEX card_by_registration ON registry.card (agent_id, registered_at DESC, version DESC);

-- Counters are rows, locked until commit, so that their numbers follow the order of commits.
CREATE TABLE registry.counter (
    name  text COLLATE "C" CONSTRAINT counter_key PRIMARY KEY,
    value bigint NOT NULL
);
INSERT INTO registry.counter (name, value) VALUES ('publication', 0), ('topology', 0);

CREATE FUNCTION registry.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'this fact does not change';
END $$;

CREATE FUNCTION registry.guard_agent() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.agent_id, NEW.owner_id, NEW.public_agent_id) IS DISTINCT FROM (OLD.agent_id, OLD.owner_id, OLD.public_agent_id)
        OR (OLD.provider_id IS NOT NULL AND NEW.provider_id IS DISTINCT FROM OLD.provider_id) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION registry.guard_card() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.agent_id, NEW.version, NEW.document, NEW.digest, NEW.owner_id, NEW.precedence, NEW.folded_name,
        NEW.folded_text, NEW.grams, NEW.skill_ids, NEW.registered_at)
       IS DISTINCT FROM
       (OLD.agent_id, OLD.version, OLD.document, OLD.digest, OLD.owner_id, OLD.precedence, OLD.folded_name,
        OLD.folded_text, OLD.grams, OLD.skill_ids, OLD.registered_at)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.disabled_at IS NOT NULL AND NEW.disabled_at IS DISTINCT FROM OLD.disabled_at)
       OR (OLD.status, NEW.status) NOT IN (
           ('draft', 'published'), ('draft', 'disabled'), ('published', 'disabled'), ('published', 'published')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER agent_immutable BEFORE UPDATE ON registry.agent
    FOR EACH ROW EXECUTE FUNCTION registry.guard_agent();
CREATE TRIGGER agent_kept BEFORE DELETE OR TRUNCATE ON registry.agent
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
CREATE TRIGGER card_immutable BEFORE UPDATE ON registry.card
    FOR EACH ROW EXECUTE FUNCTION registry.guard_card();
CREATE TRIGGER card_kept BEFORE DELETE OR TRUNCATE ON registry.card
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
ALTER TABLE registry.agent ENABLE ALWAYS TRIGGER agent_immutable;
ALTER TABLE registry.agent ENABLE ALWAYS TRIGGER agent_kept;
ALTER TABLE registry.card ENABLE ALWAYS TRIGGER card_immutable;
ALTER TABLE registry.card ENABLE ALWAYS TRIGGER card_kept;

GRANT SELECT, INSERT ON registry.agent, registry.card TO aop_control_plane;
GRANT UPDATE (provider_id) ON registry.agent TO aop_control_plane;
GRANT UPDATE (status, published_at, disabled_at, publication) ON registry.card TO aop_control_plane;
GRANT SELECT ON registry.counter TO aop_control_plane;
GRANT UPDATE (value) ON registry.counter TO aop_control_plane;
