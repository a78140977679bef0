"""Agent Cards: each version is registered once, then published and disabled. Its bytes never change."""

from datetime import datetime

import msgspec

from aop.base.clock import Clock, from_text
from aop.base.ids import new_random_id
from aop.base.semver import Version
from aop.cards.reading import ReadCard
from aop.contracts.card import AgentCard
from aop.contracts.catalog import AgentOverview, CatalogEntry, PublicationStatus
from aop.contracts.errors import Conflict, Forbidden, NotFound, Reason
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.registry.entries import catalog_entry, public_url
from aop.control_plane.registry.index_keys import folded, precedence_text
from aop.control_plane.registry.lifecycle import DISABLE_CARD, PUBLISH_CARD
from aop.control_plane.registry.names import record_published, resemblances
from aop.control_plane.registry.store import bindings, cards, releases, words
from aop.control_plane.registry.store.cards import CardRow, NewCard
from aop.control_plane.registry.words import words_of_card
from aop.store.database import Connection, Database
from aop.store.rows import PageSize, RowPage

_Position = tuple[datetime, str, str]


class Cards:
    def __init__(self, database: Database, clock: Clock, public_origin: str) -> None:
        self._database = database
        self._clock = clock
        self._public_origin = public_origin

    async def register(self, caller: str, read: ReadCard) -> CatalogEntry:
        card = read.card
        if card.owner.id != caller:
            raise Forbidden("the Card names another owner", reason=Reason.NOT_OWNER)
        now, public_agent_id = self._clock(), new_random_id("agt")
        new = _new_card(read, now)
        async with self._database.connection() as connection:
            public_id = await cards.register(connection, new, public_agent_id)
            public_id = public_id or await cards.register(connection, new, public_agent_id)
            if public_id is None:
                if await cards.exists(connection, card.agent_id, card.version):
                    raise Conflict("the version exists", reason=Reason.ALREADY_EXISTS)
                raise Forbidden("the Agent belongs to another principal", reason=Reason.NOT_OWNER)
        draft = PublicationStatus.DRAFT
        row = CardRow(card.agent_id, card.version, read.document, read.digest, card.owner.id, draft, now, public_id)
        return catalog_entry(row, self._public_origin)

    async def publish(self, caller: str, agent_id: str, version: str) -> CatalogEntry:
        async with self._database.transaction() as connection:
            status = await _lock_own(connection, caller, agent_id, version)
            if status not in PUBLISH_CARD.sources:
                raise Conflict(f"the version is {status}", reason=Reason.CARD_STATE)
            row = await publish_version(connection, agent_id, version, self._clock())
        return catalog_entry(row, self._public_origin)

    async def disable(self, caller: str, agent_id: str, version: str) -> CatalogEntry:
        """Disables for ever. A second call changes nothing."""
        async with self._database.transaction() as connection:
            status = await _lock_own(connection, caller, agent_id, version)
            if status in DISABLE_CARD.sources:
                await cards.set_disabled(connection, agent_id, version, self._clock())
                # Its Release is locked before its words, as in a suspension or revocation.
                release_id = await releases.lock_of_version(connection, agent_id, version)
                await words.remove(connection, agent_id, version)
                if release_id is not None:
                    await releases.record_change(connection, release_id)
            return catalog_entry(await cards.read(connection, agent_id, version), self._public_origin)

    async def read(self, caller: str, agent_id: str, version: str) -> CardRow:
        async with self._database.connection() as connection:
            row = await cards.find(connection, agent_id, version)
            if row is None:
                raise await unknown_version(connection, agent_id)
        if row.status is not PublicationStatus.PUBLISHED and row.owner_id != caller:
            raise Forbidden(f"the version is {row.status}", reason=Reason.NOT_OWNER)
        return row

    async def overview(
        self, caller: str, agent_id: str, after: TimePosition | None, size: PageSize
    ) -> tuple[AgentOverview, _Position | None]:
        """Returns the Agent with a page of those of its versions that the caller may see, newest registration
        first, and where the next page begins."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            public_agent_id = await cards.public_id_of(connection, agent_id)
            if public_agent_id is None:
                raise NotFound("no such Agent", reason=Reason.AGENT_UNKNOWN)
            page = await cards.versions_of(connection, agent_id, caller, after, size)
            if not page.rows and not await cards.any_visible(connection, agent_id, caller):
                raise Forbidden("no version is visible", reason=Reason.NOT_OWNER)
            resembled = await resemblances(connection, [agent_id])
        entries = self._entries(page)
        overview = AgentOverview(
            agent_id=agent_id,
            public_agent_id=public_agent_id,
            public_url=public_url(self._public_origin, public_agent_id),
            versions=tuple(entries.items),
            resembles=resembled.get(agent_id, msgspec.UNSET),
        )
        return overview, entries.last

    async def of_provider(
        self, caller: str, provider_id: str, after: _Position | None, size: PageSize
    ) -> ListPage[CatalogEntry, _Position]:
        """Returns the caller's Cards whose Agent belongs to this provider or to none yet, newest registration first."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            if await bindings.provider_owner(connection, provider_id) not in {None, caller}:
                raise Forbidden("the provider belongs to another principal", reason=Reason.NOT_OWNER)
            page = await cards.versions_of_owner(connection, caller, provider_id, after, size)
        return self._entries(page)

    def _entries(self, page: RowPage[CardRow]) -> ListPage[CatalogEntry, _Position]:
        entries = [catalog_entry(row, self._public_origin) for row in page.rows]
        return ListPage.of(entries, _position, is_last=page.is_last)


def _position(entry: CatalogEntry) -> _Position:
    return from_text(entry.registered_at), entry.agent_id, entry.version


async def publish_version(connection: Connection, agent_id: str, version: str, now: datetime) -> CardRow:
    """Writes its state, the names of its Agent, and its words, in the transaction that has locked the version."""
    await cards.set_published(connection, agent_id, version, now)
    row = await cards.read(connection, agent_id, version)
    card = msgspec.json.decode(row.document, type=AgentCard)
    await record_published(connection, row, card.name, now)
    await words.record(connection, agent_id, version, words_of_card(card))
    return row


async def _lock_own(connection: Connection, caller: str, agent_id: str, version: str) -> PublicationStatus:
    row = await cards.lock(connection, agent_id, version)
    if row is None:
        raise await unknown_version(connection, agent_id)
    if row.owner_id != caller:
        raise Forbidden("the Card belongs to another principal", reason=Reason.NOT_OWNER)
    return row.status


async def unknown_version(connection: Connection, agent_id: str) -> NotFound:
    """Says which of the two does not exist: the Agent, or only this version of it."""
    if await cards.public_id_of(connection, agent_id) is None:
        return NotFound("no such Agent", reason=Reason.AGENT_UNKNOWN)
    return NotFound("no such version", reason=Reason.VERSION_UNKNOWN)


def _new_card(read: ReadCard, now: datetime) -> NewCard:
    card = read.card
    return NewCard(
        card.agent_id,
        card.version,
        read.document,
        read.digest,
        card.owner.id,
        precedence_text(Version.parse(card.version)),
        folded(card.name),
        folded(card.description),
        [skill.id for skill in card.skills],
        now,
    )
