"""SQL that finds stored words: those that start like a word of a query, and those that share pieces with one.

Each reads a number of rows that depends on the query alone, however many words are stored, and by which owners.
Where that leaves words out, the first published ones stay: no later publication hides them.
"""

from collections.abc import Sequence
from typing import Final

from aop.control_plane.discovery.spelling import forgiven, pieces
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import Row, to_rows

_QUERIES: Final = queries_beside(__file__)

_STARTS_READ, _STARTS_KEPT = 10_000, 1_000
_PIECES_READ, _TRIED = 100_000, 400
"""For all words of a query together. One pair of words is compared in some microseconds."""
_MAX_OF_ONE_GRAM = 1_000


class NearWord(Row, frozen=True):
    term: int
    word_id: int
    word: str


async def near(connection: Connection, words: Sequence[str]) -> Sequence[NearWord]:
    """The words themselves, and those that start with one."""
    read, kept = _STARTS_READ // len(words), _STARTS_KEPT // len(words)
    return to_rows(NearWord, await connection.fetch(_QUERIES["near"], words, read, kept))


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
    return to_rows(
        NearWord, await connection.fetch(_QUERIES["alike"], *map(list, zip(*asked, strict=True)), most, tried)
    )


async def exact(connection: Connection, words: Sequence[str]) -> Sequence[int]:
    records = await connection.fetch("SELECT word_id FROM registry.word WHERE word = ANY($1)", words)
    return [record["word_id"] for record in records]
