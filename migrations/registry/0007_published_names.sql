-- Names that Agents were published under, by their skeleton, in which characters that look alike are one: who used a prefix,
-- a name or an id first. An id counts as a name.

CREATE TABLE registry.published_name (
    part     text COLLATE "C" NOT NULL CONSTRAINT published_name_part CHECK (part IN ('prefix', 'name')),
    skeleton text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL CONSTRAINT published_name_of_agent REFERENCES registry.agent,
    owner_id text COLLATE "C" NOT NULL,
    text     text COLLATE "C" NOT NULL,
    first_at timestamptz NOT NULL,
    CONSTRAINT published_name_key PRIMARY KEY (part, skeleton, agent_id)
);
CREATE INDEX published_name_first ON registry.published_name (part, skeleton, first_at, agent_id);
CREATE INDEX published_name_by_agent ON registry.published_name (agent_id, first_at DESC);

CREATE TRIGGER published_name_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.published_name
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse();
ALTER TABLE registry.published_name ENABLE ALWAYS TRIGGER published_name_kept;
GRANT SELECT, INSERT ON registry.published_name TO aop_control_plane;

-- Those published so far, nearly as later ones: hidden characters stay, and capitals follow the locale of the store.
CREATE FUNCTION registry.first_skeleton(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(replace(replace(translate(lower(translate(normalize($1, NFKC), looks, like_these)), looks, like_these),
        'rn', 'm'), 'vv', 'w'), 256)
    FROM (VALUES (
        'ɑαΑаАᎪΒвВьЬᏴϲϹсСᏟԁԀᎠεΕеЕҽᎬɡԌցᏀΗнНһҺհᎻјЈյᎫκΚкКᏦ1i|Iıɩǀ∣ιΙіІӏӀᏞΜмМᎷηΝոп0οΟоОօՕσρΡрРᏢԛԚզгᎡѕЅՏᏚτΤтТᎢυսμνѵѴᏙωԝԜᎳχΧхХγΥуУүҮΖᏃ _.‐‑‒–—−·ǃː꞉։׃',
        'aaaaaabbbbbbcccccdddeeeeeegggghhhhhhhjjjjkkkkklllllllllllllllmmmmnnnnoooooooopppppqqqrrsssstttttuuuvvvvwwwwxxxxyyyyyyzz----------!::::')) AS alike (looks, like_these)
$$;

INSERT INTO registry.published_name (part, skeleton, agent_id, owner_id, text, first_at)
SELECT DISTINCT ON (part, registry.first_skeleton(text), agent_id)
    part, registry.first_skeleton(text), agent_id, owner_id, text, published_at
FROM (
    SELECT agent_id, owner_id, published_at, 'name' AS part, convert_from(document, 'UTF8')::json ->> 'name' AS text
    FROM registry.card WHERE published_at IS NOT NULL
    UNION ALL
    SELECT agent_id, owner_id, published_at, 'name', agent_id FROM registry.card WHERE published_at IS NOT NULL
    UNION ALL
    SELECT agent_id, owner_id, published_at, 'prefix', split_part(agent_id, ':', 1)
    FROM registry.card WHERE published_at IS NOT NULL AND agent_id LIKE '%_:%'
) AS published
WHERE registry.first_skeleton(text) <> ''
ORDER BY part, registry.first_skeleton(text), agent_id, published_at;

DROP FUNCTION registry.first_skeleton(text);
