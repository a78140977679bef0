"""How many connections there may be: idle ones give way, then those that nobody has judged; the others stay."""

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
POST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n"
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


@pytest.mark.rows("SAFE-07", "SOUND-03")
@LOOPS
@pytest.mark.parametrize("begun", [b"", GET[:1], POST + b"1"], ids=["nothing", "half of a head", "refused"])
def test_with_none_idle_the_oldest_that_nobody_has_judged_gives_way(run: Callable[..., object], begun: bytes) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        status = 401 if scope["method"] == "POST" else 200  # and the body is left unread
        await replying(status, [(b"content-length", b"2")], b"ok")(scope, receive, send)

    async def scene() -> None:
        async with serving(app, ServerLimits(max_connections=3)) as server:
            held = [await server.connect(begun) for _ in range(3)]
            await until(lambda: len(server.server.connections.unjudged) == 3)
            if begun.startswith(POST):
                assert [(await client.answer())[0] for client in held] == [401, 401, 401]
            else:
                await asyncio.sleep(0.1)
            assert (await (await server.connect(GET)).answer())[0] == 200
            assert await held[0].rest() == b""
            assert server.events == {ConnectionEvent.IDLE_CLOSED: 1}
            assert len(server.server.connections.unjudged) == 2

    run(scene())


@pytest.mark.rows("SAFE-07", "SOUND-03")
@LOOPS
def test_newcomers_are_served_beside_a_flood_of_heads_that_do_not_end(run: Callable[..., object]) -> None:
    async def scene() -> None:
        async with serving(echo, ServerLimits(max_connections=50)) as server:

            async def flood() -> None:
                while True:
                    for _ in range(8):
                        await server.connect(GET[:5])
                    await asyncio.sleep(0.02)

            flooding = asyncio.create_task(flood())
            await until(lambda: server.events[ConnectionEvent.IDLE_CLOSED] > 100)
            for _ in range(50):
                client = await server.connect(GET[:10])
                client.send(GET[10:])
                assert (await client.answer())[0] == 200
            flooding.cancel()
            assert not server.events[ConnectionEvent.REFUSED]

    run(scene())


async def test_the_head_of_a_next_request_that_does_not_end_gives_way_too() -> None:
    async with serving(echo, ServerLimits(max_connections=1)) as server:
        kept = await server.connect(GET)
        assert (await kept.answer())[0] == 200
        kept.send(GET[:5])
        await until(lambda: bool(server.server.connections.unjudged))
        assert (await (await server.connect(GET)).answer())[0] == 200
        assert await kept.rest() == b""


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
