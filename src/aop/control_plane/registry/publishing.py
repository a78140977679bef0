"""What publishing a version writes besides its state: the names it is known by, and the words it is found under."""

from datetime import datetime

import msgspec

from aop.contracts.card import AgentCard
from aop.control_plane.registry.names import record_published
from aop.control_plane.registry.store import cards, words
from aop.control_plane.registry.store.cards import CardRow
from aop.control_plane.registry.words import words_of_card
from aop.store.database import Connection

_read = msgspec.json.Decoder(AgentCard).decode


async def publish_version(connection: Connection, agent_id: str, version: str, now: datetime) -> CardRow:
    """All in the caller's transaction, which holds the lock of the version."""
    await cards.set_published(connection, agent_id, version, now)
    row = await cards.read(connection, agent_id, version)
    await record_published(connection, row, now)
    await words.record(connection, agent_id, version, words_of_card(_read(row.document)))
    return row
