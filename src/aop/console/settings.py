"""Settings of the Console (contract 16.4); none of them is a secret."""

from collections.abc import Mapping
from dataclasses import dataclass

from aop.base import settings as read
from aop.net import address_settings as addresses
from aop.serving.unit_settings import Serving, read_max_connections

LISTEN_ADDRESS = "PLATFORM_CONSOLE_LISTEN_ADDRESS"
API_BASE_URL = "VITE_PLATFORM_API_BASE_URL"
PUBLIC_AGENT_ORIGIN = "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN"
DOOR_ORIGIN = "VITE_PLATFORM_DOOR_ORIGIN"


@dataclass(frozen=True)
class ConsoleSettings:
    listen_address: addresses.ListenAddress
    api_base_url: str
    public_agent_origin: str
    door_origin: str | None
    log_level: str
    max_connections: int | None

    @property
    def serving(self) -> Serving:
        return Serving(self.listen_address, LISTEN_ADDRESS, 0, self.max_connections)


def read_console_settings(environment: Mapping[str, str]) -> ConsoleSettings:
    reader = read.SettingsReader(environment)
    listen = addresses.ListenAddress("127.0.0.1", 8082)
    levels = read.choice("debug", "info", "warning", "error")
    settings = ConsoleSettings(
        listen_address=reader.optional(LISTEN_ADDRESS, addresses.listen_address, listen),
        api_base_url=reader.optional(API_BASE_URL, addresses.origin, "http://127.0.0.1:8080"),
        public_agent_origin=reader.optional(PUBLIC_AGENT_ORIGIN, addresses.origin, "http://127.0.0.1:8082"),
        door_origin=reader.optional(DOOR_ORIGIN, addresses.origin, None),
        log_level=reader.optional("PLATFORM_LOG_LEVEL", levels, "info"),
        max_connections=read_max_connections(reader),
    )
    reader.conclude()
    return settings
