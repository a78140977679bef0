"""SQL that finds stored words: those that start like a word of a query, and those that share pieces with one.

Each reads a number of rows that depends on the query alone, however many words are stored and whoever stored them.
Where that leaves words out, the first published ones stay: nobody hides them by publishing more.
"""

from collections.abc import Sequence

from aop.control_plane.discovery.spelling import forgiven, pieces
from aop.store.database import Connection
from aop.store.rows import Row, to_rows

_STARTS_READ, _STARTS_KEPT = 10_000, 1_000
_PIECES_READ, _TRIED = 100_000, 400
"""For all words of a query together. One pair of words is compared in some microseconds."""
_MAX_OF_ONE_GRAM = 1_000

_NEAR = (
    "SELECT place - 1, word_id, word FROM unnest($1::text[]) WITH ORDINALITY AS asked (text, place)"
    " CROSS JOIN LATERAL (SELECT word_id, word FROM (SELECT word_id, word FROM registry.word"
    '   WHERE word >= text COLLATE "C" AND word < (text || U&\'\\+10FFFF\') COLLATE "C" ORDER BY word LIMIT $2) AS read'
    "  ORDER BY word <> text, word_id LIMIT $3) AS kept"
)
_ALIKE = (
    "SELECT term, word_id, word FROM (SELECT *,"
    "  row_number() OVER (PARTITION BY term ORDER BY shared DESC, word_id) AS rank"
    "  FROM (SELECT term, needed, word_id, count(*) AS shared"
    "   FROM unnest($1::integer[], $2::text[], $3::smallint[], $4::integer[]) AS asked (term, piece, letters, needed)"
    "   CROSS JOIN LATERAL (SELECT word_id FROM registry.word_gram"
    '    WHERE gram = piece COLLATE "C" AND length = letters ORDER BY word_id LIMIT $5) AS having_it'
    "   GROUP BY term, needed, word_id) AS counted WHERE shared >= needed) AS ranked"
    " JOIN registry.word USING (word_id) WHERE rank <= $6"
)


class NearWord(Row, frozen=True):
    term: int
    word_id: int
    word: str


async def near(connection: Connection, words: Sequence[str]) -> Sequence[NearWord]:
    """The words themselves, and those that start with one."""
    read, kept = _STARTS_READ // len(words), _STARTS_KEPT // len(words)
    return to_rows(NearWord, await connection.fetch(_NEAR, words, read, kept))


async def alike(connection: Connection, words: Sequence[str]) -> Sequence[NearWord]:
    """Those that may be meant by a word with mistakes; whether they are is still to be seen."""
    asked = [
        (term, gram, length, shape.needed)
        for term, word in enumerate(words)
        if forgiven(word)
        for shape in (pieces(word),)
        for gram in shape.grams
        for length in shape.lengths
    ]
    if not asked:
        return ()
    most = min(_MAX_OF_ONE_GRAM, _PIECES_READ // len(asked))
    tried = _TRIED // len({term for term, *_ in asked})
    return to_rows(NearWord, await connection.fetch(_ALIKE, *map(list, zip(*asked, strict=True)), most, tried))


async def exact(connection: Connection, words: Sequence[str]) -> Sequence[int]:
    records = await connection.fetch("SELECT word_id FROM registry.word WHERE word = ANY($1)", words)
    return [record["word_id"] for record in records]
