"""Readers of what depends on a Release, and of what the Router knows of it."""

import msgspec

from aop.contracts.topology import SourceState, WatchedState
from aop.contracts.wire import Wire


class ReleaseCalls(Wire, frozen=True, kw_only=True):
    """The part of the reach that the Router counts."""

    release_id: str
    calls_last_hour: int
    calls_last_day: int
    running: int


class ReleaseReach(ReleaseCalls, frozen=True, kw_only=True):
    workspaces: int
    enabled_installations: int
    disabled_installations: int


class ReleaseObservation(Wire, frozen=True, kw_only=True):
    """`state` is left out while the Router knows nothing of the Release."""

    release_id: str
    source: SourceState
    state: WatchedState | msgspec.UnsetType = msgspec.UNSET
    observed_at: str | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "release-reach/1": ReleaseReach,
    "release-reach/1#calls": ReleaseCalls,
    "release-observation/1": ReleaseObservation,
}
