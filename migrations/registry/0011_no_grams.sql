-- Hashes of short pieces of names and descriptions are no longer kept.
--
-- Words find nearly every query since 0009. Only queries without letters and digits still asked for these hashes, and they now read the
-- versions one after the other. What stays of the index finds the versions that have a Skill.

DROP VIEW registry.eligible_version, registry.published_version;
DROP INDEX registry.card_by_term;

CREATE OR REPLACE FUNCTION registry.guard_card() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (NEW.agent_id, NEW.version, NEW.document, NEW.digest, NEW.owner_id, NEW.precedence, NEW.folded_name,
        NEW.folded_text, NEW.skill_ids, NEW.registered_at)
       IS DISTINCT FROM
       (OLD.agent_id, OLD.version, OLD.document, OLD.digest, OLD.owner_id, OLD.precedence, OLD.folded_name,
        OLD.folded_text, OLD.skill_ids, OLD.registered_at)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.disabled_at IS NOT NULL AND NEW.disabled_at IS DISTINCT FROM OLD.disabled_at)
       OR (OLD.status, NEW.status) NOT IN (
           ('draft', 'published'), ('draft', 'disabled'), ('published', 'disabled'), ('published', 'published')) THEN
        RAISE EXCEPTION 'this fact does not change';
    END IF;
    RETURN NEW;
END $$;

ALTER TABLE registry.card DROP COLUMN grams;
CREATE INDEX card_by_skill ON registry.card USING gin (skill_ids) WHERE status = 'published';

CREATE VIEW registry.published_version AS
SELECT agent_id, version, digest, document, owner_id, precedence, folded_name, folded_text, skill_ids, registered_at,
       published_at, publication
  FROM registry.card WHERE status = 'published';

CREATE VIEW registry.eligible_version AS
SELECT published.*, release.release_id, release.state AS release_state, release.release_id IS NOT NULL AS installable
  FROM registry.published_version AS published LEFT JOIN registry.release USING (agent_id, version)
 WHERE release.state IS NULL OR release.state = 'published';

GRANT SELECT ON registry.published_version, registry.eligible_version TO aop_control_plane;
