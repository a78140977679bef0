"""Names that imitate others: nobody is refused one, and whoever looks at the Agent is told who was first."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from aop.contracts.catalog import Resemblance, ResemblingPart
from aop.contracts.text import skeleton
from aop.control_plane.registry.store import cards, names
from aop.store.database import Connection


class _Named(msgspec.Struct):
    name: str


async def record_published(connection: Connection, agent_id: str, version: str, now: datetime) -> None:
    """In the transaction that publishes the version: what was never public is imitated by nobody."""
    row = await cards.entry(connection, agent_id, version)
    name = msgspec.json.decode(row["document"], type=_Named).name
    found = [(part, skeleton(text), agent_id, row["owner_id"], text) for part, text in _texts(agent_id, name)]
    await names.record(connection, [values for values in found if values[1]], now)


async def resemblances(connection: Connection, agent_id: str) -> tuple[Resemblance, ...]:
    return tuple(
        Resemblance(
            part=ResemblingPart(row["part"]),
            text=row["text"],
            owner_id=row["owner_id"],
            agent_id=msgspec.UNSET if row["agent_id"] is None else row["agent_id"],
        )
        for row in await names.used_first_by_others(connection, agent_id)
    )


def _texts(agent_id: str, name: str) -> Iterator[tuple[ResemblingPart, str]]:
    yield ResemblingPart.NAME, name
    yield ResemblingPart.NAME, agent_id
    prefix, colon, _ = agent_id.partition(":")
    if colon:
        yield ResemblingPart.PREFIX, prefix
