"""Releases: at most one for each Card version. Its facts never change; its state moves forward only."""

from aop.base.clock import Clock, from_text
from aop.base.ids import new_id
from aop.contracts.catalog import PublicationStatus
from aop.contracts.errors import Conflict, Forbidden, InvalidRequest, NotFound, Reason, Violation
from aop.contracts.publication import Release, ReleaseRequest, ReleaseState, SuspendedBy, VerificationStatus
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.registry.bindings import own_binding, require_own_provider
from aop.control_plane.registry.cards import publish_version, unknown_version
from aop.control_plane.registry.lifecycle import (
    CREATED_RELEASE,
    PUBLISH_RELEASE,
    REVOKE_RELEASE,
    SUSPEND_RELEASE,
    VERIFY_RELEASE,
    Transition,
)
from aop.control_plane.registry.store import bindings, cards, releases, words
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
            binding = await bindings.lock(connection, binding.binding_id)
            state = CREATED_RELEASE.get(binding.verification_status)
            if state is None:
                raise Conflict("the Binding failed", reason=Reason.BINDING_FAILED)
            release = await releases.insert(
                connection, new_id("rel"), binding.binding_id, card.digest, state, self._clock()
            )
            if release is None:
                raise Conflict("the version has a Release", reason=Reason.ALREADY_EXISTS)
            if card.status is PublicationStatus.DISABLED:
                await releases.record_change(connection, release.release_id)
        return release

    async def verify(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            release = await _lock_own(connection, caller, release_id, VERIFY_RELEASE)
            binding = await bindings.lock(connection, release.endpoint_binding_id)
            if binding.verification_status is not VerificationStatus.VERIFIED:
                raise Conflict("the Binding is not verified", reason=Reason.BINDING_NOT_VERIFIED)
            now, evidence = self._clock(), binding.verification_evidence_digest or None
            return await releases.move(connection, release_id, VERIFY_RELEASE.target, now, evidence_digest=evidence)

    async def publish(self, caller: str, release_id: str) -> Release:
        """Publishes a draft Card in the same transaction; either way the Card takes the next publication number."""
        async with self._database.transaction() as connection:
            unlocked = _required(await releases.find(connection, release_id))
            # The Card is locked before its Release, always.
            card = await cards.lock(connection, unlocked.agent_id, unlocked.version)
            release = await _lock_own(connection, caller, release_id, PUBLISH_RELEASE)
            if card is None or card.status is PublicationStatus.DISABLED:
                raise Conflict("the Card is disabled", reason=Reason.CARD_STATE)
            binding = await bindings.lock(connection, release.endpoint_binding_id)
            evidence_agrees = binding.verification_evidence_digest == release.verification_evidence_digest
            if binding.verification_status is not VerificationStatus.VERIFIED or not evidence_agrees:
                raise Conflict("the Binding no longer bears the evidence", reason=Reason.BINDING_EVIDENCE_CHANGED)
            now = self._clock()
            published = await releases.move(connection, release_id, PUBLISH_RELEASE.target, now)
            await publish_version(connection, release.agent_id, release.version, now)
            await releases.record_change(connection, release_id)
        return published

    async def suspend(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            await _lock_own(connection, caller, release_id, SUSPEND_RELEASE)
            return await self._withdraw(connection, release_id, SUSPEND_RELEASE, SuspendedBy.PROVIDER)

    async def suspend_as_operator(self, release_id: str) -> Release:
        """Suspends without a check of the owner. No Gateway route calls this: access to the store is the right."""
        async with self._database.transaction() as connection:
            _require_source(_required(await releases.lock(connection, release_id)), SUSPEND_RELEASE)
            return await self._withdraw(connection, release_id, SUSPEND_RELEASE, SuspendedBy.OPERATOR)

    async def revoke(self, caller: str, release_id: str) -> Release:
        async with self._database.transaction() as connection:
            await _lock_own(connection, caller, release_id, REVOKE_RELEASE)
            return await self._withdraw(connection, release_id, REVOKE_RELEASE)

    async def require_own(self, caller: str, release_id: str) -> None:
        async with self._database.connection() as connection:
            await _require_owner(connection, caller, _required(await releases.find(connection, release_id)))

    async def read(self, caller: str, release_id: str) -> Release:
        async with self._database.connection() as connection:
            release = _required(await releases.find(connection, release_id))
            if release.state is not ReleaseState.PUBLISHED:
                await _require_owner(connection, caller, release)
        return release

    async def page(
        self, caller: str, provider_id: str, agent_id: str | None, after: TimePosition | None, limit: int
    ) -> ListPage[Release, TimePosition]:
        async with self._database.connection() as connection:
            await require_own_provider(connection, caller, provider_id)
            items = await releases.page(connection, provider_id, agent_id, after, limit + 1)
        return ListPage.cut(items, limit, lambda last: (from_text(last.created_at), last.release_id))

    async def _withdraw(
        self,
        connection: Connection,
        release_id: str,
        transition: Transition[ReleaseState],
        suspended_by: SuspendedBy | None = None,
    ) -> Release:
        """The version is neither discovered nor run from now on."""
        release = await releases.move(
            connection, release_id, transition.target, self._clock(), suspended_by=suspended_by
        )
        await words.remove(connection, release.agent_id, release.version)
        await releases.record_change(connection, release_id)
        return release


async def _lock_own(
    connection: Connection, caller: str, release_id: str, transition: Transition[ReleaseState]
) -> Release:
    release = _required(await releases.lock(connection, release_id))
    await _require_owner(connection, caller, release)
    _require_source(release, transition)
    return release


def _required(release: Release | None) -> Release:
    if release is None:
        raise NotFound("no such Release", reason=Reason.RELEASE_UNKNOWN)
    return release


async def _require_owner(connection: Connection, caller: str, release: Release) -> None:
    if await bindings.provider_owner(connection, release.provider_id) != caller:
        raise Forbidden("the Release belongs to another provider", reason=Reason.NOT_OWNER)


def _require_source(release: Release, transition: Transition[ReleaseState]) -> None:
    if release.state not in transition.sources:
        raise Conflict(f"the Release is {release.state}", reason=Reason.RELEASE_STATE)
