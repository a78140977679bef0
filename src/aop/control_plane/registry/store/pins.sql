-- name: candidates
-- At most $5 versions of the Agent $1 below the precedence $2 and version $3 that are published or have a Release;
-- pre-releases, whose precedence ends in `!`, only if $4. The index on precedence is followed from its highest entry
-- down, as far as the limit needs: the planner expects that most rows meet an inequality, so it keeps the index.
SELECT card.version, card.precedence FROM registry.card LEFT JOIN registry.release USING (agent_id, version)
 WHERE card.agent_id = $1 AND (card.precedence, card.version) < ($2, $3)
   AND (card.status = 'published' OR release.release_id IS NOT NULL)
   AND ($4 OR right(card.precedence, 1) <> '!')
 ORDER BY card.precedence DESC, card.version DESC LIMIT $5

-- name: documents
-- The Cards of the versions $2 of the Agents $1.
SELECT card.agent_id, card.version, card.document FROM unnest($1::text[], $2::text[]) AS pin (agent_id, version)
  JOIN registry.card ON card.agent_id = pin.agent_id COLLATE "C" AND card.version = pin.version COLLATE "C"

-- name: statuses
-- The facts of the versions $2 of the Agents $1, and of each the highest installable version above it: a pre-release
-- only above a pre-release. Of the versions above one, 50 are looked at: a provider may have any number of them.
SELECT card.agent_id, card.version, card.digest, card.status AS card_status, release.release_id,
       release.state AS release_state, release.card_digest AS release_digest, release.binding_id, release.method,
       release.evidence_digest, release.published_at, newer.version AS newer_version
  FROM unnest($1::text[], $2::text[]) AS pin (agent_id, version)
  JOIN registry.card ON card.agent_id = pin.agent_id COLLATE "C" AND card.version = pin.version COLLATE "C"
  LEFT JOIN registry.release ON release.agent_id = card.agent_id AND release.version = card.version
  LEFT JOIN LATERAL (
       SELECT higher.version
         FROM (SELECT * FROM registry.card AS above
                WHERE above.agent_id = card.agent_id
                  AND (above.precedence, above.version) > (card.precedence, card.version)
                  AND (right(above.precedence, 1) <> '!' OR right(card.precedence, 1) = '!')
                ORDER BY above.precedence DESC, above.version DESC LIMIT 50) AS higher
         JOIN registry.release ON release.agent_id = higher.agent_id AND release.version = higher.version
        WHERE higher.status = 'published' AND release.state = 'published'
        ORDER BY higher.precedence DESC, higher.version DESC LIMIT 1) AS newer ON true
