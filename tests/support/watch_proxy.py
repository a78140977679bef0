"""A line between a Router and its Control Plane: the watch on it can be cut and mended, everything else passes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.support.accepting import accepting

_WATCH = b"GET /internal/v1/topology/watch"


@dataclass
class WatchProxy:
    """Knows how often each path was asked for; while cut, it ends every watch and lets no new one through."""

    target: int
    port: int = 0
    watches: list[str] = field(default_factory=list)
    """The targets of all watches that were asked for, cut or not."""
    requested: list[str] = field(default_factory=list)
    _is_cut: bool = False
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resolves(self) -> int:
        return self.requested.count("/internal/v1/resolve-agent")

    def cut(self) -> None:
        self._is_cut = True
        for writer in tuple(self._open):
            writer.transport.abort()

    def mend(self) -> None:
        self._is_cut = False

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, beyond = await asyncio.open_connection("127.0.0.1", self.target)
        directions = {
            asyncio.create_task(self._pump(reader, beyond, writer)),
            asyncio.create_task(self._pump(back, writer)),
        }
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in directions:
                task.cancel()
            await asyncio.wait(directions)
            self._open.discard(writer)
            for end in (writer, beyond):
                end.close()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, asker: asyncio.StreamWriter | None = None
    ) -> None:
        with suppress(OSError):
            while piece := await source.read(65536):
                if asker is not None and not self._lets_through(piece, asker):
                    return
                sink.write(piece)
                await sink.drain()

    def _lets_through(self, piece: bytes, asker: asyncio.StreamWriter) -> bool:
        """Each request begins a piece of its own, also on a connection that is used again."""
        method, _, rest = piece.partition(b" ")
        target = rest.partition(b" ")[0].decode("latin-1")
        if method == b"POST":
            self.requested.append(target)
        if not piece.startswith(_WATCH):
            return True
        self.watches.append(target)
        if not self._is_cut:
            self._open.add(asker)
        return not self._is_cut


@asynccontextmanager
async def watch_proxy(target: int) -> AsyncIterator[WatchProxy]:
    proxy = WatchProxy(target)
    async with accepting(proxy.pass_on) as proxy.port:
        yield proxy
