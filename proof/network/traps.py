"""A listener on every address there is, which nobody may ever reach, and a name server whose answers are scripted."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import cast

from proof.fault_proxy import FaultProxy

PORT = 7443
_A, _AAAA = 1, 28
_NO_SUCH_NAME = 3


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
        sock = socket.create_server((every, PORT), family=family)
        servers.append(await asyncio.start_server(traps.meet, sock=sock, backlog=512))
    try:
        yield traps
    finally:
        for server in servers:
            server.close()


@dataclass
class Names(asyncio.DatagramProtocol):
    """`answers` has for each name the answers of one look-up after the other, the last one for ever.

    A look-up is a question for each family, that for IPv4 first.
    """

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    lookups: Counter[str] = field(default_factory=Counter)
    _transport: asyncio.DatagramTransport | None = None

    def script(self, name: str, *turns: Sequence[str]) -> None:
        self.answers[name] = list(turns)
        del self.lookups[name]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, content: bytes, sender: tuple[str, int]) -> None:
        assert self._transport is not None
        name, behind = _name(content, 12)
        (kind,) = struct.unpack_from("!H", content, behind)
        found = self._addresses(name, kind)
        question = content[12 : behind + 4]
        flags = 0x8580 | (_NO_SUCH_NAME if found is None else 0)
        head = content[:2] + struct.pack("!HHHHH", flags, 1, len(found or ()), 0, 0)
        records = [struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(packed)) + packed for packed in found or ()]
        self._transport.sendto(head + question + b"".join(records), sender)

    def _addresses(self, name: str, kind: int) -> list[bytes] | None:
        turns = self.answers.get(name)
        if turns is None:
            return None
        if kind == _A:
            self.lookups[name] += 1
        turn = turns[min(max(self.lookups[name], 1), len(turns)) - 1]
        version = {_A: 4, _AAAA: 6}.get(kind)
        return [address.packed for address in map(ip_address, turn) if address.version == version]


def _name(content: bytes, at: int) -> tuple[str, int]:
    labels = []
    while size := content[at]:
        labels.append(content[at + 1 : at + 1 + size].decode("latin-1").lower())
        at += 1 + size
    return ".".join(labels), at + 1


@asynccontextmanager
async def name_server() -> AsyncIterator[Names]:
    names, here = Names(), ("127.0.0.1", 53)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: names, local_addr=here)
    try:
        yield names
    finally:
        transport.close()
