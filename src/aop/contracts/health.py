"""Readers of the health answers and of the platform status."""

from enum import StrEnum

import msgspec

from aop.contracts.ledger_tree import LedgerHead
from aop.contracts.router_status import SchemaLoad, SequenceLag, UnwrittenFacts, WatchFreshness
from aop.contracts.wire import Wire


class HealthStatus(StrEnum):
    OK = "ok"
    UNAVAILABLE = "unavailable"


class Health(Wire, frozen=True, kw_only=True):
    status: HealthStatus


class TopologyHealth(StrEnum):
    INITIALIZING = "initializing"
    LIVE = "live"
    LOST = "lost"
    UNAVAILABLE = "unavailable"


class RouterHealth(StrEnum):
    OK = "ok"
    NOT_READY = "not_ready"
    UNAVAILABLE = "unavailable"


class RouterState(Wire, frozen=True, kw_only=True):
    """A Router that could not be asked has only its status; `sequence` is left out where another one numbers."""

    status: RouterHealth
    instance_id: str | msgspec.UnsetType = msgspec.UNSET
    topology: WatchFreshness | msgspec.UnsetType = msgspec.UNSET
    schema_work: SchemaLoad | msgspec.UnsetType = msgspec.UNSET
    facts: UnwrittenFacts | msgspec.UnsetType = msgspec.UNSET
    sequence: SequenceLag | msgspec.UnsetType = msgspec.UNSET


class PlatformStatus(Wire, frozen=True, kw_only=True):
    control_plane: HealthStatus
    router: HealthStatus
    topology: TopologyHealth
    routers: tuple[RouterState, ...] | msgspec.UnsetType = msgspec.UNSET
    ledger_head: LedgerHead | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "health/1": Health,
    "health/1#platformStatus": PlatformStatus,
    "health/1#router": RouterState,
}
