"""The network between machines of the tests' own: each packet is carried, dropped, held back or overtaken, as set."""

import asyncio
import os
import random
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_MAX_BYTES = 65536


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
