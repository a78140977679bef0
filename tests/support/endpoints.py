"""An Agent's endpoint on a real socket: serves proofs or misbehaves as told, and remembers who came."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

PROOF_PATH = "/.well-known/platform/challenges/"


@dataclass(frozen=True)
class Visit:
    """One request as it arrived, and the way to answer it."""

    head: bytes
    writer: asyncio.StreamWriter

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    def header_values(self, name: str) -> Sequence[str]:
        lines = [line.partition(b":") for line in self.head.split(b"\r\n")[1:]]
        return [value.strip().decode() for key, _, value in lines if key.decode().lower() == name]

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()


Behaviour = Callable[[Visit], Awaitable[None]]


@dataclass
class AgentEndpoint:
    """Serves the proofs it was given; `behave` replaces that with something else."""

    name: str
    port: int
    scheme: str = "http"
    proofs: dict[str, bytes] = field(default_factory=dict)
    behave: Behaviour | None = None
    connections: int = 0
    visits: list[Visit] = field(default_factory=list)
    visited: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.name}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/a2a"

    def serve(self, challenge_id: str, proof: str) -> None:
        self.proofs[PROOF_PATH + challenge_id] = proof.encode()

    async def answer(self, visit: Visit) -> None:
        if self.behave is not None:
            await self.behave(visit)
        elif visit.target in self.proofs:
            await answering(self.proofs[visit.target])(visit)
        else:
            await answering(b"nothing here", status=404)(visit)


def answering(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    head = [b"HTTP/1.1 %d Said" % status, b"content-length: %d" % len(body), *headers]
    return sending(b"\r\n".join([*head, b"", body]))


def sending(content: bytes) -> Behaviour:
    """Exactly these bytes, then the end of the connection."""

    async def behave(visit: Visit) -> None:
        await visit.send(content)

    return behave


def stalling(content: bytes = b"") -> Behaviour:
    """These bytes, and then nothing for as long as the other side waits."""

    async def behave(visit: Visit) -> None:
        await visit.send(content)
        await asyncio.Event().wait()

    return behave


def waiting_for(event: asyncio.Event, then: Behaviour) -> Behaviour:
    async def behave(visit: Visit) -> None:
        await event.wait()
        await then(visit)

    return behave


async def resetting(visit: Visit) -> None:
    sock = visit.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    visit.writer.transport.abort()


@asynccontextmanager
async def agent_endpoint(
    name: str = "agent.test", address: str = "127.0.0.1", *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[AgentEndpoint]:
    """Listens on the address; the name is what its URLs say. A failed TLS handshake counts as a connection too."""
    listener = socket.create_server((address, port))
    endpoint = AgentEndpoint(name, listener.getsockname()[1], "http" if tls is None else "https")
    tasks: set[asyncio.Task[None]] = set()
    accepting = asyncio.create_task(_accept(listener, endpoint, tls, tasks))
    try:
        yield endpoint
    finally:
        for task in (accepting, *tasks):
            task.cancel()
        await asyncio.gather(accepting, *tasks, return_exceptions=True)
        listener.close()


async def _accept(
    listener: socket.socket, endpoint: AgentEndpoint, tls: ssl.SSLContext | None, tasks: set[asyncio.Task[None]]
) -> None:
    listener.setblocking(False)
    while True:
        sock, _ = await asyncio.get_running_loop().sock_accept(listener)
        endpoint.connections += 1
        task = asyncio.create_task(_converse(sock, endpoint, tls))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _converse(sock: socket.socket, endpoint: AgentEndpoint, tls: ssl.SSLContext | None) -> None:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    loop = asyncio.get_running_loop()
    with suppress(OSError, asyncio.IncompleteReadError):
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, sock, ssl=tls)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        try:
            visit = Visit(await reader.readuntil(b"\r\n\r\n"), writer)
            endpoint.visits.append(visit)
            endpoint.visited.set()
            await endpoint.answer(visit)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
