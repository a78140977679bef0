"""A peer that rests is never taken for one that is gone, wherever the bytes for it wait; one that is gone is found."""

import asyncio
import ctypes
import socket
import struct
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import cast

import pytest
import uvloop

from aop.net import silence, sockets
from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.http import HttpClient, HttpError, Target
from aop.net.own_server import own_server
from aop.net.server import ServerLimits
from tests.net.http_wire import OK, http_client, read_request, replying, scripted_peer, serving, soon, until
from tests.support.waiting import PATIENCE_SECONDS, patience

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the system tells nothing of a silent peer"),
    pytest.mark.second_ring,
]

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
CLOSING = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
REST_SECONDS = 7.0
OUTAGE_SECONDS = 8.0
_FAST_TURN = 0.2
"""A tenth of the real one, so that who is gone is found in a tenth of the time."""
_LOOPS = (pytest.param(asyncio.run, marks=pytest.mark.long), uvloop.run)
Runs = Callable[[Coroutine[None, None, None]], None]


@asynccontextmanager
async def reader(port: int, window: int | None = None, request: bytes = GET) -> AsyncIterator[socket.socket]:
    """It has asked and takes nothing yet. Without a window it has the usual one."""
    with socket.socket() as sock:
        if window is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        await asyncio.get_running_loop().sock_sendall(sock, request)
        yield sock


async def taken(sock: socket.socket, size: int) -> int:
    """As many bytes of the answer's body as come, until it is complete or the connection ends."""
    content, loop = b"", asyncio.get_running_loop()
    while len(content.partition(b"\r\n\r\n")[2]) < size:
        piece = await loop.sock_recv(sock, 1 << 20)
        if not piece:
            break
        content += piece
    return len(content.partition(b"\r\n\r\n")[2])


def streaming(first: bytes) -> ASGIApp:
    """A stream that says this and goes on until its reader leaves."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": first, "more_body": True})
        await own_server(scope).disconnect.wait()

    return app


def drop(sock: socket.socket) -> None:
    """From now on the kernel throws away whatever arrives: to the other side, a machine that is gone."""
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    sock.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", 1, ctypes.addressof(program)))


def undrop(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, 27, 0)


@pytest.mark.rows("SOUND-02")
@pytest.mark.parametrize("run", _LOOPS[1:])
def test_a_reader_that_rests_gets_every_byte_also_of_what_the_kernel_alone_still_has(run: Runs) -> None:
    async def rested(size: int, window: int | None, request: bytes, limits: ServerLimits) -> None:
        app = replying(200, [], b"x" * size)
        async with serving(app, limits) as under_test, reader(under_test.port, window, request) as sock:
            await asyncio.sleep(REST_SECONDS)
            assert await taken(sock, size) == size, (size, window)

    async def scene() -> None:
        usual, soon_closed = ServerLimits(), ServerLimits(idle_seconds=0.5)
        async with asyncio.TaskGroup() as tasks:
            for size, window in ((60_000, 4096), (60_000, 16_384), (150_000, None), (900_000, 16_384), (900_000, None)):
                tasks.create_task(rested(size, window, GET, usual))
            # What was answered is delivered after the connection was closed, too.
            tasks.create_task(rested(60_000, 16_384, GET, soon_closed))
            tasks.create_task(rested(60_000, 16_384, CLOSING, usual))

    run(scene())


@pytest.fixture
def soon_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "_TURN_SECONDS", _FAST_TURN)
    options = dict(sockets._TCP_OPTIONS) | {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1}
    monkeypatch.setattr(sockets, "_TCP_OPTIONS", tuple(options.items()))


@pytest.mark.rows("SOUND-02")
@pytest.mark.parametrize("run", _LOOPS[1:])
@pytest.mark.parametrize("seconds", [OUTAGE_SECONDS, pytest.param(20.0, marks=pytest.mark.long)])
def test_a_peer_whose_network_loses_everything_for_some_seconds_is_not_given_up(run: Runs, seconds: float) -> None:
    """Of a reader and of a server, whether bytes are under way to it or nothing is."""

    def answers_after(pause: float) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await asyncio.sleep(pause)
            await replying(200, [], b"x" * 60_000)(scope, receive, send)

        return app

    async def reads(pause: float) -> None:
        async with serving(answers_after(pause)) as under_test, reader(under_test.port) as sock:
            await asyncio.sleep(0.5)
            drop(sock)
            await asyncio.sleep(seconds)
            undrop(sock)
            async with patience():
                assert await taken(sock, 60_000) == 60_000, pause

    async def loses(stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await stream.readuntil(b"\r\n")
        sock = writer.get_extra_info("socket")
        drop(sock)
        await asyncio.sleep(seconds)
        undrop(sock)
        await stream.readuntil(b"\r\n\r\n")
        await stream.readexactly(1 << 20)
        writer.write(OK)
        await stream.read()

    async def asks() -> None:
        async with http_client() as client, scripted_peer(loses) as peer:
            body = b"x" * (1 << 20)
            answer = await client.request(peer.target, "POST", "/", body=body, deadline=soon(), max_body=100)
            assert answer.body == b"ok"

    async def scene() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(reads(1.0))
            tasks.create_task(reads(seconds + 1.0))
            tasks.create_task(asks())

    run(scene())


@pytest.mark.rows("SOUND-02")
@pytest.mark.usefixtures("soon_found")
@pytest.mark.parametrize("run", _LOOPS)
def test_a_reader_that_is_gone_is_found_wherever_the_bytes_wait(run: Runs) -> None:
    async def gone(body: bytes, window: int | None) -> None:
        told = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
            await dropped.wait()
            await send({"type": "http.response.body", "body": body, "more_body": True})
            await own_server(scope).disconnect.wait()
            told.set()

        dropped = asyncio.Event()
        async with serving(app, ServerLimits()) as under_test, reader(under_test.port, window) as sock:
            await asyncio.get_running_loop().sock_recv(sock, 1024)
            drop(sock)
            dropped.set()
            await told.wait()
            assert not under_test.events, "it was not slow"

    async def scene() -> None:
        async with patience(), asyncio.TaskGroup() as tasks:
            tasks.create_task(gone(b"", None))
            tasks.create_task(gone(b"x", None))
            tasks.create_task(gone(b"x" * 60_000, 4096))
            tasks.create_task(gone(b"x" * 900_000, None))

    run(scene())


@pytest.mark.long
@pytest.mark.rows("SOUND-02")
async def test_a_reader_that_rests_is_not_gone_because_one_question_of_the_kernel_was_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its window was closed for some seconds, so that the kernel asks again only seconds later."""
    monkeypatch.setattr(silence, "_TURN_SECONDS", 0.5)
    size = 60_000
    async with serving(streaming(b"x" * size)) as under_test, reader(under_test.port, 16_384) as sock:
        await asyncio.sleep(4)  # it was asked after 3.0 s, and is asked after 6.2 and 12.6 s
        drop(sock)
        await asyncio.sleep(4)
        undrop(sock)
        await asyncio.sleep(5.5)
        async with patience():
            assert await taken(sock, size) >= size


