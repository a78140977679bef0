"""Clients of the MCP package, connected to the door by HTTP or through `aop mcp`, in both eras of the protocol."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.door import OpenDoor
from tests.support.loop import SPACE
from tests.support.waiting import PATIENCE_SECONDS

MODERN, HANDSHAKE = "auto", "legacy"
"""The newest version that both know, and the handshake of the one before it."""
VERSIONS = {MODERN: "2026-07-28", HANDSHAKE: "2025-11-25"}
WAYS = [("http", MODERN), ("http", HANDSHAKE), ("stdio", MODERN), ("stdio", HANDSHAKE)]


@dataclass
class Heard:
    """What the server said without being asked."""

    methods: list[str] = field(default_factory=list)

    async def note(self, message: Any) -> None:
        self.methods.append(str(getattr(message, "method", type(message).__name__)))


@asynccontextmanager
async def connected(door: OpenDoor, way: str, mode: str, heard: Heard | None = None) -> AsyncIterator[Client]:
    handler = None if heard is None else heard.note
    if way == "http":
        headers = {"Authorization": f"Bearer {door.platform.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
            transport = streamable_http_client(f"{door.unit.origin}/mcp/{SPACE}", http_client=http)
            async with Client(transport, mode=mode, message_handler=handler, cache=None) as client:
                yield client
        return
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ},  # noqa: TID251
        "AOP_GATEWAY": door.platform.gateway.origin,
        "AOP_TOKEN": door.platform.token,
    }
    command = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "aop", "mcp", "--workspace", SPACE], env=environment
    )
    async with Client(stdio_client(command), mode=mode, message_handler=handler, cache=None) as client:
        yield client
