"""How many connections there may be: idle ones give way, others stay, and running out of descriptors is survived."""

import asyncio
import encodings.idna  # noqa: F401  uvloop imports it for the first name it meets, and that takes a descriptor
import os
import resource
import socket
from collections.abc import Callable

import pytest
import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import ConnectionEvent, ServerLimits
from tests.net.http_wire import echo, replying, serving, until
from tests.support.effort import effort

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run])


@pytest.mark.rows("SAFE-07")
@LOOPS
def test_at_the_limit_the_longest_idle_connection_gives_way(run: Callable[..., object]) -> None:
    async def scene() -> None:
        async with serving(echo, ServerLimits(max_connections=3)) as server:
            held = [await server.connect(GET) for _ in range(3)]
            for client in held:
                await client.answer()
            held[0].send(GET)  # asked again: now the second is the longest idle
            await held[0].answer()
            new = [await server.connect(GET) for _ in range(2)]
            assert [(await client.answer())[0] for client in new] == [200, 200]
            assert [await client.rest() for client in held[1:]] == [b"", b""]
            held[0].send(GET)
            assert (await held[0].answer())[0] == 200
            assert server.events == {ConnectionEvent.IDLE_CLOSED: 2}
            assert server.server.connection_count == 3

    run(scene())


@pytest.mark.rows("SAFE-07")
@LOOPS
def test_with_none_idle_the_new_one_is_refused_and_the_running_ones_stay(run: Callable[..., object]) -> None:
    async def scene() -> None:
        go_on = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await go_on.wait()
            await replying(200, [], b"ok")(scope, receive, send)

        async with serving(app, ServerLimits(max_connections=2, linger_seconds=0.3)) as server:
            busy = [await server.connect(GET) for _ in range(2)]
            await until(lambda: server.server.request_count == 2)
            refused = [await server.connect(GET) for _ in range(40)]  # more than are answered with patience
            silent = await server.connect()
            answers = [await client.rest() for client in (*refused[:32], silent)]
            assert {answer.split(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 503 Service Unavailable"}
            go_on.set()
            assert [(await client.answer())[2] for client in busy] == [b"ok", b"ok"]
            assert (await (await server.connect(GET)).answer())[2] == b"ok"
            assert server.events[ConnectionEvent.REFUSED] == 41

    run(scene())


async def test_a_connection_that_has_asked_nothing_yet_is_idle_too() -> None:
    async with serving(echo, ServerLimits(max_connections=1)) as server:
        silent = await server.connect()
        await until(lambda: bool(server.server.connections.idle))
        assert (await (await server.connect(GET)).answer())[0] == 200
        assert await silent.rest() == b""


@pytest.mark.rows("SAFE-07")
@LOOPS
def test_without_descriptors_those_who_come_wait_and_the_loop_does_not_spin(run: Callable[..., object]) -> None:
    async def scene() -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        async with serving(echo) as server:
            peers = [socket.socket() for _ in range(8)]
            for peer in peers:
                peer.setblocking(False)
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (_first_free(), hard))
                loop = asyncio.get_running_loop()
                for peer in peers:
                    await loop.sock_connect(peer, ("127.0.0.1", server.port))
                    await loop.sock_sendall(peer, GET)
                with effort() as spent:
                    await asyncio.sleep(0.5)
                assert spent.seconds < 0.3
                assert server.events[ConnectionEvent.ACCEPT_FAILED] >= 2
                assert server.server.connection_count == 0
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for peer in peers:
                assert (await loop.sock_recv(peer, 100)).startswith(b"HTTP/1.1 200 ")
                peer.close()

    run(scene())


def _first_free() -> int:
    """The number that the next descriptor would get: a limit at which there is none."""
    free = os.dup(0)
    os.close(free)
    return free


@pytest.mark.rows("SAFE-07")
async def test_without_descriptors_idle_connections_give_way() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serving(echo) as server:
        idle = [await server.connect(GET) for _ in range(4)]
        for client in idle:
            await client.answer()
        loop = asyncio.get_running_loop()
        peer = socket.socket()
        peer.setblocking(False)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (_first_free(), hard))
            await loop.sock_connect(peer, ("127.0.0.1", server.port))
            await loop.sock_sendall(peer, GET)
            assert (await loop.sock_recv(peer, 100)).startswith(b"HTTP/1.1 200 ")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            peer.close()
        assert server.events[ConnectionEvent.IDLE_CLOSED] >= 1
