"""Hostile callers as a program: slow heads, slow bodies and readers who take nothing, each kind kept at its number.

Reads one attack, attacks for as long as it says, and prints how long each connection was borne.
"""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

import uvloop

from proof.area import print_json, program

_BYTE_SECONDS = 1.0
_TICK_SECONDS = 0.2
_ESTABLISHED = "01"
_SMALL_WINDOW = 4096


@dataclass(frozen=True)
class Attack:
    """So many of each kind at any time. `request` is a whole, good one, for a stream that does not end."""

    ports: Sequence[int]
    """Of the Gateway, and of others that are sent slow heads too."""
    request: str
    seconds: float
    slow_heads: int
    slow_bodies: int
    stalled: int


@dataclass
class Borne:
    """Of one kind: connections made, how old those were that the platform ended, and how old the oldest got."""

    opened: int = 0
    ages: list[float] = field(default_factory=list)
    oldest: float = 0.0
    answers: dict[str, int] = field(default_factory=dict)
    """Status lines, by how often."""

    def closed(self, age: float) -> None:
        self.ages.append(age)
        self.oldest = max(self.oldest, age)


class Trickle(asyncio.Protocol):
    """Sends its beginning at once and a byte a second from then on, until it is cut off."""

    def __init__(self, start: bytes, borne: Borne, living: set["Trickle"]) -> None:
        self._start, self._borne, self._living = start, borne, living
        self._timer: asyncio.TimerHandle | None = None
        self.began = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.began = time.monotonic()
        self._borne.opened += 1
        self._living.add(self)
        self._transport.write(self._start)
        self._next()

    def data_received(self, data: bytes) -> None:
        status = data.split(b"\r\n")[0].decode("latin-1")
        self._borne.answers[status] = self._borne.answers.get(status, 0) + 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self in self._living:
            self._living.discard(self)
            self._borne.closed(time.monotonic() - self.began)

    def leave(self) -> None:
        self._living.discard(self)
        self._transport.abort()

    def _next(self) -> None:
        self._transport.write(b"x")
        self._timer = asyncio.get_running_loop().call_later(_BYTE_SECONDS, self._next)


@dataclass
class Trickles:
    """One kind, kept at its number for as long as the attack lasts."""

    ports: Sequence[int]
    start: bytes
    number: int
    borne: Borne = field(default_factory=Borne)
    living: set[Trickle] = field(default_factory=set)

    async def attack(self, until: float) -> None:
        loop, dialing = asyncio.get_running_loop(), max(1, self.number // 10)
        while time.monotonic() < until:
            for turn in range(min(dialing, self.number - len(self.living))):
                port = self.ports[turn % len(self.ports)]
                await loop.create_connection(lambda: Trickle(self.start, self.borne, self.living), "127.0.0.1", port)
            await asyncio.sleep(_TICK_SECONDS)
        ages = [time.monotonic() - one.began for one in self.living]
        self.borne.oldest = max([self.borne.oldest, *ages])
        for one in tuple(self.living):
            one.leave()


@dataclass
class Stalled:
    """Readers who ask for a stream and take nothing of it; each that is cut off is replaced."""

    port: int
    request: bytes
    number: int
    borne: Borne = field(default_factory=Borne)
    living: dict[socket.socket, float] = field(default_factory=dict)

    async def attack(self, until: float) -> None:
        while time.monotonic() < until:
            # All of them soon; then each that was cut off comes back, but not all at once.
            part = 10 if self.borne.opened < self.number else 100
            for _ in range(min(max(1, self.number // part), self.number - len(self.living))):
                self._open()
            await asyncio.sleep(_TICK_SECONDS)
            served = _served(self.port)
            for sock in [sock for sock in self.living if sock.getsockname()[1] not in served]:
                self.borne.closed(time.monotonic() - self.living.pop(sock))
                sock.close()
        self.borne.oldest = max([self.borne.oldest, *(time.monotonic() - began for began in self.living.values())])
        for sock in self.living:
            sock.close()

    def _open(self) -> None:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_WINDOW)
        sock.connect(("127.0.0.1", self.port))
        sock.sendall(self.request)
        self.borne.opened += 1
        self.living[sock] = time.monotonic()


def _served(port: int) -> set[int]:
    """Of the connections that a server on this port still has, the other ends.

    One that reads and sends nothing never learns that it was dropped, so the server's end must tell.
    """
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        if state == _ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
            found.add(int(remote.rpartition(":")[2], 16))
    return found


async def attacked(attack: Attack) -> dict[str, Borne]:
    head, _, _ = attack.request.encode().partition(b"\r\n\r\n")
    unfinished = head.replace(b"content-length: ", b"content-length: 9") + b"\r\n\r\n"
    kinds: dict[str, Trickles | Stalled] = {
        "slow heads": Trickles(attack.ports, b"POST /v1/agents HTTP/1.1\r\nhost: test\r\nx-slow: ", attack.slow_heads),
        "slow bodies": Trickles(attack.ports[:1], unfinished, attack.slow_bodies),
        "stalled readers": Stalled(attack.ports[0], attack.request.encode(), attack.stalled),
    }
    until = time.monotonic() + attack.seconds
    await asyncio.gather(*(kind.attack(until) for kind in kinds.values()))
    return {name: kind.borne for name, kind in kinds.items()}


async def attacking(attack: Attack) -> dict[str, Borne]:
    """The same in a process of its own."""
    printed = await program(__name__, content=json.dumps(asdict(attack)).encode())
    return {name: Borne(**borne) for name, borne in json.loads(printed).items()}


def main() -> int:
    found = uvloop.run(attacked(Attack(**json.load(sys.stdin))))
    print_json({name: asdict(borne) for name, borne in found.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
