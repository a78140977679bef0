"""The words of a large catalog, written by the store from those of each Agent: its versions have the same ones."""

from collections.abc import Iterable
from typing import Any

import msgspec

from aop.contracts.card import AgentCard
from aop.control_plane.registry.words import words_of_card

_WORDS = """
CREATE TEMPORARY TABLE first_use (agent_id text COLLATE "C", word text COLLATE "C", places smallint)
"""
_FILL = """
ALTER TABLE registry.word_use DROP CONSTRAINT word_use_key, DROP CONSTRAINT word_use_of_version;
DROP INDEX registry.word_use_by_word;
INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)
SELECT agent_id, version, published_at, publication FROM registry.card ORDER BY publication;
INSERT INTO registry.word (word) SELECT DISTINCT word FROM first_use;
INSERT INTO registry.word_gram (gram, length, word_id)
SELECT DISTINCT substr('  ' || word || '  ', start, 3), length(word), word_id
FROM registry.word, generate_series(1, length(word) + 2) AS start
WHERE length(word) BETWEEN 3 AND 32 AND left(word, 1) <> '=';
INSERT INTO registry.word_use (version_id, word_id, places)
SELECT version_id, word_id, places FROM first_use JOIN registry.word USING (word)
JOIN registry.indexed_version USING (agent_id);
ALTER TABLE registry.word_use ADD CONSTRAINT word_use_key PRIMARY KEY (version_id, word_id) INCLUDE (places);
CREATE INDEX word_use_by_word ON registry.word_use (word_id, places DESC, version_id DESC);
DROP TABLE first_use;
"""


async def fill_words(connection: Any, documents: Iterable[bytes]) -> None:
    await connection.execute(_WORDS)
    rows = [
        (card.agent_id, word, int(places))
        for card in (msgspec.json.decode(document, type=AgentCard) for document in documents)
        for word, places in words_of_card(card).items()
    ]
    await connection.copy_records_to_table("first_use", columns=["agent_id", "word", "places"], records=rows)
    await connection.execute(_FILL)
