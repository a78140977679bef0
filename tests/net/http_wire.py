"""Both ends of raw HTTP: a peer that answers with given bytes, and a socket that sends them."""

import asyncio
import json
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.http import HttpClient, Target
from aop.net.server import ConnectionEvent, HttpServer, ServerLimits, listening_socket
from tests.support.waiting import PATIENCE_SECONDS, patience

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class ScriptedPeer:
    """Runs the script once for every connection and remembers what happened to it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        self.arrived = asyncio.Event()
        self.left = asyncio.Event()

    @property
    def target(self) -> Target:
        return Target("http", "peer.test", self.port, "127.0.0.1")

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.arrived.set()
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._script(reader, writer)
        finally:
            self.left.set()
            writer.transport.abort()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def scripted_peer(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[ScriptedPeer]:
    peer = ScriptedPeer(script)
    server = await asyncio.start_server(peer.accept, "127.0.0.1", 0, ssl=tls)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()
        await peer.stop()
        await asyncio.sleep(0)


@asynccontextmanager
async def http_client(**choices: float) -> AsyncIterator[HttpClient]:
    client = HttpClient(
        idle_seconds=choices.get("idle_seconds", 600), connect_seconds=choices.get("connect_seconds", PATIENCE_SECONDS)
    )
    try:
        yield client
    finally:
        await client.close()


def soon(seconds: float = PATIENCE_SECONDS) -> float:
    return asyncio.get_running_loop().time() + seconds


async def ask(client: HttpClient, target: Target, seconds: float = PATIENCE_SECONDS, max_body: int = 1 << 20) -> bytes:
    answer = await client.request(target, "GET", "/", deadline=soon(seconds), max_body=max_body)
    return answer.body


async def streamed(
    client: HttpClient, target: Target, seconds: float = PATIENCE_SECONDS, max_body: int = 1 << 20
) -> list[bytes]:
    async with client.stream(target, "GET", "/", deadline=soon(seconds), max_body=max_body) as answer:
        return [piece async for piece in answer]


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One request without a body, or with a content-length."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length: "):
            return head + await reader.readexactly(int(line.partition(b": ")[2]))
    return head


def answering(*answers: bytes) -> Script:
    """One answer for each request on a connection, then silence until the client leaves."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await read_request(reader)
            writer.write(answer)
        await reader.read()

    return script


class RawClient:
    """A socket to a server under test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def answer(self) -> tuple[int, bytes, bytes]:
        """Status, head and a body that is framed by its content-length."""
        head = await self.head()
        size = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
        return int(head.split()[1]), head, await self.reader.readexactly(int(size.partition(b": ")[2]))

    async def rest(self) -> bytes:
        """Everything up to the close; a reset ends it as well."""
        data = b""
        with suppress(ConnectionError):
            while piece := await self.reader.read(65536):
                data += piece
        return data


class ServerUnderTest:
    def __init__(self, server: HttpServer, port: int, events: Counter[ConnectionEvent]) -> None:
        self.server = server
        self.port = port
        self.events = events
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self, data: bytes = b"") -> RawClient:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers.append(writer)
        writer.write(data)
        return RawClient(reader, writer)

    async def exchange(self, data: bytes) -> bytes:
        """Everything the server says to these bytes until it closes."""
        return await (await self.connect(data)).rest()

    async def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    async with patience():
        while not holds():  # noqa: ASYNC110  a fact of the server that nobody announces
            await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(app: ASGIApp, limits: ServerLimits | None = None) -> AsyncIterator[ServerUnderTest]:
    sock = listening_socket("127.0.0.1", 0)
    events: Counter[ConnectionEvent] = Counter()
    server = HttpServer(app, limits or ServerLimits(), note=lambda event: events.update([event]))
    await server.start([sock])
    under_test = ServerUnderTest(server, sock.getsockname()[1], events)
    try:
        async with patience():
            yield under_test
    finally:
        await under_test.hang_up()
        await server.stop(0)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what it was asked, so that a test sees both the scope and the body."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        more = message["more_body"]
    seen = {
        "method": scope["method"],
        "path": scope["path"],
        "raw_path": scope["raw_path"].decode(),
        "query": scope["query_string"].decode(),
        "version": scope["http_version"],
        "headers": [[name.decode(), value.decode("latin-1")] for name, value in scope["headers"]],
        "body": body.decode("latin-1"),
    }
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode()})


def replying(status: int, headers: list[tuple[bytes, bytes]], *bodies: bytes) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for index, body in enumerate(bodies):
            await send({"type": "http.response.body", "body": body, "more_body": index < len(bodies) - 1})

    return app
