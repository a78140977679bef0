"""Settings of an Agent (contract 16.4), and the one line that puts the guard in front of it."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aop.agent.call.calls import NestedCalls
from aop.agent.guard.guard import DEFAULT_MAX_BODY, OPEN_PATHS, Guard
from aop.agent.guard.proofs import ProofDirectory
from aop.agent.guard.replay import ReplayMemory
from aop.agent.guard.verifier import Trust, Verifier
from aop.base import settings as read
from aop.contracts.signing import VerifyKey
from aop.net import address_settings as addresses
from aop.net.asgi import ASGIApp
from aop.net.sockets import inherited_socket

ISSUER = "PLATFORM_AGENT_ROUTER_ISSUER"
AUDIENCE = "PLATFORM_AGENT_ROUTER_AUDIENCE"
KEY_ID = "PLATFORM_AGENT_ROUTER_KEY_ID"
PUBLIC_KEY = "PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL"
REQUEST_MAX_BYTES = "PLATFORM_AGENT_REQUEST_MAX_BYTES"
ROUTER_URL = "PLATFORM_AGENT_ROUTER_URL"
LISTEN_ADDRESS = "PLATFORM_AGENT_LISTEN_ADDRESS"
CHALLENGE_DIRECTORY = "PLATFORM_AGENT_CHALLENGE_DIRECTORY"

DEVELOPMENT_ADDRESS = addresses.ListenAddress("127.0.0.1", 8099)
_LOCAL_ROUTER = "http://127.0.0.1:8081"


@dataclass(frozen=True)
class AgentSettings:
    trust: Trust
    request_max_bytes: int
    router_url: str
    listen_address: addresses.ListenAddress
    challenge_directory: Path

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, listen: addresses.ListenAddress = DEVELOPMENT_ADDRESS
    ) -> Self:
        """Reads PLATFORM_AGENT_*; SettingsRefused names every problem at once. `listen` is the Agent's own default."""
        reader = read.SettingsReader(os.environ if environment is None else environment)  # noqa: TID251
        settings = cls(
            trust=Trust(
                issuer=reader.required(ISSUER, addresses.origin),
                audience=reader.required(AUDIENCE, addresses.origin),
                key_id=reader.required(KEY_ID, read.identifier),
                public_key=reader.required(PUBLIC_KEY, VerifyKey.parse),
            ),
            request_max_bytes=reader.optional(REQUEST_MAX_BYTES, read.byte_count, DEFAULT_MAX_BODY),
            router_url=reader.optional(ROUTER_URL, addresses.origin, _LOCAL_ROUTER),
            listen_address=reader.optional(LISTEN_ADDRESS, addresses.listen_address, listen),
            challenge_directory=reader.required(CHALLENGE_DIRECTORY, _directory),
        )
        reader.conclude()
        return settings


def guarded(app: ASGIApp, settings: AgentSettings | None = None, *, open_paths: frozenset[str] = OPEN_PATHS) -> Guard:
    """The Agent behind its guard; without settings they are read from the environment."""
    used = AgentSettings.from_environment() if settings is None else settings
    return Guard(
        app,
        Verifier(used.trust, ReplayMemory()),
        NestedCalls(used.router_url),
        ProofDirectory(used.challenge_directory),
        max_body=used.request_max_bytes,
        open_paths=open_paths,
    )


def handed_sockets() -> list[socket.socket] | None:
    """The listening socket that the parent of this process handed to it (LISTEN_FDS, as `aop up` and systemd do);
    None when the Agent is to listen by itself."""
    handed = inherited_socket(os.environ)  # noqa: TID251
    return None if handed is None else [handed]


def _directory(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or not path.is_dir():
        raise ValueError("must be the absolute path of a directory")
    return path
