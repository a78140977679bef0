-- The change feed: one row per lifecycle change of a Release, numbered in the order of commits, and what a snapshot of
-- it reads. Discovery reads its own view; it has no table.

CREATE TABLE registry.change (
    revision    bigint CONSTRAINT change_key PRIMARY KEY,
    release_id  text COLLATE "C" NOT NULL CONSTRAINT change_of_release REFERENCES registry.release,
    agent_id    text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    card_digest text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    CONSTRAINT change_state CHECK (state IN ('published', 'suspended', 'revoked', 'disabled'))
);
CREATE TRIGGER change_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.change
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
ALTER TABLE registry.change ENABLE ALWAYS TRIGGER change_kept;

CREATE VIEW registry.watched_release AS
SELECT release.agent_id, release.version, release.release_id, release.card_digest,
       CASE WHEN release.state IN ('suspended', 'revoked') THEN release.state
            WHEN card.status = 'disabled' THEN 'disabled'
            ELSE release.state END AS state
  FROM registry.release JOIN registry.card USING (agent_id, version)
 WHERE release.state IN ('published', 'suspended', 'revoked') OR card.status = 'disabled';

-- Discovery and the public share are these views and nothing else.
CREATE VIEW registry.published_version AS
SELECT agent_id, version, digest, document, owner_id, precedence, folded_name, folded_text, grams, skill_ids,
       registered_at, published_at, publication
  FROM registry.card WHERE status = 'published';

CREATE VIEW registry.eligible_version AS
SELECT published.*, release.release_id, release.state AS release_state, release.release_id IS NOT NULL AS installable
  FROM registry.published_version AS published LEFT JOIN registry.release USING (agent_id, version)
 WHERE release.state IS NULL OR release.state = 'published';

CREATE VIEW registry.shared_release AS
SELECT release.release_id, release.agent_id, release.version, release.card_digest, release.published_at, card.document,
       release.card_digest = card.digest AND card.digest = encode(sha256(card.document), 'hex') AS agrees
  FROM registry.release JOIN registry.card USING (agent_id, version)
 WHERE release.state = 'published' AND card.status = 'published';

CREATE VIEW registry.public_agent AS SELECT agent_id, public_agent_id FROM registry.agent;

CREATE VIEW registry.last_publication AS SELECT value AS number FROM registry.counter WHERE name = 'publication';

GRANT SELECT, INSERT ON registry.change TO aop_control_plane;
GRANT SELECT ON registry.watched_release, registry.published_version, registry.eligible_version,
    registry.shared_release, registry.public_agent, registry.last_publication TO aop_control_plane;
