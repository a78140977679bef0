"""A door on a real socket before a running platform of the tests."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aop.door.app import PROTOCOLS, build
from aop.door.protocol import Speaks
from aop.door.settings import read_door_settings
from aop.net.server import listening_socket
from tests.support.loop import Platform
from tests.support.units import RunningUnit, running


@dataclass(frozen=True)
class OpenDoor:
    """`unit.origin` is the address under which its cards show it, and what its Host check asks for."""

    unit: RunningUnit
    platform: Platform

    @property
    def authorization(self) -> tuple[bytes, bytes]:
        """Of the owner of the Workspace."""
        return (b"authorization", f"Bearer {self.platform.token}".encode())


@asynccontextmanager
async def running_door(
    platform: Platform, protocols: Sequence[Speaks] = PROTOCOLS, **settings: str
) -> AsyncIterator[OpenDoor]:
    """`settings` are further settings of its environment."""
    listener = listening_socket("127.0.0.1", 0)
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    environment = {
        "PLATFORM_DOOR_LISTEN_ADDRESS": address,
        "PLATFORM_DOOR_GATEWAY_ORIGIN": platform.gateway.origin,
        **settings,
    }
    found = read_door_settings(environment)
    async with running(lambda: build(found, protocols), listener) as unit:
        yield OpenDoor(unit, platform)
