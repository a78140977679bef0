-- name: record
-- Puts the words $3 of the version $2 of the Agent $1 into the index, each with its places $4; grams only of words that
-- have up to $6 letters and do not begin with $5. One statement, because the lock of the counter is held meanwhile.
-- Under it no other transaction adds a word, so ids follow the order of publications. Of a version that is indexed
-- already only the number changes.
WITH indexed AS (
    INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)
    SELECT agent_id, version, published_at, publication FROM registry.card WHERE (agent_id, version) = ($1, $2)
        ON CONFLICT (agent_id, version) DO UPDATE SET publication = EXCLUDED.publication
    RETURNING version_id, (xmax = 0) AS is_new),
used AS MATERIALIZED (
    SELECT text COLLATE "C" AS word, places::smallint, version_id
      FROM unnest($3::text[], $4::text[]) AS each (text, places), indexed WHERE is_new),
fresh AS (
    INSERT INTO registry.word (word)
    SELECT word FROM used WHERE NOT EXISTS (SELECT FROM registry.word WHERE word.word = used.word)
    RETURNING word_id, word),
grams AS (
    INSERT INTO registry.word_gram (gram, length, word_id)
    SELECT DISTINCT substr('  ' || word || '  ', start, 3), length(word), word_id
      FROM fresh, generate_series(1, length(word) + 2) AS start
     WHERE length(word) BETWEEN 3 AND $6::integer AND left(word, 1) <> $5)
INSERT INTO registry.word_use (version_id, word_id, places)
SELECT version_id, stored.word_id, places FROM used
  JOIN (SELECT word_id, word FROM fresh UNION ALL
        SELECT word_id, word FROM registry.word WHERE word = ANY($3::text[])) AS stored USING (word)
