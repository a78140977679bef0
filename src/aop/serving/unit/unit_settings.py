"""Settings both units share (contract 16.1), and how a unit is served by them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aop.base import settings as read
from aop.base.share import WorkerShare
from aop.net.address_settings import ListenAddress
from aop.net.authorities import CA_FILE, ca_file
from aop.net.policy import AllowList
from aop.net.worker_sockets import is_of_worker
from aop.store.database import STATEMENT_MILLIS
from aop.telemetry.settings import TelemetrySettings, read_telemetry_settings

MAX_CONNECTIONS = "PLATFORM_MAX_CONNECTIONS"
DRAIN_SECONDS = "PLATFORM_DRAIN_SECONDS"
GRACE_SECONDS = "PLATFORM_SHUTDOWN_GRACE_SECONDS"
CONTROL_PLANE_SOCKET = "PLATFORM_CONTROL_PLANE_SOCKET"
ROUTER_SOCKET = "PLATFORM_ROUTER_SOCKET"
"""Where two units of one machine meet: the one listens there too, the other sends there what it has for it."""


class CannotStart(Exception):
    """The unit cannot start as configured; the text is for the operator and holds no value of a setting."""


@dataclass(frozen=True)
class Descriptors:
    """What a unit opens beside the connections of its callers; each call may hold one socket to somebody else."""

    calls: int = 0
    pool_size: int = 0
    settings: str = ""
    """The names of the settings that say how many calls there may be."""


@dataclass(frozen=True)
class Stopping:
    """How long a unit still accepts new work after SIGTERM or SIGINT, and how long running work may then continue."""

    drain_seconds: int = 0
    grace_seconds: int = 0


@dataclass(frozen=True)
class Serving:
    """How a unit is to be served: its address, the name of the setting that gives it, and how it ends."""

    address: ListenAddress
    address_setting: str
    stopping: Stopping
    max_connections: int | None
    """As configured. None leaves it to the limit of open files."""
    use: Descriptors = Descriptors()
    socket: "UnitSocket | None" = None


@dataclass(frozen=True)
class UnitSocket:
    """A unix socket on which a unit listens too, and the name of the setting that gives its path."""

    path: str
    setting: str


@dataclass(frozen=True)
class UnitSettings:
    invocation_deadline_ms: int
    invocation_request_max_bytes: int
    sse_frame_max_bytes: int
    allowed_private_hosts: AllowList
    ca_file: Path | None
    database_pool_size: int
    database_statement_timeout_ms: int
    max_connections: int | None
    stopping: Stopping
    log_level: str
    telemetry: TelemetrySettings | None

    def for_worker(self, share: WorkerShare) -> "UnitSettings":
        """Limits are those of the unit; a worker has its share of them."""
        connections = None if self.max_connections is None else share.of(self.max_connections)
        return replace(self, database_pool_size=share.of(self.database_pool_size), max_connections=connections)

    def serving(
        self,
        address: ListenAddress,
        address_setting: str,
        max_calls: Mapping[str, int],
        socket: UnitSocket | None,
    ) -> Serving:
        """`max_calls` says by the name of its setting how many calls of a kind there may be at a time."""
        use = Descriptors(sum(max_calls.values()), self.database_pool_size, ", ".join(max_calls))
        return Serving(address, address_setting, self.stopping, self.max_connections, use, socket)


def read_unit_settings(reader: read.SettingsReader) -> UnitSettings:
    return UnitSettings(
        invocation_deadline_ms=reader.optional("PLATFORM_INVOCATION_DEADLINE_MS", read.integer(1, 600_000), 300_000),
        invocation_request_max_bytes=reader.optional(
            "PLATFORM_INVOCATION_REQUEST_MAX_BYTES", read.byte_count, 1_048_576
        ),
        sse_frame_max_bytes=reader.optional("PLATFORM_SSE_FRAME_MAX_BYTES", read.byte_count, 1_048_576),
        allowed_private_hosts=reader.optional(
            "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON", _allow_list, AllowList.parse([])
        ),
        ca_file=reader.optional(CA_FILE, ca_file, None),
        database_pool_size=reader.optional("PLATFORM_DATABASE_POOL_SIZE", read.integer(1, 200), 20),
        database_statement_timeout_ms=reader.optional(
            "PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS", read.integer(100, 60_000), STATEMENT_MILLIS
        ),
        max_connections=read_max_connections(reader),
        stopping=read_stopping(reader),
        log_level=reader.optional("PLATFORM_LOG_LEVEL", read.choice("debug", "info", "warning", "error"), "info"),
        telemetry=read_telemetry_settings(reader),
    )


def require_two_sockets(reader: read.SettingsReader, control_plane: str | None, router: str | None) -> None:
    if control_plane is None or router is None:
        return
    if control_plane == router:
        reader.refuse(ROUTER_SOCKET, f"must not be that of {CONTROL_PLANE_SOCKET}")
    elif is_of_worker(router, control_plane) or is_of_worker(control_plane, router):
        reader.refuse(
            ROUTER_SOCKET, f"must differ from {CONTROL_PLANE_SOCKET} by more than .1 or the like: workers have that"
        )


def read_stopping(reader: read.SettingsReader) -> Stopping:
    return Stopping(read_drain_seconds(reader), reader.optional(GRACE_SECONDS, read.integer(0, 600), 30))


def read_drain_seconds(reader: read.SettingsReader) -> int:
    return reader.optional(DRAIN_SECONDS, read.integer(0, 600), 5)


def read_max_connections(reader: read.SettingsReader) -> int | None:
    """None leaves it to the descriptor limit."""
    return reader.optional(MAX_CONNECTIONS, read.integer(1, 1_000_000), None)


def _allow_list(text: str) -> AllowList:
    try:
        entries = json.loads(text)
    except ValueError:
        entries = None
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError("must be a JSON array of host, host:port, [ipv6] or [ipv6]:port entries")
    try:
        return AllowList.parse(entries)
    except ValueError:
        raise ValueError("holds an entry that is not host, host:port, [ipv6] or [ipv6]:port") from None
