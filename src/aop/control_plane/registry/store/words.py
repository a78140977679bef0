"""SQL of the words under which published versions are found. The callers hold the lock of the publication counter."""

from collections.abc import Mapping

from aop.control_plane.registry.words import ID_MARK
from aop.store.database import Connection

_MAX_LETTERS_WITH_GRAMS = 32
"""Wrong letters in longer words are not looked for: grams of a word are rows."""

# One statement, because the lock of the counter is held meanwhile. Under it nobody else adds a word, so ids follow the
# order of publications. Places are texts: of an array of numbers the driver asks the type first, on each connection.
_RECORD = (
    "WITH indexed AS ("  # noqa: S608
    "  INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)"
    "  SELECT agent_id, version, published_at, publication FROM registry.card WHERE (agent_id, version) = ($1, $2)"
    "  ON CONFLICT (agent_id, version) DO UPDATE SET publication = EXCLUDED.publication"
    "  RETURNING version_id, (xmax = 0) AS is_new),"
    " used AS MATERIALIZED ("
    '  SELECT text COLLATE "C" AS word, places::smallint, version_id'
    "  FROM unnest($3::text[], $4::text[]) AS each (text, places), indexed WHERE is_new),"
    " fresh AS ("
    "  INSERT INTO registry.word (word) SELECT word FROM used"
    "  WHERE NOT EXISTS (SELECT FROM registry.word WHERE word.word = used.word) RETURNING word_id, word),"
    " grams AS ("
    "  INSERT INTO registry.word_gram (gram, length, word_id)"
    "  SELECT DISTINCT substr('  ' || word || '  ', start, 3), length(word), word_id"
    "  FROM fresh, generate_series(1, length(word) + 2) AS start"
    f" WHERE length(word) BETWEEN 3 AND {_MAX_LETTERS_WITH_GRAMS} AND left(word, 1) <> '{ID_MARK}')"
    " INSERT INTO registry.word_use (version_id, word_id, places)"
    " SELECT version_id, known.word_id, places FROM used JOIN ("
    "  SELECT word_id, word FROM fresh UNION ALL SELECT word_id, word FROM registry.word WHERE word = ANY($3::text[])"
    " ) AS known USING (word)"
)


async def record(connection: Connection, agent_id: str, version: str, words: Mapping[str, int]) -> None:
    """Belongs into the transaction that publishes the version, behind its publication number.

    Of a version that is indexed already only the number changes: a Card never changes, nor do its words.
    """
    places = [str(int(each)) for each in words.values()]
    await connection.execute(_RECORD, agent_id, version, list(words), places)


async def remove(connection: Connection, agent_id: str, version: str) -> None:
    """A disabled version, or one whose Release is suspended or revoked, is never found again. Its words stay."""
    await connection.execute(
        "DELETE FROM registry.indexed_version WHERE (agent_id, version) = ($1, $2)", agent_id, version
    )
