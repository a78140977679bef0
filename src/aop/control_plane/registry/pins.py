"""Exact versions that others pin: which may be chosen, whether one may run, and what its Card says in short."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from aop.base.canonical import digest as digest_of
from aop.base.clock import to_text
from aop.base.recent import RecentlyUsed
from aop.base.semver import Precedence, Version, VersionSyntax
from aop.cards.summary import CardSummary, read_summary
from aop.contracts.authorization import AuthorizedRelease
from aop.contracts.catalog import PublicationStatus, Resemblance
from aop.contracts.errors import DependencyFailed, ErrorCode, Refusal
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import or_unset
from aop.contracts.workspace import VersionRefusal
from aop.control_plane.registry.index_keys import precedence_text
from aop.control_plane.registry.names import resemblances
from aop.control_plane.registry.store import cards, pins
from aop.control_plane.registry.store.pins import Candidate
from aop.store.database import Database

PINNED_VERSION = pins.PINNED_VERSION
PinRow = pins.PinRow
"""A query of the Registry and its columns, for modules that read a pin together with facts of their own."""
CARD_SIZES = pins.CARD_SIZES
PinnedCard = pins.PinnedCard
"""Likewise, for modules that list pins and ask for the summaries of their Cards."""

_MAX_SUMMARY_BYTES = 16 * 1024 * 1024
# Greater than every digit and every character of a version, and so than every precedence and version text.
_TOP = "~"


class AgentReleaseUnpublished(Refusal):
    code = ErrorCode.AGENT_RELEASE_UNPUBLISHED


class AgentReleaseSuspended(Refusal):
    code = ErrorCode.AGENT_RELEASE_SUSPENDED


class AgentReleaseRevoked(Refusal):
    code = ErrorCode.AGENT_RELEASE_REVOKED


class AgentDisabled(Refusal):
    code = ErrorCode.AGENT_DISABLED


class PinnedRelease(msgspec.Struct, frozen=True):
    """`published` is None until the Release was published for the first time."""

    release_id: str
    state: ReleaseState
    published: AuthorizedRelease | None


class PinnedVersion(msgspec.Struct, frozen=True):
    """A Card version and its Release as they are now."""

    agent_id: str
    version: str
    digest: str
    card_status: PublicationStatus
    release: PinnedRelease | None

    @classmethod
    def of(cls, row: PinRow) -> Self:
        """Refuses a row whose Card and Release do not agree."""
        release = None
        if row.release_id is not None and row.release_state is not None:
            release = PinnedRelease(row.release_id, row.release_state, _published(row))
            if row.release_digest != row.digest:
                raise DependencyFailed("the Release was made for another Card")
            if row.card_status is PublicationStatus.DRAFT and release.state is ReleaseState.PUBLISHED:
                raise DependencyFailed("a published Release has a draft Card")
        return cls(row.agent_id, row.version, row.digest, row.card_status, release)

    def require_usable(self) -> PinnedRelease:
        """Returns the published Release of a Card that is not disabled. Checks the state of the Release first."""
        if self.release is None:
            raise AgentReleaseUnpublished("no Release")
        if self.release.state is ReleaseState.SUSPENDED:
            raise AgentReleaseSuspended(self.release.release_id)
        if self.release.state is ReleaseState.REVOKED:
            raise AgentReleaseRevoked(self.release.release_id)
        if self.release.state is not ReleaseState.PUBLISHED:
            raise AgentReleaseUnpublished(self.release.release_id)
        if self.card_status is PublicationStatus.DISABLED:
            raise AgentDisabled(self.release.release_id)
        return self.release


def _published(row: PinRow) -> AuthorizedRelease | None:
    if row.release_id is None or row.published_at is None or row.evidence_digest is None:
        return None
    return AuthorizedRelease(
        release_id=row.release_id,
        card_digest=row.digest,
        endpoint_binding_id=row.binding_id or "",
        verification_method=row.method or "",
        verification_evidence_digest=row.evidence_digest,
        published_at=to_text(row.published_at),
    )


_VERSION_REFUSALS: Mapping[ErrorCode, VersionRefusal] = {
    ErrorCode.AGENT_RELEASE_UNPUBLISHED: "AGENT_RELEASE_UNPUBLISHED",
    ErrorCode.AGENT_RELEASE_SUSPENDED: "AGENT_RELEASE_SUSPENDED",
    ErrorCode.AGENT_RELEASE_REVOKED: "AGENT_RELEASE_REVOKED",
    ErrorCode.AGENT_DISABLED: "AGENT_DISABLED",
}


class PinStatus(msgspec.Struct, frozen=True):
    """Of an installed version: why its calls are refused, which version is newer, and whom its Agent resembles."""

    refused_with: VersionRefusal | msgspec.UnsetType = msgspec.UNSET
    newer_version: str | msgspec.UnsetType = msgspec.UNSET
    resembles: tuple[Resemblance, ...] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, row: pins.PinStatusRow, resembles: tuple[Resemblance, ...]) -> Self:
        newer, refused = or_unset(row.newer_version), None
        try:
            PinnedVersion.of(row).require_usable()
        except Refusal as refusal:
            refused = _VERSION_REFUSALS[refusal.code]
        return cls(or_unset(refused), newer, resembles or msgspec.UNSET)


def highest_candidate(precedence: Precedence | None) -> Candidate:
    """Above every version that has the numbers of this precedence, or above all versions."""
    try:
        top = _TOP if precedence is None else precedence_text(Version.parse("{}.{}.{}".format(*precedence[:3])))
    except VersionSyntax:  # numbers too long for any version to have them
        top = _TOP
    return Candidate(_TOP, top)


class Pins:
    """Reads only. Reads states again for each call, and caches the summary of a Card, which its digest fixes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._summaries: RecentlyUsed[str, CardSummary] = RecentlyUsed(_MAX_SUMMARY_BYTES)

    async def candidates(
        self, agent_id: str, upper: Candidate, limit: int, *, prereleases: bool
    ) -> Sequence[Candidate]:
        """The next versions below `upper` that are published or have a Release in any state, highest first."""
        async with self._database.connection() as connection:
            return await pins.candidates(connection, agent_id, upper, prereleases, limit)

    async def knows(self, agent_id: str) -> bool:
        """Whether there is such an Agent, with whatever versions."""
        async with self._database.connection() as connection:
            return await cards.public_id_of(connection, agent_id) is not None

    async def pinned(self, agent_id: str, version: str) -> PinnedVersion:
        """Reads a version that exists: Cards are never deleted."""
        async with self._database.connection() as connection:
            row = await pins.pinned(connection, agent_id, version)
        if row is None:
            raise DependencyFailed("the version is gone")
        return PinnedVersion.of(row)

    async def document(self, agent_id: str, version: str, digest: str) -> bytes:
        """The canonical bytes of the Card that has this digest."""
        async with self._database.connection() as connection:
            document = await pins.document(connection, agent_id, version)
        return _checked(document, digest)

    def kept_summary(self, pin: PinnedVersion) -> CardSummary | None:
        """None when the Card has to be read."""
        return self._summaries.find(pin.digest)

    async def summary(self, pin: PinnedVersion) -> CardSummary:
        summary = self._summaries.find(pin.digest)
        if summary is None:
            summary = self._read(await self.document(pin.agent_id, pin.version, pin.digest), pin.digest)
        return summary

    async def summaries(self, cards: Sequence[PinnedCard]) -> Mapping[str, CardSummary]:
        """By digest. One statement reads all that are not cached; the caller limits how many bytes these may be."""
        found = {card.digest: self._summaries.find(card.digest) for card in cards}
        missing = {card.digest: card for card in cards if found[card.digest] is None}
        documents = {}
        if missing:
            async with self._database.connection() as connection:
                documents = await pins.documents(connection, list(missing.values()))
        for digest, card in missing.items():
            found[digest] = self._read(_checked(documents.get((card.agent_id, card.version)), digest), digest)
            await asyncio.sleep(0)  # a large Card takes milliseconds; others have their turn
        return {digest: summary for digest, summary in found.items() if summary is not None}

    async def statuses(self, cards: Sequence[PinnedCard]) -> Mapping[PinnedCard, PinStatus]:
        """All in two statements."""
        if not cards:
            return {}
        async with self._database.connection() as connection:
            rows = await pins.statuses(connection, cards)
            resembled = await resemblances(connection, [card.agent_id for card in cards])
        return {
            PinnedCard(row.agent_id, row.version, row.digest): PinStatus.of(row, resembled.get(row.agent_id, ()))
            for row in rows
        }

    def _read(self, document: bytes, digest: str) -> CardSummary:
        summary = read_summary(document)
        self._summaries.keep(digest, summary, summary.weight)
        return summary


def _checked(document: bytes | None, digest: str) -> bytes:
    if document is None or digest_of(document) != digest:
        raise DependencyFailed("the Card is not the one its digest names")
    return document
