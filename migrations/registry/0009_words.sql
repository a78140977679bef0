-- The words under which published versions are found, derived from their Cards in the transaction of the publication.
-- `places` has one bit for each place of a Card; see aop.control_plane.registry.words.

CREATE TABLE registry.indexed_version (
    version_id   integer GENERATED ALWAYS AS IDENTITY CONSTRAINT indexed_version_key PRIMARY KEY,
    agent_id     text COLLATE "C" NOT NULL,
    version      text COLLATE "C" NOT NULL,
    published_at timestamptz NOT NULL,
    publication  bigint NOT NULL
);
CREATE TABLE registry.word (
    word_id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT word_key PRIMARY KEY,
    word    text COLLATE "C" NOT NULL
);
CREATE TABLE registry.word_gram (
    gram    text COLLATE "C" NOT NULL,
    length  smallint NOT NULL,
    word_id integer NOT NULL
);
CREATE TABLE registry.word_use (
    version_id integer NOT NULL,
    word_id    integer NOT NULL,
    places     smallint NOT NULL
);

COMMENT ON TABLE registry.word_gram IS 'pieces of three characters of each word, with two spaces before and behind it';

-- Those published so far, nearly as later ones: capitals of Skill and owner names follow the locale of the store, and all
-- characters outside ASCII count as letters, but for the usual marks of punctuation.
CREATE FUNCTION registry.first_words(text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(word, 64) FROM regexp_split_to_table(
        regexp_replace(lower(normalize($1, NFKC)), '([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])', ' \1 ', 'g'),
        '[^0-9a-z\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc-\u00be\u00c0-\u1fff\u2070-\u20cf\u2c00-\u2dff\u3005-\u3007\u3021-\ud7ff\uf900-\uffef\U00010000-\U0010fffd]+'
    ) AS word WHERE word <> ''
$$;

INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)
SELECT agent_id, version, published_at, publication FROM registry.eligible_version ORDER BY publication;

CREATE UNLOGGED TABLE registry.first_use AS
SELECT version_id, used.word COLLATE "C" AS word, used.places
FROM registry.indexed_version JOIN registry.card USING (agent_id, version)
CROSS JOIN LATERAL (
    WITH shown AS (
        SELECT skill FROM json_array_elements(convert_from(document, 'UTF8')::json -> 'skills')
            WITH ORDINALITY AS listed (skill, number) WHERE number <= 200)
    SELECT word, bit_or(place)::smallint AS places
    FROM (
        SELECT 64 AS place, '=' || lower(agent_id) AS word
        UNION ALL SELECT 16, '=' || lower(owner_id)
        UNION ALL SELECT 8, registry.first_words(agent_id)
        UNION ALL SELECT 8, registry.first_words(folded_name)
        UNION ALL SELECT 2, registry.first_words(owner_id)
        UNION ALL SELECT 2, registry.first_words(convert_from(document, 'UTF8')::json -> 'owner' ->> 'displayName')
        UNION ALL SELECT 32, '=' || lower(skill ->> 'id') FROM shown
        UNION ALL SELECT 4, registry.first_words(skill ->> 'id') FROM shown
        UNION ALL SELECT 4, registry.first_words(skill ->> 'name') FROM shown
        UNION ALL SELECT 1, registry.first_words(folded_text)
    ) AS found
    GROUP BY word ORDER BY max(place) DESC, word LIMIT 1000
) AS used;

INSERT INTO registry.word (word)
SELECT word FROM registry.first_use GROUP BY word ORDER BY min(version_id), word;
INSERT INTO registry.word_gram (gram, length, word_id)
SELECT DISTINCT substr('  ' || word || '  ', start, 3), length(word), word_id
FROM registry.word, generate_series(1, length(word) + 2) AS start
WHERE length(word) BETWEEN 3 AND 32 AND left(word, 1) <> '=';
INSERT INTO registry.word_use (version_id, word_id, places)
SELECT version_id, word_id, places FROM registry.first_use JOIN registry.word USING (word);

DROP TABLE registry.first_use;
DROP FUNCTION registry.first_words(text);

ALTER TABLE registry.indexed_version
    ADD CONSTRAINT indexed_version_once UNIQUE (agent_id, version),
    ADD CONSTRAINT indexed_version_of_card FOREIGN KEY (agent_id, version) REFERENCES registry.card;
ALTER TABLE registry.word ADD CONSTRAINT word_once UNIQUE (word);
-- No foreign keys to words, which are never deleted: a publication would check each of its rows.
ALTER TABLE registry.word_gram ADD CONSTRAINT word_gram_key PRIMARY KEY (gram, length, word_id);
ALTER TABLE registry.word_use
    ADD CONSTRAINT word_use_key PRIMARY KEY (version_id, word_id) INCLUDE (places),
    ADD CONSTRAINT word_use_of_version FOREIGN KEY (version_id) REFERENCES registry.indexed_version ON DELETE CASCADE,
    ADD CONSTRAINT word_use_places CHECK (places BETWEEN 1 AND 127);
-- In the order in which a search reads the uses of a word: the most telling places first, then the newest versions.
CREATE INDEX word_use_by_word ON registry.word_use (word_id, places DESC, version_id DESC);

ANALYZE registry.indexed_version, registry.word, registry.word_gram, registry.word_use;

GRANT SELECT, INSERT, DELETE ON registry.indexed_version TO aop_control_plane;
GRANT UPDATE (publication) ON registry.indexed_version TO aop_control_plane;
GRANT SELECT, INSERT ON registry.word, registry.word_gram, registry.word_use TO aop_control_plane;
