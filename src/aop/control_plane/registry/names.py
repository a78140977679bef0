"""Names that imitate other names: no name is refused, but the overview of the Agent says who used it first."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

import msgspec

from aop.contracts.catalog import Resemblance, ResemblingPart
from aop.contracts.text import skeleton
from aop.contracts.wire import or_unset
from aop.control_plane.registry.store import cards
from aop.control_plane.registry.store.cards import CardRow, EarlierUse, PublishedName
from aop.store.database import Connection


class _Named(msgspec.Struct):
    name: str


async def record_published(connection: Connection, card: CardRow, now: datetime) -> None:
    """Belongs into the transaction that publishes the version: nobody imitates what was never public."""
    name = msgspec.json.decode(card.document, type=_Named).name
    names = [
        PublishedName(part, skeleton(text), card.agent_id, card.owner_id, text)
        for part, text in _texts(card.agent_id, name)
    ]
    await cards.record_names(connection, [name for name in names if name.skeleton], now)


async def resemblances(connection: Connection, agent_ids: Collection[str]) -> Mapping[str, tuple[Resemblance, ...]]:
    """By Agent, all in one statement; an Agent that resembles nothing is absent."""
    found: dict[str, tuple[Resemblance, ...]] = {}
    for use in await cards.used_first_by_others(connection, sorted(set(agent_ids))):
        found[use.named] = (*found.get(use.named, ()), _resemblance(use))
    return found


def _resemblance(use: EarlierUse) -> Resemblance:
    return Resemblance(
        part=use.part,
        text=use.text,
        owner_id=use.owner_id,
        agent_id=or_unset(use.agent_id),
    )


def _texts(agent_id: str, name: str) -> Iterator[tuple[ResemblingPart, str]]:
    yield ResemblingPart.NAME, name
    yield ResemblingPart.NAME, agent_id
    prefix, colon, _ = agent_id.partition(":")
    if colon:
        yield ResemblingPart.PREFIX, prefix
