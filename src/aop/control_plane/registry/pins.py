"""Exact versions as others pin them: what may be chosen of an Agent, whether it may run, and what its Card asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from aop.base.canonical import digest as digest_of
from aop.base.semver import Precedence, Version, VersionSyntax
from aop.cards.rights import CardRights, RightsByDigest, read_rights
from aop.contracts.catalog import PublicationStatus
from aop.contracts.errors import DependencyFailed, ErrorCode, Refusal
from aop.contracts.publication import ReleaseState
from aop.control_plane.registry.store import pins
from aop.control_plane.registry.version_order import precedence_text
from aop.store.database import Database

PINNED_VERSION = pins.PINNED_VERSION
"""A query of the Registry for whoever reads a pin together with facts of its own; give its rows to `PinnedVersion`."""

# Above every digit and every character of a version: no precedence and no version text comes behind it.
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
    release_id: str
    state: ReleaseState


class PinnedVersion(msgspec.Struct, frozen=True):
    """A Card version and its Release as they are now."""

    agent_id: str
    version: str
    digest: str
    card_status: PublicationStatus
    release: PinnedRelease | None

    @classmethod
    def of(cls, row: Any) -> Self:
        """Refuses a row whose Card and Release do not agree."""
        release = None
        if row["release_id"] is not None:
            release = PinnedRelease(row["release_id"], ReleaseState(row["release_state"]))
            if row["release_digest"] != row["digest"]:
                raise DependencyFailed("the Release was made for another Card")
        status = PublicationStatus(row["card_status"])
        if status is PublicationStatus.DRAFT and release is not None and release.state is ReleaseState.PUBLISHED:
            raise DependencyFailed("a published Release has a draft Card")
        return cls(row["agent_id"], row["version"], row["digest"], status, release)

    def require_usable(self) -> PinnedRelease:
        """The published Release of a Card that is not disabled. What the Release's state forbids is said first."""
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that may be chosen, with its place in the order of precedence."""

    version: str
    precedence: str


@dataclass(frozen=True, slots=True)
class Walk:
    """A way down through an Agent's versions: what comes next lies below this precedence and version."""

    precedence: str
    version: str
    prereleases: bool

    @classmethod
    def down_from(cls, highest: Precedence | None, *, prereleases: bool) -> Self:
        """From all versions with the numbers of this precedence on, or from the very top."""
        try:
            top = _TOP if highest is None else precedence_text(Version.parse("{}.{}.{}".format(*highest[:3])))
        except VersionSyntax:  # numbers too long for any version to have them
            top = _TOP
        return cls(top, _TOP, prereleases)

    def behind(self, candidate: Candidate) -> "Walk":
        return Walk(candidate.precedence, candidate.version, self.prereleases)


class Pins:
    """Reads only. States are read afresh each time; what a Card asks for is remembered, because a digest fixes it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rights = RightsByDigest()

    async def candidates(self, agent_id: str, walk: Walk, limit: int) -> Sequence[Candidate]:
        """The next versions that are published or have a Release in any state, highest first."""
        below = (walk.precedence, walk.version)
        async with self._database.connection() as connection:
            rows = await pins.candidates(connection, agent_id, below, walk.prereleases, limit)
        return [Candidate(row["version"], row["precedence"]) for row in rows]

    async def pinned(self, agent_id: str, version: str) -> PinnedVersion:
        """Of a version known to exist: Cards are never deleted."""
        async with self._database.connection() as connection:
            row = await pins.pinned(connection, agent_id, version)
        if row is None:
            raise DependencyFailed("the version is gone")
        return PinnedVersion.of(row)

    async def document(self, agent_id: str, version: str, digest: str) -> bytes:
        """The canonical bytes of the Card that has this digest."""
        async with self._database.connection() as connection:
            document = await pins.document(connection, agent_id, version)
        if document is None or digest_of(document) != digest:
            raise DependencyFailed("the Card is not the one its digest names")
        return document

    async def rights(self, pin: PinnedVersion) -> CardRights:
        known = self._rights.get(pin.digest)
        if known is None:
            known = read_rights(await self.document(pin.agent_id, pin.version, pin.digest))
            self._rights.keep(pin.digest, known)
        return known
