"""Settings of the A2A Router (contract 16.1 and 16.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aop.base import settings as read
from aop.base.settings import Secret, SettingProblem, SettingsRefused
from aop.base.share import WorkerShare
from aop.contracts.signing import SigningKey
from aop.net import address_settings as addresses
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.unit.unit_settings import (
    CONTROL_PLANE_SOCKET,
    ROUTER_SOCKET,
    Serving,
    UnitSettings,
    UnitSocket,
    read_unit_settings,
    require_two_sockets,
)

ROUTER_ID = "PLATFORM_ROUTER_ID"
LISTEN_ADDRESS = "PLATFORM_ROUTER_LISTEN_ADDRESS"
DATABASE_URL = "PLATFORM_ROUTER_DATABASE_URL"
MAX_INVOCATIONS = "PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS"
MAX_CHILDREN = "PLATFORM_ROUTER_MAX_IN_FLIGHT_CHILDREN"
MAX_ID_WITH_WORKERS = 120
_CONTROL_PLANE_ORIGIN = "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN"
_LOCAL_ROUTER = "http://127.0.0.1:8081"


@dataclass(frozen=True)
class CredentialSettings:
    issuer: str
    key_id: str
    private_key: SigningKey
    ttl_seconds: int


@dataclass(frozen=True)
class RouterSettings:
    unit: UnitSettings
    router_id: str
    listen_address: addresses.ListenAddress
    socket_path: str | None
    database_url: Secret
    control_plane_origin: str
    control_plane_socket_path: str | None
    """Where requests to the Control Plane go, if it listens on this machine; else they go to its origin."""
    control_plane_token: Secret
    service_principals: ServicePrincipals
    agent_origin: str
    credential: CredentialSettings
    control_plane_response_limit_bytes: int
    agent_response_limit_bytes: int
    a2a_event_limit_bytes: int
    resolve_timeout_ms: int
    connect_timeout_ms: int
    ledger_write_timeout_ms: int
    max_in_flight_invocations: int
    max_in_flight_children: int
    schema_work_ms: int
    card_cache_bytes: int

    def for_worker(self, share: WorkerShare) -> "RouterSettings":
        """Its share of the limits, and a name of its own to write as."""
        return replace(
            self,
            unit=self.unit.for_worker(share),
            router_id=f"{self.router_id}.{share.number}",
            max_in_flight_invocations=share.of(self.max_in_flight_invocations),
            max_in_flight_children=share.of(self.max_in_flight_children),
            card_cache_bytes=share.of(self.card_cache_bytes),
        )

    def require_worker_id(self) -> None:
        """A worker writes as this id with a dot and its number behind it, and that must name nothing else."""
        if "." in self.router_id or len(self.router_id) > MAX_ID_WITH_WORKERS:
            reason = f"must have no dot and at most {MAX_ID_WITH_WORKERS} characters with --workers"
            raise SettingsRefused([SettingProblem(ROUTER_ID, reason)])

    @property
    def serving(self) -> Serving:
        calls = {MAX_INVOCATIONS: self.max_in_flight_invocations, MAX_CHILDREN: self.max_in_flight_children}
        own = None if self.socket_path is None else UnitSocket(self.socket_path, ROUTER_SOCKET)
        return self.unit.serving(self.listen_address, LISTEN_ADDRESS, calls, own)


def read_router_settings(environment: Mapping[str, str]) -> RouterSettings:
    reader = read.SettingsReader(environment)
    slots, bound = read.integer(1, 100_000), read.integer(1, 60_000)
    listen = addresses.ListenAddress("127.0.0.1", 8081)
    settings = RouterSettings(
        unit=read_unit_settings(reader),
        router_id=reader.required(ROUTER_ID, read.identifier),
        listen_address=reader.optional(LISTEN_ADDRESS, addresses.listen_address, listen),
        socket_path=reader.optional(ROUTER_SOCKET, addresses.socket_path, None),
        database_url=reader.required(DATABASE_URL, read.database_url),
        control_plane_origin=reader.required(_CONTROL_PLANE_ORIGIN, addresses.origin),
        control_plane_socket_path=reader.optional(CONTROL_PLANE_SOCKET, addresses.socket_path, None),
        control_plane_token=reader.required("PLATFORM_CONTROL_PLANE_SERVICE_TOKEN", read.secret_token),
        service_principals=reader.required("PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON", ServicePrincipals.parse),
        agent_origin=reader.optional("PLATFORM_ROUTER_AGENT_ORIGIN", addresses.origin, _LOCAL_ROUTER),
        credential=_read_credential(reader),
        control_plane_response_limit_bytes=reader.optional(
            "PLATFORM_ROUTER_CONTROL_PLANE_RESPONSE_LIMIT_BYTES", read.byte_count, 2_097_152
        ),
        agent_response_limit_bytes=reader.optional(
            "PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES", read.byte_count, 8_388_608
        ),
        a2a_event_limit_bytes=reader.optional("PLATFORM_ROUTER_A2A_EVENT_LIMIT_BYTES", read.byte_count, 1_048_576),
        resolve_timeout_ms=reader.optional("PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS", bound, 5000),
        connect_timeout_ms=reader.optional("PLATFORM_ROUTER_CONNECT_TIMEOUT_MS", bound, 5000),
        ledger_write_timeout_ms=reader.optional("PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS", bound, 5000),
        max_in_flight_invocations=reader.optional(MAX_INVOCATIONS, slots, 512),
        max_in_flight_children=reader.optional(MAX_CHILDREN, slots, 512),
        schema_work_ms=reader.optional("PLATFORM_ROUTER_SCHEMA_WORK_MS", bound, 1000),
        card_cache_bytes=reader.optional("PLATFORM_ROUTER_CARD_CACHE_BYTES", read.byte_count, 128 * 1024 * 1024),
    )
    own = {settings.listen_address.origin if settings.listen_address else None, settings.agent_origin}
    if settings.control_plane_origin and settings.control_plane_origin in own:
        reader.refuse(_CONTROL_PLANE_ORIGIN, "must not be an origin of the Router itself")
    require_two_sockets(reader, settings.control_plane_socket_path, settings.socket_path)
    reader.conclude()
    return settings


def _read_credential(reader: read.SettingsReader) -> CredentialSettings:
    return CredentialSettings(
        issuer=reader.optional("PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER", addresses.origin, _LOCAL_ROUTER),
        key_id=reader.optional("PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID", read.identifier, "router-1"),
        private_key=reader.required("PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL", SigningKey.parse),
        ttl_seconds=reader.optional("PLATFORM_ROUTER_AGENT_CREDENTIAL_TTL_SECONDS", read.integer(1, 295), 60),
    )
