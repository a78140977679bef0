-- name: near
-- Stored words that are or start with a word of $1, with the number of that word: of each the first $2 are read, and $3
-- of these stay. The first published ones have the lowest ids.
SELECT place - 1, word_id, word FROM unnest($1::text[]) WITH ORDINALITY AS term (text, place)
 CROSS JOIN LATERAL (
       SELECT word_id, word
         FROM (SELECT word_id, word FROM registry.word
                WHERE word >= text COLLATE "C" AND word < (text || U&'\+10FFFF') COLLATE "C"
                ORDER BY word LIMIT $2) AS read
        ORDER BY word <> text, word_id LIMIT $3) AS nearest

-- name: alike
-- Stored words that share enough grams with a word of a query: of the terms $1 the grams $2, for words of $3 letters,
-- of which $4 are to be shared. Of each gram and length at most $5 words are read, and of each term at most $6 stay.
SELECT term, word_id, word
  FROM (SELECT *, row_number() OVER (PARTITION BY term ORDER BY shared DESC, word_id) AS rank
          FROM (SELECT term, needed, word_id, count(*) AS shared
                  FROM unnest($1::integer[], $2::text[], $3::smallint[], $4::integer[])
                       AS piece (term, gram, letters, needed)
                 CROSS JOIN LATERAL (SELECT word_id FROM registry.word_gram
                                      WHERE word_gram.gram = piece.gram COLLATE "C" AND length = letters
                                      ORDER BY word_id LIMIT $5) AS having_it
                 GROUP BY term, needed, word_id) AS counted
         WHERE shared >= needed) AS ranked
  JOIN registry.word USING (word_id) WHERE rank <= $6
