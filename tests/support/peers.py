"""A scripted HTTP peer on a real socket: meets every request as told, byte for byte, and keeps what it saw."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

JSON = b"content-type: application/json"


@dataclass(eq=False)
class Received:
    """One request as it arrived, and the connection to answer it on."""

    verb: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    connection: int
    reader: asyncio.StreamReader = field(repr=False)
    writer: asyncio.StreamWriter = field(repr=False)
    at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the other side went away while it was waiting for this answer."""

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    async def answer(self, body: bytes, status: int = 200, *headers: bytes) -> None:
        """JSON unless headers are given."""
        head = [b"HTTP/1.1 %d Said" % status, b"content-length: %d" % len(body), *(headers or (JSON,))]
        await self.send(b"\r\n".join([*head, b"", body]))

    async def wait_for_leaving(self) -> None:
        # The platform sends nothing while it waits, so whatever can be read is the end.
        with suppress(OSError):
            await self.reader.read(1)
        self.left.set()


Behaviour = Callable[[Received], Awaitable[None]]


def sending(content: bytes) -> Behaviour:
    """Exactly these bytes, then the end of the connection."""

    async def behave(received: Received) -> None:
        await received.send(content)
        received.writer.close()

    return behave


def partly(content: bytes) -> Behaviour:
    """The beginning of an answer, then nothing more."""

    async def behave(received: Received) -> None:
        await received.send(content)
        await received.wait_for_leaving()

    return behave


def unending(start: bytes, more: bytes, seconds: float = 0.0) -> Behaviour:
    """The beginning of an answer, and more of it at each of these intervals, until the other side has had enough."""

    async def behave(received: Received) -> None:
        await received.send(start)
        while not received.writer.is_closing():
            await asyncio.sleep(seconds)
            await received.send(more)

    return behave


async def hold(received: Received) -> None:
    """No answer at all, for as long as the other side waits."""
    await received.wait_for_leaving()


async def reset(received: Received) -> None:
    sock = received.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    received.writer.transport.abort()


def after(wait: asyncio.Event | float, then: Behaviour) -> Behaviour:
    """The behaviour, once the event is set or the seconds are over; nothing when the other side left before."""

    async def behave(received: Received) -> None:
        pause = asyncio.create_task(wait.wait() if isinstance(wait, asyncio.Event) else _sleep(wait))
        leaving = asyncio.create_task(received.wait_for_leaving())
        try:
            await asyncio.wait({pause, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (pause, leaving):
                task.cancel()
            await asyncio.wait({pause, leaving})
        if not received.left.is_set():
            await then(received)

    return behave


async def _sleep(seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return True


@asynccontextmanager
async def listening(
    meet: Behaviour, address: str = "127.0.0.1", *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Gives the port; connections are kept for as long as the other side likes, and all ended in the end."""
    listener = socket.create_server((address, port), backlog=1024)
    tasks: set[asyncio.Task[None]] = set()
    accepted = 0

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        accepted += 1
        number = accepted
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not writer.is_closing():
                    await meet(await _request(reader, writer, number))
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(converse, sock=listener, ssl=tls)
    try:
        yield listener.getsockname()[1]
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    lines = [line.partition(":") for line in head[1:] if line]
    headers = [(name.lower(), value.strip()) for name, _, value in lines]
    body = await reader.readexactly(int(dict(headers).get("content-length", "0")))
    verb, target, _ = head[0].split(" ")
    return Received(verb, target, headers, body, connection, reader, writer)
