"""Settings of the door; none of them is a secret, because the door has no rights of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aop.base import settings as read
from aop.base.share import WorkerShare
from aop.net import address_settings as addresses
from aop.net.authorities import CA_FILE, ca_file
from aop.net.origin import Endpoint
from aop.serving.unit.unit_settings import Descriptors, Serving, Stopping, read_max_connections, read_stopping
from aop.telemetry.settings import TelemetrySettings, read_telemetry_settings

LISTEN_ADDRESS = "PLATFORM_DOOR_LISTEN_ADDRESS"
ORIGIN = "PLATFORM_DOOR_ORIGIN"
GATEWAY_ORIGIN = "PLATFORM_DOOR_GATEWAY_ORIGIN"
ALLOWED_HOSTS = "PLATFORM_DOOR_ALLOWED_HOSTS"
ALLOWED_ORIGINS = "PLATFORM_DOOR_ALLOWED_ORIGINS"
MAX_CALLS = "PLATFORM_DOOR_MAX_IN_FLIGHT_CALLS"
MAX_WATCHES = "PLATFORM_DOOR_MAX_WATCHES"
MAX_JUDGED = 64
"""Bearers that the Gateway is asked about at once; a number of the contract, not of an operator."""
_DEFAULT_ADDRESS = addresses.ListenAddress("127.0.0.1", 8083)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ON_LOOPBACK = frozenset({"127.0.0.1", "::1", "0.0.0.0", "::"})  # noqa: S104  such a listener is there, too


@dataclass(frozen=True)
class DoorSettings:
    listen_address: addresses.ListenAddress
    origin: str
    """The address under which callers know the door, as agent cards show it."""
    gateway_origin: str
    ca_file: Path | None
    allowed_hosts: frozenset[str]
    allowed_origins: frozenset[str]
    max_calls: int
    max_watches: int
    request_max_bytes: int
    answer_max_bytes: int
    max_connections: int | None
    stopping: Stopping
    log_level: str
    telemetry: TelemetrySettings | None
    max_judged: int = MAX_JUDGED

    def for_worker(self, share: WorkerShare) -> "DoorSettings":
        return replace(
            self,
            max_calls=share.of(self.max_calls),
            max_watches=share.of(self.max_watches),
            max_judged=share.of(self.max_judged),
            max_connections=None if self.max_connections is None else share.of(self.max_connections),
        )

    @property
    def serving(self) -> Serving:
        use = Descriptors(self.max_calls + self.max_watches + self.max_judged, 0, f"{MAX_CALLS}, {MAX_WATCHES}")
        return Serving(self.listen_address, LISTEN_ADDRESS, self.stopping, self.max_connections, use)


def read_door_settings(environment: Mapping[str, str]) -> DoorSettings:
    reader = read.SettingsReader(environment)
    slots = read.integer(1, 100_000)
    listen = reader.optional(LISTEN_ADDRESS, addresses.listen_address, _DEFAULT_ADDRESS) or _DEFAULT_ADDRESS
    origin = reader.optional(ORIGIN, addresses.origin, listen.origin) or listen.origin
    hosts: Sequence[str] = reader.optional(ALLOWED_HOSTS, _hosts, ())
    origins: Sequence[str] = reader.optional(ALLOWED_ORIGINS, addresses.origin_list, ())
    settings = DoorSettings(
        listen_address=listen,
        origin=origin,
        gateway_origin=reader.optional(GATEWAY_ORIGIN, addresses.origin, "http://127.0.0.1:8080"),
        ca_file=reader.optional(CA_FILE, ca_file, None),
        allowed_hosts=frozenset(hosts or [Endpoint.parse(origin).authority, *_own(listen)]),
        allowed_origins=frozenset(origins or [origin]),
        max_calls=reader.optional(MAX_CALLS, slots, 1024),
        max_watches=reader.optional(MAX_WATCHES, slots, 1024),
        request_max_bytes=reader.optional("PLATFORM_DOOR_REQUEST_MAX_BYTES", read.byte_count, 1_114_112),
        answer_max_bytes=reader.optional("PLATFORM_DOOR_ANSWER_MAX_BYTES", read.byte_count, 9_437_184),
        max_connections=read_max_connections(reader),
        stopping=read_stopping(reader),
        log_level=reader.optional("PLATFORM_LOG_LEVEL", read.choice("debug", "info", "warning", "error"), "info"),
        telemetry=read_telemetry_settings(reader),
    )
    if settings.gateway_origin in {listen.origin, origin}:
        reader.refuse(GATEWAY_ORIGIN, "must not be an origin of the door itself")
    reader.conclude()
    return settings


def _own(listen: addresses.ListenAddress) -> list[str]:
    """What the Host header of a program on the same machine may be; the names for others are in the settings."""
    own = listen.origin.removeprefix("http://")
    return [own, *(f"{name}:{listen.port}" for name in _LOOPBACK if listen.host in _ON_LOOPBACK)]


def _hosts(text: str) -> Sequence[str]:
    hosts = tuple(text.split(","))
    try:
        if all(Endpoint.parse(f"http://{host}").authority == host for host in hosts):
            return hosts
    except ValueError:
        pass
    raise ValueError("must be host or host:port entries as in a Host header, with commas between them")
