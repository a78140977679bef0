-- name: register
-- Adds a version, and its Agent with the public id $11 if it is the first. The public id of the Agent, if it belongs to
-- the owner $5 and has no such version.
WITH made AS (
    INSERT INTO registry.agent (agent_id, owner_id, public_agent_id) VALUES ($1, $5, $11)
    ON CONFLICT DO NOTHING RETURNING public_agent_id),
own AS (
    SELECT public_agent_id FROM made UNION ALL
    SELECT public_agent_id FROM registry.agent WHERE agent_id = $1 AND owner_id = $5)
INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name, folded_text,
                           skill_ids, registered_at, status)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'draft' FROM own
    ON CONFLICT DO NOTHING RETURNING (SELECT public_agent_id FROM own)

-- name: set_published
-- Gives the version $2 of the Agent $1 the next publication number.
WITH number AS (UPDATE registry.counter SET value = value + 1 WHERE name = 'publication' RETURNING value)
UPDATE registry.card
   SET status = 'published', published_at = coalesce(published_at, $3), publication = number.value
  FROM number WHERE agent_id = $1 AND version = $2

-- name: used_first_by_others
-- What other owners used first of the names of the Agents $1. An Agent may have a new name in every version: its newest
-- 200 are compared. Ten resemblances are warning enough.
WITH own AS (
    SELECT agent.id AS named, name.* FROM unnest($1::text[]) AS agent (id)
     CROSS JOIN LATERAL (SELECT part, skeleton, text, owner_id FROM registry.published_name
                          WHERE agent_id = agent.id COLLATE "C" ORDER BY first_at DESC LIMIT 200) AS name),
first AS (
    SELECT own.named, own.part, own.text, own.owner_id AS own_owner, used.agent_id, used.owner_id, used.first_at
      FROM own CROSS JOIN LATERAL (SELECT agent_id, owner_id, first_at FROM registry.published_name
                                    WHERE part = own.part AND skeleton = own.skeleton
                                    ORDER BY first_at, agent_id LIMIT 1) AS used
     UNION ALL
    SELECT own.named, own.part, own.text, own.owner_id, NULL, provider.owner_id, provider.claimed_at
      FROM own JOIN registry.provider ON own.part = 'prefix' AND provider.provider_id = own.text),
earliest AS (SELECT DISTINCT ON (named, part, text) * FROM first ORDER BY named, part, text, first_at),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY named ORDER BY part DESC, text) AS place
      FROM earliest WHERE owner_id <> own_owner)
SELECT named, part, text, agent_id, owner_id FROM ranked WHERE place <= 10 ORDER BY named, place
