"""Networks of the proof's own: one for each node, joined by a bridge, and each cut off by taking its cable out."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

_PREFIX = "10.213.77"
BRIDGE_HOST = 1


class NotPossible(Exception):
    """This machine allows no such networks."""


@dataclass(frozen=True)
class Network:
    """`cable` is the end of its connection on this side."""

    name: str
    cable: str
    address: str

    def inside(self, *command: str) -> Sequence[str]:
        return ("ip", "netns", "exec", self.name, *command)

    async def cut(self) -> None:
        await _ip("link", "set", self.cable, "down")

    async def join(self) -> None:
        await _ip("link", "set", self.cable, "up")


@asynccontextmanager
async def networks(count: int) -> AsyncIterator[Sequence[Network]]:
    """Gone with the scope, and whatever an earlier run of this process number left before it."""
    mark = f"aop{os.getpid() % 100000}"
    made = [
        Network(f"{mark}n{number}", f"{mark}c{number}", f"{_PREFIX}.{10 + number}") for number in range(1, count + 1)
    ]
    try:
        await _ip("link", "add", mark, "type", "bridge")
        await _ip("addr", "add", f"{_PREFIX}.{BRIDGE_HOST}/24", "dev", mark)
        await _ip("link", "set", mark, "up")
        for network in made:
            await _ip("netns", "add", network.name)
            await _ip("link", "add", network.cable, "type", "veth", "peer", "name", "eth0", "netns", network.name)
            await _ip("link", "set", network.cable, "master", mark, "up")
            for inside in (
                ("addr", "add", f"{network.address}/24", "dev", "eth0"),
                ("link", "set", "eth0", "up"),
                ("link", "set", "lo", "up"),
            ):
                await _ip("-n", network.name, *inside)
        yield made
    finally:
        for network in made:
            await _ip("netns", "del", network.name, check=False)
        await _ip("link", "del", mark, check=False)


async def _ip(*arguments: str, check: bool = True) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            "ip", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as failure:
        raise NotPossible(str(failure)) from failure
    said, _ = await process.communicate()
    if check and process.returncode:
        raise NotPossible(f"ip {' '.join(arguments)}: {said.decode().strip()}")
