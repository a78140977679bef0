"""Readers of the health answers and of the platform status."""

from enum import StrEnum

from aop.contracts.wire import Wire


class HealthStatus(StrEnum):
    OK = "ok"
    UNAVAILABLE = "unavailable"


class TopologyHealth(StrEnum):
    INITIALIZING = "initializing"
    LIVE = "live"
    LOST = "lost"
    UNAVAILABLE = "unavailable"


class Health(Wire, frozen=True, kw_only=True):
    status: HealthStatus


class PlatformStatus(Wire, frozen=True, kw_only=True):
    control_plane: HealthStatus
    router: HealthStatus
    topology: TopologyHealth


READERS: dict[str, type] = {"health/1": Health, "health/1#platformStatus": PlatformStatus}
