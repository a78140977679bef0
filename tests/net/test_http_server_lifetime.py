"""Listening and stopping: socket options, a taken port, requests that end, wait or never end."""

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, ServerLimits, listening_socket
from tests.net.http_wire import serving, until
from tests.support.waiting import promptly

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


class Gate:
    """An application that answers when it is let, and remembers how its requests ended."""

    def __init__(self) -> None:
        self.running = asyncio.Event()
        self.open = asyncio.Event()
        self.ends: list[str] = []
        self._inside = asyncio.Semaphore(0)

    async def filled(self, count: int) -> None:
        for _ in range(count):
            await self._inside.acquire()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running.set()
        self._inside.release()
        try:
            await self.open.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})
            self.ends.append("answered")
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)  # a clean-up that takes time
            self.ends.append("cancelled, cleaned up")
            raise


async def test_stop_lets_a_running_request_end_and_closes_idle_connections_at_once() -> None:
    gate = Gate()
    async with serving(gate) as server:
        gate.open.set()
        idle = await server.connect(GET)
        await idle.answer()
        gate.open.clear()
        gate.running.clear()
        busy = await server.connect(GET)
        half = await server.connect(GET[:10])
        await gate.running.wait()
        stopping = asyncio.create_task(server.server.stop(5))
        assert await idle.rest() == b""
        assert await half.rest() == b""
        with pytest.raises(ConnectionError):
            await server.connect()
        assert not stopping.done()
        gate.open.set()
        _, head, body = await busy.answer()
        assert (body, b"connection: close\r\n" in head) == (b"ok", True)
        assert await busy.rest() == b""
        await stopping
        assert (server.server.connection_count, server.server.request_count) == (0, 0)


@pytest.mark.parametrize("grace", [0.0, 0.1])
async def test_stop_cancels_what_outlives_the_grace_and_waits_for_its_clean_up(grace: float) -> None:
    gate = Gate()
    async with serving(gate) as server:
        clients = [await server.connect(GET) for _ in range(20)]
        async with promptly(2):
            await gate.filled(20)
        await server.server.stop(grace)
        assert gate.ends == ["cancelled, cleaned up"] * 20
        assert (server.server.connection_count, server.server.request_count) == (0, 0)
        assert [await client.rest() for client in clients] == [b""] * 20


async def test_stop_sends_what_was_answered_to_a_slow_reader() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * (4 << 20)})

    async with serving(app) as server:
        client = await server.connect(GET)
        await client.head()
        stopping = asyncio.create_task(server.server.stop(5))
        assert await client.rest() == b"x" * (4 << 20)
        await stopping


@pytest.mark.parametrize("turns", range(5))
def test_stop_does_not_wait_for_a_connection_that_arrives_meanwhile(turns: int) -> None:
    # On uvloop: the stock loop of Python 3.11 itself drops a connection that it accepted before its listener closed.
    async def scenario() -> None:
        async with serving(Gate()) as server:
            with socket.create_connection(("127.0.0.1", server.port)):
                for _ in range(turns):
                    await asyncio.sleep(0)
                async with promptly(1):
                    await server.server.stop(5)

    uvloop.run(scenario())


@pytest.mark.rows("HA-02")
async def test_a_drain_closes_idle_connections_and_leaves_a_new_one_its_first_request() -> None:
    gate = Gate()
    gate.open.set()
    async with serving(gate) as server:
        idle, new = await server.connect(GET), await server.connect()
        await idle.answer()
        await until(lambda: server.server.connection_count == 2)
        server.server.drain()
        server.server.close_idle()
        assert await idle.rest() == b""
        new.send(GET)
        status, head, _ = await new.answer()
        assert (status, b"connection: close" in head) == (200, True)


async def test_stop_accepting_leaves_open_connections_alone() -> None:
    gate = Gate()
    gate.open.set()
    async with serving(gate) as server:
        client = await server.connect(GET)
        await client.answer()
        server.server.stop_accepting()
        with pytest.raises(ConnectionError):
            await server.connect()
        client.send(GET)
        assert (await client.answer())[2] == b"ok"


def test_stop_does_the_same_on_uvloop() -> None:
    async def scenario() -> list[str]:
        gate = Gate()
        async with serving(gate) as server:
            await server.connect(GET)
            await gate.running.wait()
            await server.server.stop(0.05)
        return gate.ends

    assert uvloop.run(scenario()) == ["cancelled, cleaned up"]


def test_a_taken_port_is_a_clear_error() -> None:
    with listening_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(OSError, match=rf"cannot listen on 127\.0\.0\.1:{port}: ") as failure:
            listening_socket("127.0.0.1", port)
        assert failure.value.errno == errno.EADDRINUSE


def test_ipv6_literals_are_listened_on() -> None:
    with listening_socket("::1", 0) as sock:
        assert sock.family == socket.AF_INET6
        with socket.create_connection(("::1", sock.getsockname()[1])):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="the options are Linux's")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_accepted_sockets_have_the_options_that_show_a_dead_peer(
    run: Callable[[Coroutine[Any, Any, dict[str, int]]], dict[str, int]],
) -> None:
    async def scenario() -> dict[str, int]:
        accepted: list[socket.socket] = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            connection = next(iter(server.connections))
            assert connection._transport is not None
            accepted.append(connection._transport.get_extra_info("socket"))
            await send({"type": "http.response.start", "status": 204})
            await send({"type": "http.response.body"})

        sock = listening_socket("127.0.0.1", 0)
        server = HttpServer(app, ServerLimits())
        await server.start([sock])
        reader, writer = await asyncio.open_connection("127.0.0.1", sock.getsockname()[1])
        writer.write(GET)
        await reader.readuntil(b"\r\n\r\n")
        tcp, level = socket.IPPROTO_TCP, socket.SOL_SOCKET
        values = {
            "keepalive": accepted[0].getsockopt(level, socket.SO_KEEPALIVE),
            "send buffer": accepted[0].getsockopt(level, socket.SO_SNDBUF),
            "no delay": accepted[0].getsockopt(tcp, socket.TCP_NODELAY),
            "user timeout": accepted[0].getsockopt(tcp, socket.TCP_USER_TIMEOUT),
            "idle": accepted[0].getsockopt(tcp, socket.TCP_KEEPIDLE),
            "interval": accepted[0].getsockopt(tcp, socket.TCP_KEEPINTVL),
            "probes": accepted[0].getsockopt(tcp, socket.TCP_KEEPCNT),
        }
        writer.close()
        await server.stop(1)
        return values

    assert run(scenario()) == {
        "keepalive": 1,
        "send buffer": 128 * 1024,  # the kernel counts its own bookkeeping and doubles what is set
        "no delay": 1,
        "user timeout": 0,  # it would cut a peer that rests
        "idle": 10,
        "interval": 5,
        "probes": 6,  # a dead one is found after 40 s, and a network that loses everything for 20 s is survived
    }
