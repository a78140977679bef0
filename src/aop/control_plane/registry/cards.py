"""Agent Cards: registered once, published, disabled; their bytes never change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aop.base.clock import Clock
from aop.base.ids import new_random_id
from aop.base.semver import Version
from aop.cards.reading import ReadCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus, Resemblance
from aop.contracts.errors import Conflict, Forbidden, NotFound
from aop.control_plane.registry.entries import catalog_entry, draft_entry
from aop.control_plane.registry.lifecycle import DISABLE_CARD, PUBLISH_CARD
from aop.control_plane.registry.names import record_published, resemblances
from aop.control_plane.registry.search_text import folded, grams
from aop.control_plane.registry.store import bindings, cards, releases
from aop.control_plane.registry.version_order import precedence_text
from aop.store.database import Connection, Database


@dataclass(frozen=True)
class StoredCard:
    """The exact bytes of a Card version and the state it is in."""

    document: bytes
    digest: str
    status: PublicationStatus


@dataclass(frozen=True)
class EntryPage:
    """Some Catalog Entries, and where the next page begins when there is one."""

    entries: Sequence[CatalogEntry]
    last: tuple[datetime, str, str] | None


@dataclass(frozen=True)
class AgentFacts:
    """What is said of an Agent besides its versions."""

    public_agent_id: str
    resembles: Sequence[Resemblance]


@dataclass(frozen=True)
class Slice:
    """How much of a list is wanted: at most so many items, and no further one once they pass so many bytes."""

    limit: int
    most_bytes: int


class Cards:
    def __init__(self, database: Database, clock: Clock, public_origin: str) -> None:
        self._database = database
        self._clock = clock
        self._public_origin = public_origin

    async def register(self, caller: str, read: ReadCard) -> CatalogEntry:
        card = read.card
        if card.owner.id != caller:
            raise Forbidden("the Card names another owner")
        now, public_agent_id = self._clock(), new_random_id("agt")
        values = _values(read, now)
        async with self._database.connection() as connection:
            known = await cards.register(connection, values, public_agent_id)
            known = known or await cards.register(connection, values, public_agent_id)
            if known is None:
                if await cards.exists(connection, card.agent_id, card.version):
                    raise Conflict("the version exists")
                raise Forbidden("the Agent belongs to another principal")
        return draft_entry(read, now, known, self._public_origin)

    async def publish(self, caller: str, agent_id: str, version: str) -> CatalogEntry:
        async with self._database.transaction() as connection:
            status = await _lock_own(connection, caller, agent_id, version)
            if status not in PUBLISH_CARD.sources:
                raise Conflict(f"the version is {status}")
            now = self._clock()
            await cards.set_published(connection, agent_id, version, now)
            await record_published(connection, agent_id, version, now)
            return await self._entry(connection, agent_id, version)

    async def disable(self, caller: str, agent_id: str, version: str) -> CatalogEntry:
        """Final; repeating it changes nothing."""
        async with self._database.transaction() as connection:
            status = await _lock_own(connection, caller, agent_id, version)
            if status in DISABLE_CARD.sources:
                await cards.set_disabled(connection, agent_id, version, self._clock())
                release = await releases.lock_of_version(connection, agent_id, version)
                if release is not None:
                    await releases.record_change(connection, release["release_id"])
            return await self._entry(connection, agent_id, version)

    async def read(self, caller: str, agent_id: str, version: str) -> StoredCard:
        async with self._database.connection() as connection:
            row = await cards.entry(connection, agent_id, version)
        if row is None:
            raise NotFound("no such version")
        status = PublicationStatus(row["status"])
        if status is not PublicationStatus.PUBLISHED and row["owner_id"] != caller:
            raise Forbidden(f"the version is {status}")
        return StoredCard(row["document"], row["digest"], status)

    async def overview(
        self, caller: str, agent_id: str, after: tuple[datetime, str] | None, part: Slice
    ) -> tuple[AgentFacts, EntryPage]:
        """The Agent and the versions of it that the caller may see, newest registration first."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            agent = await cards.agent(connection, agent_id)
            if agent is None:
                raise NotFound("no such Agent")
            size = (part.limit + 1, part.most_bytes)
            rows = await cards.versions_of(connection, agent_id, caller, after, size)
            if not rows and not await cards.any_visible(connection, agent_id, caller):
                raise Forbidden("no version is visible")
            facts = AgentFacts(agent["public_agent_id"], await resemblances(connection, agent_id))
        return facts, self._page(rows, part.limit)

    async def of_provider(
        self, caller: str, provider_id: str, after: tuple[datetime, str, str] | None, part: Slice
    ) -> EntryPage:
        """The caller's own Cards whose Agent belongs to this provider or to none yet, newest registration first."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            if await bindings.provider_owner(connection, provider_id) not in {None, caller}:
                raise Forbidden("the provider belongs to another principal")
            size = (part.limit + 1, part.most_bytes)
            rows = await cards.versions_of_owner(connection, caller, provider_id, after, size)
        return self._page(rows, part.limit)

    def _page(self, rows: Sequence[cards.Row], limit: int) -> EntryPage:
        shown = rows[:limit]
        more = bool(shown) and shown[0]["found"] > len(shown)
        last = (shown[-1]["registered_at"], shown[-1]["agent_id"], shown[-1]["version"]) if more else None
        return EntryPage([catalog_entry(row, self._public_origin) for row in shown], last)

    async def _entry(self, connection: Connection, agent_id: str, version: str) -> CatalogEntry:
        return catalog_entry(await cards.entry(connection, agent_id, version), self._public_origin)


async def _lock_own(connection: Connection, caller: str, agent_id: str, version: str) -> PublicationStatus:
    row = await cards.lock(connection, agent_id, version)
    if row is None:
        raise NotFound("no such version")
    if row["owner_id"] != caller:
        raise Forbidden("the Card belongs to another principal")
    return PublicationStatus(row["status"])


def _values(read: ReadCard, now: datetime) -> Sequence[object]:
    card = read.card
    name, description = folded(card.name), folded(card.description)
    return (
        card.agent_id,
        card.version,
        read.document,
        read.digest,
        card.owner.id,
        precedence_text(Version.parse(card.version)),
        name,
        description,
        # As text: the driver takes longer over a thousand numbers than the store over reading them.
        f"{{{str(grams(name, description))[1:-1]}}}",
        [skill.id for skill in card.skills],
        now,
    )