@pytest.mark.rows("SOUND-02")
async def test_one_probe_in_vain_after_a_long_rest_is_no_death_and_two_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe may be lost, and its next one comes only after as long again."""
    monkeypatch.setattr(silence, "_TURN_SECONDS", 0.1)
    size = 60_000
    async with serving(streaming(b"x" * size)) as under_test, reader(under_test.port, 16_384) as sock:
        await asyncio.sleep(3.5)  # it was probed after 3.1 s, and is after 6.4 and 13 s
        drop(sock)
        await asyncio.sleep(6)
        assert under_test.server.connection_count == 1
        async with patience():
            await until(lambda: under_test.server.connection_count == 0)


@pytest.mark.rows("SOUND-02")
@pytest.mark.usefixtures("soon_found")
@pytest.mark.parametrize("run", _LOOPS[1:])
def test_a_server_that_rests_before_it_reads_a_request_is_not_given_up_and_one_that_is_gone_is(run: Runs) -> None:
    body = b"x" * (1 << 20)

    async def post(client: HttpClient, target: Target) -> bytes:
        return (await client.request(target, "POST", "/", body=body, deadline=soon(), max_body=100)).body

    async def rests(stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport = cast("asyncio.Transport", writer.transport)
        transport.pause_reading()
        await asyncio.sleep(REST_SECONDS)
        transport.resume_reading()
        await read_request(stream)
        writer.write(OK)
        await stream.read()

    async def dies(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        cast("asyncio.Transport", writer.transport).pause_reading()
        drop(writer.get_extra_info("socket"))
        await asyncio.sleep(PATIENCE_SECONDS)

    async def scene() -> None:
        async with http_client() as client, scripted_peer(rests) as resting, scripted_peer(dies) as dying:
            tasks = asyncio.create_task(post(client, resting.target)), asyncio.create_task(post(client, dying.target))
            async with asyncio.timeout(PATIENCE_SECONDS / 2):
                with pytest.raises(HttpError):
                    await tasks[1]
            assert await tasks[0] == b"ok"

    run(scene())
