"""SQL of the words under which published versions are found. The callers hold the lock of the publication counter."""

from collections.abc import Mapping

from aop.control_plane.registry.words import ID_MARK
from aop.store.database import Connection

_MAX_LETTERS_WITH_GRAMS = 32
"""Wrong letters in longer words are not looked for: grams of a word are rows."""

# Under the lock of the counter nobody else adds a word, so ids follow the order of publications.
_NEW_WORDS = (
    "WITH fresh AS (INSERT INTO registry.word (word) SELECT added FROM unnest($1::text[]) AS added"  # noqa: S608
    '  WHERE NOT EXISTS (SELECT FROM registry.word WHERE word = added COLLATE "C") RETURNING word_id, word)'
    " INSERT INTO registry.word_gram (gram, length, word_id)"
    " SELECT DISTINCT substr('  ' || word || '  ', start, 3), length(word), word_id"
    " FROM fresh, generate_series(1, length(word) + 2) AS start"
    f" WHERE length(word) BETWEEN 3 AND {_MAX_LETTERS_WITH_GRAMS} AND left(word, 1) <> '{ID_MARK}'"
)
_USES = (
    "INSERT INTO registry.word_use (version_id, word_id, places)"
    " SELECT $1, word_id, places FROM unnest($2::text[], $3::smallint[]) AS used (text, places)"
    ' JOIN registry.word ON word = text COLLATE "C"'
)


async def record(connection: Connection, agent_id: str, version: str, words: Mapping[str, int]) -> None:
    """Belongs into the transaction that publishes the version, behind its publication number."""
    known = await connection.fetchval(
        "UPDATE registry.indexed_version AS indexed SET publication = card.publication FROM registry.card"
        " WHERE (card.agent_id, card.version) = ($1, $2) AND (indexed.agent_id, indexed.version) = ($1, $2)"
        " RETURNING version_id",
        agent_id,
        version,
    )
    if known is not None:  # a Card never changes, nor do its words
        return
    version_id = await connection.fetchval(
        "INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)"
        " SELECT agent_id, version, published_at, publication FROM registry.card"
        " WHERE (agent_id, version) = ($1, $2) RETURNING version_id",
        agent_id,
        version,
    )
    await connection.execute(_NEW_WORDS, list(words))
    await connection.execute(_USES, version_id, list(words), list(map(int, words.values())))


async def remove(connection: Connection, agent_id: str, version: str) -> None:
    """A disabled version, or one whose Release is suspended or revoked, is never found again. Its words stay."""
    await connection.execute(
        "DELETE FROM registry.indexed_version WHERE (agent_id, version) = ($1, $2)", agent_id, version
    )
