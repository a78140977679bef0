"""Settings of the Console (contract 16.4); none of them is a secret."""

from collections.abc import Mapping
from dataclasses import dataclass

from aop.base import settings as read
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint
from aop.serving.unit.unit_settings import Serving, Stopping, read_drain_seconds, read_max_connections

LISTEN_ADDRESS = "PLATFORM_CONSOLE_LISTEN_ADDRESS"
API_BASE_URL = "VITE_PLATFORM_API_BASE_URL"
PUBLIC_AGENT_ORIGIN = "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN"
DOOR_ORIGIN = "VITE_PLATFORM_DOOR_ORIGIN"
OIDC_ISSUER = "VITE_PLATFORM_OIDC_ISSUER"
OIDC_CLIENT_ID = "VITE_PLATFORM_OIDC_CLIENT_ID"
OIDC_SCOPE = "VITE_PLATFORM_OIDC_SCOPE"


@dataclass(frozen=True)
class SignInProvider:
    """An OpenID provider where people sign in; the Console is a public client of it."""

    issuer: str
    client_id: str
    scope: str

    @property
    def origin(self) -> str:
        return Endpoint.parse(self.issuer).origin


@dataclass(frozen=True)
class ConsoleSettings:
    listen_address: addresses.ListenAddress
    api_base_url: str
    public_agent_origin: str
    door_origin: str | None
    provider: SignInProvider | None
    log_level: str
    drain_seconds: int
    max_connections: int | None

    @property
    def serving(self) -> Serving:
        return Serving(self.listen_address, LISTEN_ADDRESS, Stopping(self.drain_seconds), self.max_connections)


def read_console_settings(environment: Mapping[str, str]) -> ConsoleSettings:
    reader = read.SettingsReader(environment)
    listen = addresses.ListenAddress("127.0.0.1", 8082)
    levels = read.choice("debug", "info", "warning", "error")
    settings = ConsoleSettings(
        listen_address=reader.optional(LISTEN_ADDRESS, addresses.listen_address, listen),
        api_base_url=reader.optional(API_BASE_URL, addresses.origin, "http://127.0.0.1:8080"),
        public_agent_origin=reader.optional(PUBLIC_AGENT_ORIGIN, addresses.origin, "http://127.0.0.1:8082"),
        door_origin=reader.optional(DOOR_ORIGIN, addresses.origin, None),
        provider=_read_provider(reader, environment),
        log_level=reader.optional("PLATFORM_LOG_LEVEL", levels, "info"),
        drain_seconds=read_drain_seconds(reader),
        max_connections=read_max_connections(reader),
    )
    reader.conclude()
    return settings


def _read_provider(reader: read.SettingsReader, environment: Mapping[str, str]) -> SignInProvider | None:
    scope = reader.optional(OIDC_SCOPE, _scope, "openid")
    if OIDC_ISSUER not in environment and OIDC_CLIENT_ID not in environment:
        return None
    return SignInProvider(
        issuer=reader.required(OIDC_ISSUER, addresses.http_url),
        client_id=reader.required(OIDC_CLIENT_ID, read.visible_ascii),
        scope=scope,
    )


def _scope(text: str) -> str:
    words = [read.visible_ascii(word) for word in text.split(" ") if word]
    if "openid" not in words or " ".join(words) != text:
        raise ValueError("must be scopes with one blank between them, openid among them")
    return text
