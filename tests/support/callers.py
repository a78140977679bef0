"""Callers with a connection of their own, who leave at the end of a scope, and what they send."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aop.net.http import HttpClient, StreamedAnswer, Target
from tests.support.units import Headers, RunningUnit
from tests.support.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def connected(port: int, *, window: int | None = None) -> AsyncIterator[socket.socket]:
    """`window` makes the receive buffer small. Closed in the end if it is not."""
    with socket.socket() as sock:
        if window is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        yield sock


def post(path: str, body: bytes, headers: Headers) -> bytes:
    """A whole POST of JSON."""
    lines = [b"POST %b HTTP/1.1" % path.encode(), b"host: test", b"content-type: application/json"]
    lines += [b"content-length: %d" % len(body), *(b"%b: %b" % pair for pair in headers), b"", body]
    return b"\r\n".join(lines)


@asynccontextmanager
async def asking(unit: RunningUnit, path: str, body: bytes, headers: Headers) -> AsyncIterator[asyncio.Task[int]]:
    """A caller of its own connection; leaving the scope is closing that connection."""
    client = HttpClient(idle_seconds=0, connect_seconds=PATIENCE_SECONDS)
    target = Target("http", "127.0.0.1", unit.port, "127.0.0.1")
    # The scope ends the call; an Invocation that is kept running may outlast the patience of other waits.
    deadline = asyncio.get_running_loop().time() + 10 * PATIENCE_SECONDS

    async def ask() -> int:
        sent: Sequence[tuple[bytes, bytes]] = (*headers, (b"content-type", b"application/json"))
        answer: StreamedAnswer
        async with client.stream(
            target, "POST", path, headers=sent, body=body, deadline=deadline, max_body=2**30
        ) as answer:
            return answer.status

    task = asyncio.create_task(ask())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
        await client.close()
