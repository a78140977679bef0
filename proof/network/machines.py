"""Machines of the tests' own: namespaces by the kernel's own interface, and a network between them on which each packet
is carried, dropped, held back or overtaken, as set.

`python -m proof.network.machines router EXCHANGE ADDRESS` starts a unit in a namespace with loopback and one interface,
whose other end is handed in at the exchange. No program and no package is needed for it, only the right to have a
namespace at all.
"""

import asyncio
import ctypes
import fcntl
import os
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aop.cli.operator import units

_MAX_BYTES = 65536
_CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
_IFF_UP_RUNNING = 0x41
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_RTM_NEWROUTE, _NLM_REQUEST_ACK_CREATE, _RTA_OIF = 24, 0x405, 4
_TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_HOST, _TYPE_LOCAL = 255, 3, 254, 2
_libc = ctypes.CDLL(None, use_errno=True)


def bind_over(source: Path, target: Path) -> None:
    """Makes the one appear in the place of the other, in this mount namespace."""
    _require(_libc.mount(os.fsencode(source), os.fsencode(target.resolve()), None, _MS_BIND, None))


def loopback_up() -> None:
    _interface("lo", _SIOCSIFFLAGS, struct.pack("H14x", _IFF_UP_RUNNING))


def own_every_address() -> None:
    """From here on every address of both families is this machine's: whoever is dialled, it is a listener here."""
    for family in (socket.AF_INET, socket.AF_INET6):
        route = (0, 0, 0, _TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_HOST, _TYPE_LOCAL, 0)
        body = struct.pack("BBBBBBBBI", family, *route)
        body += struct.pack("HHI", 8, _RTA_OIF, socket.if_nametoindex("lo"))
        head = struct.pack("IHHII", 16 + len(body), _RTM_NEWROUTE, _NLM_REQUEST_ACK_CREATE, 1, 0)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
            link.send(head + body)
            (failure,) = struct.unpack_from("i", link.recv(4096), 16)
        if failure:
            raise OSError(-failure, os.strerror(-failure))


def packet_device(address: str) -> int:
    """An interface with this address in a network of 256; what is sent by it can be read from the descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"wire", _IFF_TUN | _IFF_NO_PI))
    for request, value in ((_SIOCSIFADDR, address), (_SIOCSIFNETMASK, "255.255.255.0")):
        _interface("wire", request, struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(value)))
    _interface("wire", _SIOCSIFFLAGS, struct.pack("H14x", _IFF_UP_RUNNING))
    return device


def _interface(name: str, request: int, value: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, request, struct.pack("16s", name.encode()) + value + bytes(8))


def _require(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@dataclass(frozen=True)
class Weather:
    """Of one direction between two machines. A delay is drawn anew for each packet, so that some overtake others."""

    loss: float = 0.0
    delay: tuple[float, float] = (0.0, 0.0)


CUT = Weather(loss=1.0)


@dataclass
class Wire:
    """`hits` counts what was really done to packets."""

    chance: random.Random
    hits: Counter[str] = field(default_factory=Counter)
    _devices: dict[str, int] = field(default_factory=dict)
    _weather: dict[tuple[str, str], Weather] = field(default_factory=dict)
    _last_due: dict[tuple[str, str], float] = field(default_factory=dict)

    def plug_in(self, address: str, device: int) -> None:
        self._devices[address] = device
        asyncio.get_running_loop().add_reader(device, self._carry, device)

    def set(self, weather: Weather, *ways: tuple[str, str]) -> None:
        """From the first to the second of each."""
        for way in ways:
            self._weather[way] = weather

    def clear(self) -> None:
        self._weather.clear()

    def close(self) -> None:
        for device in self._devices.values():
            asyncio.get_running_loop().remove_reader(device)
            os.close(device)

    def _carry(self, device: int) -> None:
        with suppress(BlockingIOError):
            while packet := os.read(device, _MAX_BYTES):
                if packet[0] >> 4 == 4:
                    self._send(packet)

    def _send(self, packet: bytes) -> None:
        way = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
        target, weather = self._devices.get(way[1]), self._weather.get(way, Weather())
        if target is None:
            return
        if weather.loss and self.chance.random() < weather.loss:
            self.hits["packet lost"] += 1
            return
        if weather.delay[1] == 0:
            _write(target, packet)
            return
        loop = asyncio.get_running_loop()
        due = loop.time() + self.chance.uniform(*weather.delay)
        self.hits["packet late"] += 1
        self.hits["packet out of order"] += due < self._last_due.get(way, 0.0)
        self._last_due[way] = max(due, self._last_due.get(way, 0.0))
        loop.call_at(due, _write, target, packet)


def _write(device: int, packet: bytes) -> None:
    with suppress(OSError):  # full, or gone: a packet is lost, as packets are
        os.write(device, packet)


@asynccontextmanager
async def wired(chance: random.Random, exchange: Path) -> AsyncIterator[Wire]:
    """`exchange` is where machines hand in their end of the wire."""
    wire = Wire(chance)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(exchange))
    listener.listen()
    listener.setblocking(False)
    loop = asyncio.get_running_loop()

    def take() -> None:
        with suppress(BlockingIOError):
            near, _ = listener.accept()
            with near:
                address, devices, _, _ = socket.recv_fds(near, 64, 1)
                wire.plug_in(address.decode(), devices[0])
                near.send(b"in")

    loop.add_reader(listener, take)
    try:
        yield wire
    finally:
        loop.remove_reader(listener)
        listener.close()
        wire.close()


def main(name: str, exchange: str, address: str) -> int:
    _require(_libc.unshare(_CLONE_NEWNET))
    loopback_up()
    device = packet_device(address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as handing:
        handing.connect(exchange)
        socket.send_fds(handing, [address.encode()], [device])
        handing.recv(2)
    os.close(device)
    return units.run_unit(name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
