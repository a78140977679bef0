"""SQL of the index of words of published versions. The callers hold the lock of the publication counter."""

from collections.abc import Mapping
from typing import Final

from aop.control_plane.registry.words import ID_MARK
from aop.store.database import Connection
from aop.store.queries import queries_beside

_QUERIES: Final = queries_beside(__file__)

_MAX_LETTERS_WITH_GRAMS = 32
"""Wrong letters in longer words are not looked for: grams of a word are rows."""


async def record(connection: Connection, agent_id: str, version: str, words: Mapping[str, int]) -> None:
    """Belongs into the transaction that publishes the version, after its publication number.

    Of a version that is indexed already only the number changes: a Card never changes, nor do its words.
    """
    # Texts: of an array of numbers the driver asks the type first, on each connection, while the lock is held.
    places = [str(int(each)) for each in words.values()]
    values = (agent_id, version, list(words), places, ID_MARK, _MAX_LETTERS_WITH_GRAMS)
    await connection.execute(_QUERIES["record"], *values)


async def remove(connection: Connection, agent_id: str, version: str) -> None:
    """A disabled version, or one whose Release is suspended or revoked, is never listed again. Its words stay."""
    await connection.execute(
        "DELETE FROM registry.indexed_version WHERE (agent_id, version) = ($1, $2)", agent_id, version
    )
