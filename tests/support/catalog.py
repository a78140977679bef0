"""A catalog to look at: Cards and Releases put into any state through the Registry itself, each act a second apart."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from aop.cards.reading import read_card
from aop.contracts.catalog import CatalogEntry
from aop.contracts.publication import BindingRequest, Release, ReleaseRequest, ReleaseState, VerificationMethod
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.cards import Cards
from aop.control_plane.registry.releases import Releases
from aop.control_plane.registry.store import bindings as binding_store
from aop.local.state import DatabaseUrls
from aop.store.database import Database
from tests.support.cards import Card
from tests.support.postgres import opened_database

START = datetime(2030, 1, 1, tzinfo=UTC)
_PROOF = "a" * 64


def provider_of(owner: str) -> str:
    return f"provider-of-{owner}"


class Catalog:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.now = START
        self.step = timedelta(seconds=1)
        self._cards = Cards(database, self._clock, "http://127.0.0.1:8082")
        self._bindings, self._releases = Bindings(database, self._clock), Releases(database, self._clock)

    async def register(self, card: Card) -> CatalogEntry:
        raw = json.dumps(card).encode()
        return await self._cards.register(card["owner"]["id"], read_card(raw, json.loads(raw)))

    async def publish(self, *cards: Card) -> CatalogEntry:
        """Registers and publishes each; the entry of the last."""
        for card in cards:
            await self.register(card)
            entry = await self._cards.publish(card["owner"]["id"], card["agentId"], card["version"])
        return entry

    async def disable(self, card: Card) -> None:
        await self._cards.disable(card["owner"]["id"], card["agentId"], card["version"])

    async def release(
        self, card: Card, state: ReleaseState = ReleaseState.PUBLISHED, provider: str | None = None
    ) -> Release:
        """Of a registered Card; its Binding is taken as proved unless the Release is to stay pending."""
        owner, agent_id, version = card["owner"]["id"], card["agentId"], card["version"]
        provider = provider or provider_of(owner)
        endpoint = card["protocol"]["endpoint"]
        asked = BindingRequest(endpoint=endpoint, method=VerificationMethod.HTTP_WELL_KNOWN, version=version)
        binding = await self._bindings.create(owner, provider, agent_id, asked)
        if state is not ReleaseState.PENDING_VERIFICATION:
            async with self.database.transaction() as connection:
                await binding_store.set_verified(connection, binding.binding_id, _PROOF, self._clock())
        wanted = ReleaseRequest(version=version, endpoint_binding_id=binding.binding_id)
        release = await self._releases.create(owner, provider, agent_id, wanted)
        return await self.move(owner, release, state)

    async def move(self, owner: str, release: Release, state: ReleaseState) -> Release:
        """On to that state, published on the way where that is possible."""
        if release.state is ReleaseState.VERIFIED and state is not ReleaseState.VERIFIED:
            release = await self._releases.publish(owner, release.release_id)
        if state is ReleaseState.SUSPENDED:
            return await self._releases.suspend(owner, release.release_id)
        if state is ReleaseState.REVOKED:
            return await self._releases.revoke(owner, release.release_id)
        return release

    def _clock(self) -> datetime:
        self.now += self.step
        return self.now


@asynccontextmanager
async def opened_catalog(stores: DatabaseUrls) -> AsyncIterator[Catalog]:
    async with opened_database(stores.control_plane, size=2) as database:
        yield Catalog(database)


def member_names(value: object) -> set[str]:
    """Every member name inside a value, at all depths."""
    if isinstance(value, dict):
        return set(value).union(*map(member_names, value.values()))
    if isinstance(value, list):
        return set[str]().union(*map(member_names, value))
    return set()
