"""A line between a Router and its Control Plane: the watch on it can be cut and mended, everything else passes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_WATCH = b"GET /internal/v1/topology/watch"


@dataclass
class WatchProxy:
    """Knows how often each path was asked for; while cut, it ends every watch and lets no new one through."""

    target: int
    port: int = 0
    watches: list[str] = field(default_factory=list)
    """The targets of all watches that were asked for, cut or not."""
    asked: list[str] = field(default_factory=list)
    _is_cut: bool = False
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resolves(self) -> int:
        return self.asked.count("/internal/v1/resolve-agent")

    def cut(self) -> None:
        self._is_cut = True
        for writer in tuple(self._open):
            writer.transport.abort()

    def mend(self) -> None:
        self._is_cut = False

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond: asyncio.StreamWriter | None = None
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                back, beyond = await asyncio.open_connection("127.0.0.1", self.target)
                if head.startswith(_WATCH):
                    self.watches.append(head.split(b" ")[1].decode())
                    if self._is_cut:
                        return
                    self._open.add(writer)
                await self._carry(head, (reader, writer), (back, beyond))
        finally:
            self._open.discard(writer)
            for end in (writer, beyond):
                if end is not None:
                    end.close()

    async def _carry(
        self,
        head: bytes,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._note(head)
        far[1].write(head)
        directions = {
            asyncio.create_task(self._pump(near[0], far[1])),
            asyncio.create_task(self._pump(far[0], near[1])),
        }
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in directions:
                task.cancel()
            await asyncio.wait(directions)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await source.read(65536):
                self._note(piece)
                sink.write(piece)
                await sink.drain()

    def _note(self, piece: bytes) -> None:
        # Each request of ours begins a piece of its own: a unit sends the next one only after the answer.
        if piece.startswith(b"POST "):
            self.asked.append(piece.split(b" ", 2)[1].decode())


@asynccontextmanager
async def watch_proxy(target: int) -> AsyncIterator[WatchProxy]:
    proxy, tasks = WatchProxy(target), set[asyncio.Task[None]]()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(asyncio.CancelledError):
                await proxy.pass_on(reader, writer)
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
