"""Settings of the Control Plane (contract 16.1 and 16.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aop.base import settings as read
from aop.base.ids import is_safe_identifier
from aop.base.settings import Secret
from aop.base.share import WorkerShare
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

LISTEN_ADDRESS = "PLATFORM_LISTEN_ADDRESS"
DATABASE_URL = "PLATFORM_DATABASE_URL"
MAX_INVOCATIONS = "PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS"
MAX_REQUESTS = "PLATFORM_GATEWAY_MAX_IN_FLIGHT_REQUESTS"
_ROUTER_ORIGIN = "PLATFORM_ROUTER_INTERNAL_ORIGIN"
_CHALLENGE_TTL = "PLATFORM_ENDPOINT_CHALLENGE_TTL_SECONDS"
_VERIFICATION_TIMEOUT = "PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS"
OIDC_PRINCIPAL_PREFIX = "PLATFORM_OIDC_PRINCIPAL_PREFIX"
_OIDC = ("PLATFORM_OIDC_ISSUER", "PLATFORM_OIDC_AUDIENCE", "PLATFORM_OIDC_JWKS_URL", OIDC_PRINCIPAL_PREFIX)
_MAX_PREFIX = 32
_LOCAL_CONSOLE = "http://127.0.0.1:8082"


@dataclass(frozen=True)
class OidcSettings:
    issuer: str
    audience: str
    jwks_url: str
    principal_claim: str
    principal_prefix: str
    """Begins every principal of the provider and no principal of a token of ours."""


@dataclass(frozen=True)
class ControlPlaneSettings:
    unit: UnitSettings
    listen_address: addresses.ListenAddress
    socket_path: str | None
    database_url: Secret
    router_origin: str
    router_socket_path: str | None
    """Where requests to the Router go, if it listens on this machine; else they go to its origin."""
    router_token: Secret
    internal_principals: ServicePrincipals
    public_agent_origin: str
    cors_allowed_origins: Sequence[str]
    card_max_bytes: int
    request_max_bytes: int
    metadata_response_max_bytes: int
    gateway_result_max_bytes: int
    max_in_flight_invocations: int
    max_in_flight_requests: int
    challenge_ttl_seconds: int
    verification_timeout_ms: int
    access_token_days: int
    oidc: OidcSettings | None

    def for_worker(self, share: WorkerShare) -> "ControlPlaneSettings":
        return replace(
            self,
            unit=self.unit.for_worker(share),
            max_in_flight_invocations=share.of(self.max_in_flight_invocations),
            max_in_flight_requests=share.of(self.max_in_flight_requests),
        )

    @property
    def serving(self) -> Serving:
        calls = {MAX_INVOCATIONS: self.max_in_flight_invocations, MAX_REQUESTS: self.max_in_flight_requests}
        own = None if self.socket_path is None else UnitSocket(self.socket_path, CONTROL_PLANE_SOCKET)
        return self.unit.serving(self.listen_address, LISTEN_ADDRESS, calls, own)


def read_control_plane_settings(environment: Mapping[str, str]) -> ControlPlaneSettings:
    reader = read.SettingsReader(environment)
    slots = read.integer(1, 100_000)
    listen = addresses.ListenAddress("127.0.0.1", 8080)
    settings = ControlPlaneSettings(
        unit=read_unit_settings(reader),
        listen_address=reader.optional(LISTEN_ADDRESS, addresses.listen_address, listen),
        socket_path=reader.optional(CONTROL_PLANE_SOCKET, addresses.socket_path, None),
        database_url=reader.required(DATABASE_URL, read.database_url),
        router_origin=reader.required(_ROUTER_ORIGIN, addresses.origin),
        router_socket_path=reader.optional(ROUTER_SOCKET, addresses.socket_path, None),
        router_token=reader.required("PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", read.secret_token),
        internal_principals=reader.required("PLATFORM_INTERNAL_PRINCIPALS_JSON", ServicePrincipals.parse),
        public_agent_origin=reader.optional("PLATFORM_PUBLIC_AGENT_ORIGIN", addresses.origin, _LOCAL_CONSOLE),
        cors_allowed_origins=reader.optional("PLATFORM_CORS_ALLOWED_ORIGINS", addresses.origin_list, ()),
        card_max_bytes=reader.optional("PLATFORM_CARD_MAX_BYTES", read.byte_count, 1_048_576),
        request_max_bytes=reader.optional("PLATFORM_REQUEST_MAX_BYTES", read.byte_count, 1_048_576),
        metadata_response_max_bytes=reader.optional("PLATFORM_METADATA_RESPONSE_MAX_BYTES", read.byte_count, 8_388_608),
        gateway_result_max_bytes=reader.optional("PLATFORM_GATEWAY_RESULT_MAX_BYTES", read.byte_count, 9_437_184),
        max_in_flight_invocations=reader.optional(MAX_INVOCATIONS, slots, 512),
        max_in_flight_requests=reader.optional(MAX_REQUESTS, slots, 1024),
        challenge_ttl_seconds=reader.optional(_CHALLENGE_TTL, read.integer(1, 3600), 600),
        verification_timeout_ms=reader.optional(_VERIFICATION_TIMEOUT, read.integer(1, 60_000), 10_000),
        access_token_days=reader.optional("PLATFORM_ACCESS_TOKEN_DAYS", read.integer(1, 3650), 90),
        oidc=_read_oidc(reader, environment),
    )
    _require_agreement(reader, settings)
    reader.conclude()
    return settings


def _read_oidc(reader: read.SettingsReader, environment: Mapping[str, str]) -> OidcSettings | None:
    claim = reader.optional("PLATFORM_OIDC_PRINCIPAL_CLAIM", read.visible_ascii, "sub")
    present = [name for name in _OIDC if name in environment]
    if not present:
        return None
    issuer, audience, jwks_url, prefix = _OIDC
    return OidcSettings(
        issuer=reader.required(issuer, read.visible_ascii),
        audience=reader.required(audience, read.visible_ascii),
        jwks_url=reader.required(jwks_url, addresses.http_url),
        principal_claim=claim,
        principal_prefix=reader.required(prefix, principal_prefix),
    )


def principal_prefix(text: str) -> str:
    if not is_safe_identifier(text) or not text.endswith(":") or len(text) > _MAX_PREFIX:
        raise ValueError(f"must be a safe identifier of at most {_MAX_PREFIX} characters that ends in ':'")
    return text


def _require_agreement(reader: read.SettingsReader, settings: ControlPlaneSettings) -> None:
    """Rules between settings; a value already refused is None and takes no part."""
    if settings.router_origin and settings.listen_address and settings.router_origin == settings.listen_address.origin:
        reader.refuse(_ROUTER_ORIGIN, "must not be the Control Plane's own origin")
    require_two_sockets(reader, settings.socket_path, settings.router_socket_path)
    ttl, timeout = settings.challenge_ttl_seconds, settings.verification_timeout_ms
    if ttl and timeout and timeout >= ttl * 1000:
        reader.refuse(_VERIFICATION_TIMEOUT, f"must be shorter than {_CHALLENGE_TTL}")
