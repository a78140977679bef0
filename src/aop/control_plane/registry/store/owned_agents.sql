-- name: agents
-- At most $3 Agents of the owner $1 with ids above $2: the Card registered last, the versions counted, and the newest
-- Release. A version in an answer has about 300 bytes, and an answer has 1,000 of an Agent at most.
SELECT agent.agent_id, agent.public_agent_id, agent.provider_id, newest.document, draft, published, disabled,
       release.release_id, release.version, release.state, release.created_at, release.published_at,
       octet_length(newest.document) + 300 * least(draft + published + disabled, 1000) AS weight
  FROM registry.agent
 CROSS JOIN LATERAL (SELECT document FROM registry.card WHERE card.agent_id = agent.agent_id
                      ORDER BY registered_at DESC, version DESC LIMIT 1) AS newest
 CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE status = 'draft') AS draft,
                            count(*) FILTER (WHERE status = 'published') AS published,
                            count(*) FILTER (WHERE status = 'disabled') AS disabled
                       FROM registry.card WHERE card.agent_id = agent.agent_id) AS counted
  LEFT JOIN LATERAL (SELECT release_id, version, state, created_at, published_at FROM registry.release
                      WHERE release.agent_id = agent.agent_id
                      ORDER BY created_at DESC, release_id DESC LIMIT 1) AS release ON true
 WHERE agent.owner_id = $1 AND agent.agent_id > $2 ORDER BY agent.agent_id LIMIT $3

-- name: versions
-- The newest 1,000 versions of each of the Agents $1, newest first. Without a limit one Agent could fill any answer.
SELECT card.agent_id, card.version, status AS publication_status, registered_at, card.published_at, disabled_at,
       release_id, state, status = 'published' AND state IS NOT DISTINCT FROM 'published' AS installable
  FROM unnest($1::text[]) AS owned (id)
 CROSS JOIN LATERAL (SELECT * FROM registry.card WHERE card.agent_id = owned.id COLLATE "C"
                      ORDER BY registered_at DESC, version DESC LIMIT 1000) AS card
  LEFT JOIN registry.release USING (agent_id, version)
 ORDER BY card.agent_id, registered_at DESC, card.version DESC
