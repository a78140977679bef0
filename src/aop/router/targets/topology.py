"""What this Router knows of Release states, and how fresh its source is."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aop.base.clock import Clock, to_text
from aop.contracts.errors import ErrorCode
from aop.contracts.topology import (
    FrameKind,
    Observation,
    SourceState,
    TopologyEvent,
    TopologySource,
    TopologyStatus,
    WatchedRelease,
    WatchedState,
)

SILENCE_SECONDS = 15.0
STATES = (SourceState.INITIALIZING, SourceState.LOST, SourceState.LIVE)
"""In the order in which more is known."""
HANDOVER_SECONDS = 5.0
"""A source that says good-bye is being replaced: the next one is asked after a second."""
REFUSALS = {
    WatchedState.SUSPENDED: ErrorCode.AGENT_RELEASE_SUSPENDED,
    WatchedState.REVOKED: ErrorCode.AGENT_RELEASE_REVOKED,
    WatchedState.DISABLED: ErrorCode.AGENT_DISABLED,
}


class WatchBroken(Exception):
    """The source sent something impossible: the connection must be closed."""


@dataclass(frozen=True, slots=True)
class _ReleaseEntry:
    release: WatchedRelease
    local_revision: int
    observed_at: datetime


class Topology:
    """The watched state. Refusals hold whether the source is live or not; a Card is trusted only while it is."""

    def __init__(self, clock: Clock, forget_card: Callable[[str], object] = lambda _: None) -> None:
        self._clock = clock
        self._forget_card = forget_card
        self._state = SourceState.INITIALIZING
        self._since = clock()
        self._entries: dict[str, _ReleaseEntry] = {}
        self._local_revision = 0
        self._arriving: dict[str, WatchedRelease] | None = None
        self._revision: int | None = None
        self._spoken_at = float("-inf")
        self._is_connected = False
        self._handed_over_at = float("-inf")

    @property
    def after(self) -> int | None:
        """The revision after which a new connection may resume; None before the first complete snapshot."""
        return self._revision

    @property
    def live(self) -> bool:
        recent = asyncio.get_running_loop().time() - self._spoken_at < SILENCE_SECONDS
        return self._state is SourceState.LIVE and recent

    @property
    def serves(self) -> bool:
        """Live, or between two Control Planes for a moment. All Routers lose the one that ends at the same time: if all
        said that they are not ready, a balancer would have no Router left. Each call is resolved anew meanwhile."""
        return self.live or asyncio.get_running_loop().time() - self._handed_over_at < HANDOVER_SECONDS

    @property
    def silent_seconds(self) -> float:
        """Time since the last frame of the source; infinite before the first."""
        return asyncio.get_running_loop().time() - self._spoken_at

    def known_releases(self) -> int:
        return len(self._entries)

    def refusal(self, release_id: str) -> ErrorCode | None:
        entry = self._entries.get(release_id)
        return None if entry is None else REFUSALS.get(entry.release.state)

    def vouches_for(self, release_id: str, digest: str) -> bool:
        """Whether the Release is known as published with this very Card, from a live source."""
        entry = self._entries.get(release_id)
        if entry is None or not self.live:
            return False
        return entry.release.state is WatchedState.PUBLISHED and entry.release.card_digest == digest

    def connected(self) -> None:
        """A new connection begins. Its first frames may be only a part of a snapshot."""
        self._arriving = None
        self._is_connected = True

    def handed_over(self) -> None:
        """The source ended the stream itself, as it does when it is going to stop."""
        if self.live:
            self._handed_over_at = asyncio.get_running_loop().time()

    def lost(self) -> None:
        """The connection ended. If there was none, the state does not change."""
        if self._is_connected and self._state is not SourceState.LOST:
            self._move(SourceState.LOST)
        self._is_connected = False
        self._arriving = None

    def take(self, event: TopologyEvent) -> None:
        """Applies one frame; WatchBroken when the frame contradicts what came before."""
        if event.kind is FrameKind.SNAPSHOT:
            self._take_snapshot(event)
        elif self._arriving is not None or self._revision is None:
            raise WatchBroken("a frame inside or before a snapshot")
        elif event.revision < self._revision:
            raise WatchBroken("the revision went back")
        elif event.kind is FrameKind.CHANGE:
            self._take_change(event)
        self._spoken_at = asyncio.get_running_loop().time()
        if self._arriving is None and self._state is not SourceState.LIVE:
            self._move(SourceState.LIVE)

    def status(self, release_id: str | None = None) -> TopologyStatus:
        """All observations, or that of one Release."""
        entries: Iterable[_ReleaseEntry] = self._entries.values()
        if release_id is not None:
            entries = [self._entries[release_id]] if release_id in self._entries else ()
        observations = [
            Observation(
                agent_id=entry.release.agent_id,
                version=entry.release.version,
                release_id=entry.release.release_id,
                state=entry.release.state,
                local_revision=entry.local_revision,
                observed_at=to_text(entry.observed_at),
            )
            for entry in entries
        ]
        observations.sort(key=lambda item: (item.agent_id, item.version, item.release_id))
        return TopologyStatus(schema_version="1", source=self.source(), observations=tuple(observations))

    def source(self) -> TopologySource:
        state, since = self._state, self._since
        if state is SourceState.LIVE and not self.live:  # nobody has noticed the silence yet
            state, since = SourceState.LOST, self._clock() - timedelta(seconds=self.silent_seconds - SILENCE_SECONDS)
        return TopologySource(state=state, since=to_text(since))

    def _take_snapshot(self, event: TopologyEvent) -> None:
        if not isinstance(event.releases, tuple) or not isinstance(event.complete, bool):
            raise WatchBroken("a snapshot without releases")
        if self._arriving is None:
            self._arriving, self._snapshot_revision = {}, event.revision
        elif event.revision != self._snapshot_revision:
            raise WatchBroken("one snapshot, two revisions")
        self._arriving.update((release.release_id, release) for release in event.releases)
        if event.complete:
            arrived, self._arriving = self._arriving, None
            for release_id in self._entries.keys() - arrived.keys():
                del self._entries[release_id]
                self._forget_card(release_id)
            for release in arrived.values():
                self._observe(release)
            self._revision = event.revision

    def _take_change(self, event: TopologyEvent) -> None:
        if not isinstance(event.release, WatchedRelease) or event.revision == self._revision:
            raise WatchBroken("a change without a release or without a new revision")
        self._observe(event.release)
        self._revision = event.revision

    def _observe(self, release: WatchedRelease) -> None:
        entry = self._entries.get(release.release_id)
        if entry is not None and entry.release == release:
            return
        self._local_revision += 1
        self._entries[release.release_id] = _ReleaseEntry(release, self._local_revision, self._clock())
        self._forget_card(release.release_id)

    def _move(self, state: SourceState) -> None:
        self._state, self._since = state, self._clock()
