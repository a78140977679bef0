"""Names that imitate other names: no name is refused, but the overview of the Agent says who used it first."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from aop.contracts.catalog import Resemblance, ResemblingPart
from aop.contracts.text import skeleton
from aop.control_plane.registry.store import cards
from aop.control_plane.registry.store.cards import CardRow
from aop.store.database import Connection


async def record_published(connection: Connection, card: CardRow, name: str, now: datetime) -> None:
    """Belongs into the transaction that publishes the version: a name that was never public has no imitators."""
    for part, text in _texts(card.agent_id, name):
        if alike := skeleton(text):
            await cards.record_name(connection, card, part, alike, text, now)


async def resemblances(connection: Connection, agent_ids: Collection[str]) -> Mapping[str, tuple[Resemblance, ...]]:
    """By Agent, all in one statement; an Agent that resembles nothing is absent."""
    uses = await cards.used_first_by_others(connection, sorted(set(agent_ids)))
    return {agent_id: tuple(use for _, use in group) for agent_id, group in groupby(uses, itemgetter(0))}


def _texts(agent_id: str, name: str) -> Iterator[tuple[ResemblingPart, str]]:
    yield ResemblingPart.NAME, name
    yield ResemblingPart.NAME, agent_id
    prefix, colon, _ = agent_id.partition(":")
    if colon:
        yield ResemblingPart.PREFIX, prefix
