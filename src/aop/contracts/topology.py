"""Readers of the topology watch and of a Router's topology status."""

from enum import StrEnum
from typing import Literal

import msgspec

from aop.contracts.wire import Wire


class FrameKind(StrEnum):
    SNAPSHOT = "snapshot"
    CHANGE = "change"
    HEARTBEAT = "heartbeat"


class WatchedState(StrEnum):
    PUBLISHED = "published"
    SUSPENDED = "suspended"
    REVOKED = "revoked"
    DISABLED = "disabled"


class SourceState(StrEnum):
    INITIALIZING = "initializing"
    LIVE = "live"
    LOST = "lost"


class WatchedRelease(Wire, frozen=True, kw_only=True):
    agent_id: str
    version: str
    release_id: str
    card_digest: str
    state: WatchedState


class TopologyEvent(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    kind: FrameKind
    revision: int
    releases: tuple[WatchedRelease, ...] | msgspec.UnsetType = msgspec.UNSET
    complete: bool | msgspec.UnsetType = msgspec.UNSET
    release: WatchedRelease | msgspec.UnsetType = msgspec.UNSET


class TopologySource(Wire, frozen=True, kw_only=True):
    state: SourceState
    since: str


class Observation(Wire, frozen=True, kw_only=True):
    agent_id: str
    version: str
    release_id: str
    state: WatchedState
    local_revision: int
    observed_at: str


class TopologyStatus(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    source: TopologySource
    observations: tuple[Observation, ...]


READERS: dict[str, type] = {
    "topology-event/1": TopologyEvent,
    "topology-event/1#entry": WatchedRelease,
    "topology-status/1": TopologyStatus,
    "topology-status/1#source": TopologySource,
    "topology-status/1#observation": Observation,
}
