"""The server's bounds on heads, times and bytes between requests."""

import asyncio
import json
import socket
from contextlib import suppress

import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import ServerLimits
from tests.net.http_wire import echo, serving
from tests.support.waiting import generous, promptly

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


async def test_a_request_has_at_most_64_headers() -> None:
    async with serving(echo) as server:
        for count, status in ((63, b"200"), (64, b"400")):
            head = b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x-a: 1\r\n" * count + b"\r\n"
            reply = await (await server.connect(head)).head()
            assert reply.split()[1] == status


async def test_a_head_has_at_most_32_kib_in_one_piece_or_in_many() -> None:
    async with serving(echo) as server:
        start = b"GET / HTTP/1.1\r\nhost: a\r\nx-a: "
        fits = start + b"a" * (32 * 1024 - len(start) - 4) + b"\r\n\r\n"
        assert (await (await server.connect(fits)).head()).startswith(b"HTTP/1.1 200 ")
        assert (await server.exchange(start + b"a" * 40_000 + b"\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
        client = await server.connect(start)
        with suppress(ConnectionError):
            for _ in range(40):
                client.send(b"a" * 1024)
                await asyncio.sleep(0.001)
        assert (await client.rest()).startswith(b"HTTP/1.1 400 ")
        long_target = b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n"
        assert (await server.exchange(long_target)).startswith(b"HTTP/1.1 400 ")


async def test_a_head_that_is_not_complete_in_time_closes_the_connection() -> None:
    async with serving(echo, ServerLimits(head_seconds=0.15, idle_seconds=5)) as server:
        loop = asyncio.get_running_loop()
        for start in (b"", b"GET / HTTP/1.1\r\n"):
            began = loop.time()
            assert await server.exchange(start) == b""
            assert 0.1 < loop.time() - began < generous(1)
        # One byte at a time does not buy more time.
        began = loop.time()
        client = await server.connect()
        closed = asyncio.create_task(client.rest())
        for index in range(len(GET) - 1):
            if closed.done():
                break
            client.send(GET[index : index + 1])
            await asyncio.sleep(0.02)
        assert await closed == b""
        assert loop.time() - began < generous(1)


async def test_the_next_request_has_its_own_time_from_its_first_byte() -> None:
    async with serving(echo, ServerLimits(head_seconds=0.15, idle_seconds=5)) as server:
        client = await server.connect(GET)
        await client.answer()
        await asyncio.sleep(0.3)  # longer than a head may take: nothing has begun yet
        client.send(GET)
        await client.answer()
        client.send(GET[:5])
        began = asyncio.get_running_loop().time()
        assert await client.rest() == b""
        assert asyncio.get_running_loop().time() - began < generous(1)


async def test_an_idle_connection_is_closed_after_its_time() -> None:
    async with serving(echo, ServerLimits(idle_seconds=0.1)) as server:
        client = await server.connect(GET)
        await client.answer()
        began = asyncio.get_running_loop().time()
        assert await client.rest() == b""
        assert 0.05 < asyncio.get_running_loop().time() - began < generous(1)


async def test_the_head_deadline_does_not_touch_a_running_request_or_its_slow_body() -> None:
    limit = generous(0.1)
    async with serving(echo, ServerLimits(head_seconds=limit, idle_seconds=limit)) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n")
        for byte in (b"a", b"b", b"c"):
            await asyncio.sleep(limit * 0.6)
            client.send(byte)
        assert json.loads((await client.answer())[2])["body"] == "abc"


async def test_chunk_framing_without_content_is_refused() -> None:
    async with serving(echo) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1;")
        with suppress(ConnectionError):
            for _ in range(40):
                client.send(b"x" * 4096)
                await asyncio.sleep(0.001)
        assert (await client.rest()).startswith(b"HTTP/1.1 400 ")


async def test_two_requests_in_one_piece_are_closed_without_being_served() -> None:
    async with serving(echo) as server:
        assert await server.exchange(GET + GET) == b""
        assert await server.exchange(GET + b"x") == b""
        assert server.server.request_count == 0


async def test_bytes_behind_a_running_request_close_it_and_tell_the_application() -> None:
    running, told = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        running.set()
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    async with serving(app) as server:
        for extra in (GET, b"x", b"\r\n"):
            running.clear()
            told.clear()
            client = await server.connect(GET)
            await running.wait()
            client.send(extra)
            assert await client.rest() == b""
            async with promptly(1):
                await told.wait()


def test_those_who_wait_are_let_in_many_at_a_time_however_long_a_turn_of_the_loop_takes() -> None:
    async def turns_until_all_are_in(callers: int) -> int:
        async with serving(echo) as server:
            waiting = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(callers)]
            turns = 0
            while server.server.connection_count < callers:
                await asyncio.sleep(0)
                turns += 1
            for caller in waiting:
                caller.close()
            return turns

    assert uvloop.run(turns_until_all_are_in(64)) < 32
