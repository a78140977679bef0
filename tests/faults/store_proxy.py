"""A way to the store that can be cut at an exact byte, closed and opened again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class StoreProxy:
    """Counts what passes in each direction; an armed cut ends the connection right behind its last byte."""

    url: str
    port: int = 0
    up: int = 0
    down: int = 0
    is_open: bool = True
    _cut: tuple[str, int] | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def through(self) -> str:
        """The URL that leads here."""
        parts = urlsplit(self.url)
        return self.url.replace(f"{parts.hostname}:{parts.port}", f"127.0.0.1:{self.port}")

    def cut(self, direction: str, behind: int) -> None:
        """Once so many more bytes passed in the direction: `up` to the store, `down` from it."""
        self._cut = direction, behind

    def disarm(self) -> None:
        self._cut = None

    def close(self) -> None:
        """Ends every connection, and takes no new one."""
        self.is_open = False
        for writer in tuple(self._writers):
            writer.transport.abort()

    def open(self) -> None:
        self.is_open = True

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(self.url)
        if not self.is_open:
            writer.transport.abort()
            return
        store_reader, store_writer = await asyncio.open_connection(parts.hostname, parts.port)
        self._writers |= {writer, store_writer}
        try:
            await asyncio.gather(
                self._carry(reader, store_writer, writer, "up"),
                self._carry(store_reader, writer, writer, "down"),
            )
        finally:
            for ended in (writer, store_writer):
                self._writers.discard(ended)
                ended.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: asyncio.StreamWriter, direction: str
    ) -> None:
        with suppress(OSError):
            while content := await reader.read(65536):
                setattr(self, direction, getattr(self, direction) + len(content))
                if self._cut is None or self._cut[0] != direction:
                    writer.write(content)
                elif self._cut[1] > len(content):
                    self._cut = direction, self._cut[1] - len(content)
                    writer.write(content)
                else:
                    # The store gets all that was sent, then the end; the client learns nothing any more.
                    writer.write(content[: self._cut[1]])
                    self._cut = None
                    if direction == "down":
                        await writer.drain()
                        await asyncio.sleep(0.005)
                    client.transport.abort()
                    break
        writer.close()


@asynccontextmanager
async def store_proxy(url: str) -> AsyncIterator[StoreProxy]:
    proxy = StoreProxy(url)
    tasks: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await proxy.meet(reader, writer)
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
