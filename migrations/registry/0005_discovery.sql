-- One inverted index serves both filters that look inside a Card, together or alone: asked for both, it intersects them
-- itself, so that no gram is ever compared row by row.

DROP INDEX registry.card_by_skill, registry.card_by_gram;
CREATE INDEX card_by_term ON registry.card USING gin (skill_ids, grams) WHERE status = 'published';
