"""Releases: at most one for each Card version. Its facts never change; its state moves forward only."""

from collections.abc import Sequence
from datetime import datetime

from aop.base.clock import Clock
from aop.base.ids import new_id
from aop.contracts.catalog import PublicationStatus
from aop.contracts.errors import Conflict, Forbidden, InvalidRequest, NotFound, Reason, Violation
from aop.contracts.publication import Release, ReleaseRequest, ReleaseState, SuspendedBy, VerificationStatus
from aop.control_plane.registry.bindings import own_binding, require_own_provider
from aop.control_plane.registry.cards import unknown_version
from aop.control_plane.registry.entries import release
from aop.control_plane.registry.lifecycle import (
    CREATED_RELEASE,
    PUBLISH_RELEASE,
    REVOKE_RELEASE,
    SUSPEND_RELEASE,
    VERIFY_RELEASE,
    Transition,
)
from aop.control_plane.registry.publishing import publish_version
from aop.control_plane.registry.store import bindings, cards, releases, words
from aop.control_plane.registry.store.bindings import BindingRow
from aop.control_plane.registry.store.releases import NewRelease, ReleaseRow
from aop.store.database import Connection, Database


class Releases:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, caller: str, provider_id: str, agent_id: str, request: ReleaseRequest) -> Release:
        async with self._database.transaction() as connection:
            binding = await own_binding(connection, caller, provider_id, request.endpoint_binding_id)
            if (binding.agent_id, binding.version) != (agent_id, request.version):
                raise InvalidRequest(Violation("/endpointBindingId", "binding_mismatch"))
            card = await cards.lock(connection, agent_id, request.version)
            if card is None:
                raise await unknown_version(connection, agent_id)
            binding = await bindings.lock(connection, request.endpoint_binding_id)
            state = CREATED_RELEASE.get(binding.status)
            if state is None:
                raise Conflict("the Binding failed", reason=Reason.BINDING_FAILED)
            row = await releases.insert(connection, _new_release(binding, card.digest, state, self._clock()))
            if row is None:
                raise Conflict("the version has a Release", reason=Reason.ALREADY_EXISTS)
            if card.status is PublicationStatus.DISABLED:
                await releases.record_change(connection, row.release_id)
        return release(row)

    async def verify(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            row = await _lock_own(connection, caller, release_id, VERIFY_RELEASE)
            binding = await bindings.lock(connection, row.binding_id)
            if binding.status is not VerificationStatus.VERIFIED:
                raise Conflict("the Binding is not verified", reason=Reason.BINDING_NOT_VERIFIED)
            now = self._clock()
            return release(
                await releases.move(connection, release_id, VERIFY_RELEASE.target, now, binding.evidence_digest)
            )

    async def publish(self, caller: str, release_id: str) -> Release:
        """Publishes a draft Card in the same transaction; either way the Card takes the next publication number."""
        async with self._database.transaction() as connection:
            unlocked = _found(await releases.find(connection, release_id))
            # The Card is locked before its Release, always.
            card = await cards.lock(connection, unlocked.agent_id, unlocked.version)
            row = await _lock_own(connection, caller, release_id, PUBLISH_RELEASE)
            if card is None or card.status is PublicationStatus.DISABLED:
                raise Conflict("the Card is disabled", reason=Reason.CARD_STATE)
            binding = await bindings.lock(connection, row.binding_id)
            if binding.status is not VerificationStatus.VERIFIED or binding.evidence_digest != row.evidence_digest:
                raise Conflict("the Binding no longer bears the evidence", reason=Reason.BINDING_EVIDENCE_CHANGED)
            now = self._clock()
            published = await releases.move(connection, release_id, PUBLISH_RELEASE.target, now)
            await publish_version(connection, row.agent_id, row.version, now)
            await releases.record_change(connection, release_id)
        return release(published)

    async def suspend(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            await _lock_own(connection, caller, release_id, SUSPEND_RELEASE)
            return await self._suspend(connection, release_id, SuspendedBy.PROVIDER)

    async def suspend_as_operator(self, release_id: str) -> Release:
        """Suspends without a check of the owner. No Gateway route calls this: access to the store is the right."""
        async with self._database.transaction() as connection:
            _require_source(await _lock(connection, release_id), SUSPEND_RELEASE)
            return await self._suspend(connection, release_id, SuspendedBy.OPERATOR)

    async def revoke(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            await _lock_own(connection, caller, release_id, REVOKE_RELEASE)
            row = await releases.move(connection, release_id, REVOKE_RELEASE.target, self._clock())
            await words.remove(connection, row.agent_id, row.version)
            await releases.record_change(connection, release_id)
        return release(row)

    async def require_own(self, caller: str, release_id: str) -> None:
        async with self._database.connection() as connection:
            await _require_owner(connection, caller, _found(await releases.find(connection, release_id)))

    async def read(self, caller: str, release_id: str) -> Release:
        async with self._database.connection() as connection:
            row = _found(await releases.find(connection, release_id))
            if row.state is not ReleaseState.PUBLISHED:
                await _require_owner(connection, caller, row)
        return release(row)

    async def page(
        self, caller: str, provider_id: str, agent_id: str | None, after: tuple[datetime, str] | None, limit: int
    ) -> Sequence[Release]:
        """Returns up to one more than the limit, which tells whether there is a next page."""
        async with self._database.connection() as connection:
            await require_own_provider(connection, caller, provider_id)
            rows = await releases.page(connection, provider_id, agent_id, after, limit + 1)
        return [release(row) for row in rows]

    async def _suspend(self, connection: Connection, release_id: str, suspended_by: SuspendedBy) -> Release:
        row = await releases.suspend(connection, release_id, self._clock(), suspended_by)
        await words.remove(connection, row.agent_id, row.version)
        await releases.record_change(connection, release_id)
        return release(row)


async def _lock_own(
    connection: Connection, caller: str, release_id: str, transition: Transition[ReleaseState]
) -> ReleaseRow:
    row = await _lock(connection, release_id)
    await _require_owner(connection, caller, row)
    _require_source(row, transition)
    return row


async def _lock(connection: Connection, release_id: str) -> ReleaseRow:
    return _found(await releases.lock(connection, release_id))


def _found(row: ReleaseRow | None) -> ReleaseRow:
    if row is None:
        raise NotFound("no such Release", reason=Reason.RELEASE_UNKNOWN)
    return row


async def _require_owner(connection: Connection, caller: str, row: ReleaseRow) -> None:
    if await bindings.provider_owner(connection, row.provider_id) != caller:
        raise Forbidden("the Release belongs to another provider", reason=Reason.NOT_OWNER)


def _require_source(row: ReleaseRow, transition: Transition[ReleaseState]) -> None:
    if row.state not in transition.sources:
        raise Conflict(f"the Release is {row.state}", reason=Reason.RELEASE_STATE)


def _new_release(binding: BindingRow, card_digest: str, state: ReleaseState, now: datetime) -> NewRelease:
    return NewRelease(
        new_id("rel"),
        binding.provider_id,
        binding.agent_id,
        binding.version,
        card_digest,
        binding.binding_id,
        binding.endpoint_origin,
        binding.endpoint_path,
        binding.method,
        state,
        now,
        binding.evidence_digest,
        binding.verified_at,
    )
