"""A proxy for any edge between two processes: counts what passes, and harms it as told, to the byte."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from tests.support.accepting import accepting

Direction = Literal["up", "down"]
"""`up` is from whoever dialled to the target, `down` the way back."""

_NO_LINGER = struct.pack("ii", 1, 0)
_SEEN_SECONDS = 0.005
"""Long enough for the last bytes before a cut to be read on loopback before the reset overtakes them."""


@dataclass(frozen=True)
class Pace:
    """How everything travels: late by so many seconds, in pieces of so many bytes, at so many bytes a second."""

    delay: float = 0.0
    slice_bytes: int | None = None
    bytes_per_second: float | None = None


@dataclass
class FaultProxy:
    """`up` and `down` count bytes; `hits` counts each kind of harm that was really done."""

    host: str
    target: int
    port: int = 0
    up: int = 0
    down: int = 0
    is_open: bool = True
    pace: Pace = Pace()
    hits: Counter[str] = field(default_factory=Counter)
    _cut: tuple[Direction, int] | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _at_rest: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._flowing.set()
        self._at_rest.set()

    def through(self, url: str) -> str:
        """The same URL, leading here."""
        parts = urlsplit(url)
        return url.replace(f"{parts.hostname}:{parts.port}", f"127.0.0.1:{self.port}")

    def cut(self, direction: Direction, behind: int) -> None:
        """Once so many more bytes passed in the direction, over all connections, the one they passed on is reset."""
        self._cut = direction, behind

    @property
    def is_armed(self) -> bool:
        return self._cut is not None

    def disarm(self) -> None:
        self._cut = None

    async def cut_done(self) -> None:
        """Returns once the connection that was to be cut is reset: that comes a moment behind the last byte."""
        await self._at_rest.wait()

    def reset(self) -> None:
        """Every connection, at both ends, at once."""
        for writer in tuple(self._writers):
            _reset(writer)
            self.hits["reset"] += 1

    def close(self) -> None:
        """Resets every connection, and takes no new one."""
        self.is_open = False
        self.reset()

    def open(self) -> None:
        self.is_open = True

    def freeze(self) -> None:
        """Nothing moves any more, and nothing is lost."""
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.is_open:
            self.hits["refused"] += 1
            _reset(writer)
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self.host, self.target)
        except OSError:
            _reset(writer)
            return
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(
                self._carry(reader, far_writer, writer, "up"), self._carry(far_reader, writer, writer, "down")
            )
        finally:
            self._writers -= {writer, far_writer}
            for ended in (writer, far_writer):
                ended.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, near: asyncio.StreamWriter, way: Direction
    ) -> None:
        with suppress(OSError):
            while content := await reader.read(self.pace.slice_bytes or 65536):
                await self._hold(len(content))
                setattr(self, way, getattr(self, way) + len(content))
                passing = self._before_cut(way, content)
                writer.write(passing)
                if len(passing) < len(content) or (self._cut == (way, 0)):
                    await self._end(writer, near, way)
                    break
                await writer.drain()
        writer.close()

    async def _hold(self, size: int) -> None:
        if not self._flowing.is_set():
            self.hits["frozen"] += 1
            await self._flowing.wait()
        pause = self.pace.delay + (0.0 if self.pace.bytes_per_second is None else size / self.pace.bytes_per_second)
        if pause:
            self.hits["slowed"] += 1
            await asyncio.sleep(pause)

    def _before_cut(self, way: Direction, content: bytes) -> bytes:
        if self._cut is None or self._cut[0] != way:
            return content
        behind = self._cut[1]
        self._cut = way, max(0, behind - len(content))
        return content[:behind]

    async def _end(self, writer: asyncio.StreamWriter, near: asyncio.StreamWriter, way: Direction) -> None:
        """The far side gets all that was sent, then the end; who dialled learns nothing any more."""
        self._cut = None
        self.hits["cut"] += 1
        self._at_rest.clear()
        try:
            if way == "down":
                await writer.drain()
                await asyncio.sleep(_SEEN_SECONDS)
        finally:
            _reset(near)
            self._at_rest.set()


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    writer.transport.abort()


@asynccontextmanager
async def fault_proxy(target: int, host: str = "127.0.0.1") -> AsyncIterator[FaultProxy]:
    proxy = FaultProxy(host, target)
    async with accepting(proxy.meet) as proxy.port:
        try:
            yield proxy
        finally:
            proxy.close()


@asynccontextmanager
async def store_proxy(url: str) -> AsyncIterator[FaultProxy]:
    """In front of the database this URL names."""
    parts = urlsplit(url)
    async with fault_proxy(parts.port or 5432, parts.hostname or "127.0.0.1") as proxy:
        yield proxy
