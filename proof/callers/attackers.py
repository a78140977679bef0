"""Hostile callers, a connection each: slow heads, slow bodies, and readers who take little or nothing."""

import asyncio
import random
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import uvloop

_ESTABLISHED = "01"
SMALL_WINDOW = (socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
SEGMENTS = (socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)
"""As on a network; loopback itself has much larger ones."""


@dataclass(frozen=True)
class Attacker:
    """Sends its beginning at once, then perhaps a byte at each tick; at each tick it takes so many bytes, or none."""

    start: bytes
    port: int
    sends: bool = False
    takes: int = 65536
    option: tuple[int, int, int] = SEGMENTS
    tick: float = 1.0
    """Seconds."""
    again_seconds: float = 2.0
    """One that was cut off comes back within so long, so that not all come back at once."""


@dataclass
class Fate:
    """Of one connection: how old it got, whether the platform ended it, and what it took."""

    age: float = 0.0
    """When its end was noticed: after the tick in which it came."""
    open_at: float = 0.0
    """How old it was when it was last seen open: an attacker that is late to look makes no unit late."""
    cut: bool = False
    status: str = ""
    """The first line of its answer."""
    taken: int = 0
    _began: float = field(default_factory=time.monotonic)

    def take(self, sock: socket.socket, size: int) -> bool:
        """False at the end of the connection."""
        try:
            piece = sock.recv(size)
        except BlockingIOError:
            return True
        self.status = self.status or piece.split(b"\r\n")[0].decode("latin-1")
        self.taken += len(piece)
        return bool(piece)

    def begin(self) -> None:
        self._began = time.monotonic()

    def is_open(self) -> None:
        self.open_at = time.monotonic() - self._began

    def ended(self, *, cut: bool) -> "Fate":
        self.age, self.cut = time.monotonic() - self._began, cut
        return self


async def attack(attacker: Attacker, until: float) -> Fate:
    """One connection, until it is cut off or the time is over."""
    fate, loop = Fate(), asyncio.get_running_loop()
    with socket.socket() as sock, suppress(ConnectionError):
        sock.setsockopt(*attacker.option)
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", attacker.port))
        fate.begin()
        await loop.sock_sendall(sock, attacker.start)
        while time.monotonic() < until:
            await asyncio.sleep(attacker.tick)
            if attacker.sends:
                sock.send(b"x")
            open_still = (
                fate.take(sock, attacker.takes)
                if attacker.takes
                else sock.getsockname()[1] in _served(attacker.port, int(time.monotonic()))
            )
            if not open_still:
                break
            fate.is_open()
        else:
            return fate.ended(cut=False)
    return fate.ended(cut=True)


async def _keep_up(attacker: Attacker, until: float) -> list[Fate]:
    """One after the other: whoever is cut off is replaced."""
    fates: list[Fate] = []
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(left, random.uniform(0, attacker.again_seconds if fates else 2.0)))
        fates.append(await attack(attacker, until))
    return fates


def besiege(kinds: dict[str, Sequence[Attacker]], seconds: float) -> dict[str, list[Fate]]:
    """All of them at any time, for so long; to be done in a process of its own."""

    async def all_of(attackers: Sequence[Attacker], until: float) -> list[Fate]:
        slots = await asyncio.gather(*(_keep_up(each, until) for each in attackers))
        return [fate for fates in slots for fate in fates]

    async def all_kinds() -> list[list[Fate]]:
        until = time.monotonic() + seconds
        return await asyncio.gather(*(all_of(attackers, until) for attackers in kinds.values()))

    return dict(zip(kinds, uvloop.run(all_kinds()), strict=True))


@lru_cache(maxsize=1)
def _served(port: int, _second: int) -> set[int]:
    """The other ends of the connections that a server still has, looked up once a second.

    Who reads and sends nothing never learns that it was dropped, so the server's end must tell.
    """
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        if state == _ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
            found.add(int(remote.rpartition(":")[2], 16))
    return found
