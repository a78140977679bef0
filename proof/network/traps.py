"""A listener on every address there is, which nobody may ever reach; and the proof that anybody could."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from proof.fault_proxy import FaultProxy

PORT = 7443


@dataclass
class Traps:
    """`seen` counts connections by the address that was dialled, but for those in `led_on`, which are no traps."""

    seen: Counter[str] = field(default_factory=Counter)
    led_on: dict[str, FaultProxy] = field(default_factory=dict)

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled = writer.get_extra_info("sockname")[0]
        if dialled in self.led_on:
            await self.led_on[dialled].meet(reader, writer)
            return
        self.seen[dialled] += 1
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def reachable(self, addresses: Iterable[str]) -> set[str]:
        """Those at which a plain connection falls into the trap; forgets that it did."""
        found = set()
        for address in addresses:
            with suppress(OSError):
                async with asyncio.timeout(1):
                    _, writer = await asyncio.open_connection(address, PORT)
                    writer.close()
                found.add(address)
        await asyncio.sleep(0.05)
        self.seen.clear()
        return found


@asynccontextmanager
async def set_traps() -> AsyncIterator[Traps]:
    traps = Traps()
    servers = []
    for family, every in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):  # noqa: S104  that is the point
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((every, PORT))
        servers.append(await asyncio.start_server(traps.meet, sock=sock, backlog=512))
    try:
        yield traps
    finally:
        for server in servers:
            server.close()
