"""Bodies in both directions at the pace of their reader, and the peer that leaves."""

import asyncio
import socket
from typing import Any

import pytest

from aop.net.asgi import Disconnect, Receive, Scope, Send
from aop.net.own_server import own_server
from aop.net.server import ServerLimits
from tests.net.http_wire import RawClient, replying, serving
from tests.support.waiting import patience, promptly

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
HEAD = b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"


async def test_100_continue_is_sent_only_when_the_application_asks_for_the_body() -> None:
    ask = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await ask.wait()
        message = await receive()
        await replying(200, [], message["body"])(scope, receive, send)

    expecting = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"
    async with serving(app) as server:
        client = await server.connect(expecting)
        first = asyncio.create_task(client.head())
        await asyncio.sleep(0.05)
        assert not first.done()
        ask.set()
        assert await first == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(b"ok")
        assert (await client.answer())[2] == b"ok"
        client.send(expecting + b"ok")  # the body came along: nothing to continue
        assert (await client.answer())[0] == 200


async def test_an_answer_before_the_end_of_the_body_is_seen_and_closes_the_connection() -> None:
    async with serving(replying(413, [], b"")) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4000000\r\n\r\n")
        client.send(b"x" * 3_000_000)
        await client.writer.drain()
        status, head, _ = await client.answer()
        assert status == 413
        assert b"connection: close\r\n" in head
        assert await client.rest() == b""


async def test_a_peer_that_goes_on_sending_to_a_refused_request_is_cut_off() -> None:
    async with serving(replying(413, [], b""), ServerLimits(linger_seconds=0.1)) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4000000\r\n\r\n")
        await client.answer()
        while server.server.connection_count:
            client.send(b"x")
            await asyncio.sleep(0.02)


async def test_a_body_nobody_receives_stops_its_sender() -> None:
    go_on = asyncio.Event()
    received = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal received
        await go_on.wait()
        more = True
        while more:
            message = await receive()
            received += len(message["body"])
            more = message["more_body"]
        await replying(204, [], b"")(scope, receive, send)

    total = 32 << 20
    async with serving(app) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % total)
        client.send(b"x" * total)
        await asyncio.sleep(0.2)
        assert client.writer.transport.get_write_buffer_size() > total // 2
        go_on.set()
        assert (await client.head()).startswith(b"HTTP/1.1 204 ")
        assert received == total


async def hang_up(client: RawClient) -> None:
    client.writer.transport.abort()


async def half_close(client: RawClient) -> None:
    client.writer.write_eof()


async def reset(client: RawClient) -> None:
    sock: Any = client.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.writer.transport.abort()


@pytest.mark.parametrize("leave", [hang_up, half_close, reset])
@pytest.mark.parametrize("streaming", [False, True])
async def test_the_application_learns_at_once_that_its_peer_has_gone(leave: Any, streaming: bool) -> None:
    running, done = asyncio.Event(), asyncio.Event()
    facts: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        gone = own_server(scope).disconnect
        gone.add_callback(lambda: facts.append("callback"))
        await receive()
        if streaming:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
        assert not gone.is_set()
        running.set()
        facts.append((await receive())["type"])
        await gone.wait()
        facts.append(gone.is_set())
        gone.add_callback(lambda: facts.append("late callback"))
        for _ in range(3):  # silent, however often
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        done.set()

    async with serving(app) as server:
        client = await server.connect(GET)
        await running.wait()
        await leave(client)
        async with promptly(1):
            await done.wait()
    assert facts == ["callback", "http.disconnect", True, "late callback"]


async def test_a_removed_callback_is_not_called() -> None:
    gone, calls = Disconnect(), []

    def called() -> None:
        calls.append(1)

    gone.add_callback(called)
    gone.remove_callback(called)
    gone.set()
    gone.set()
    await gone.wait()
    assert calls == []


async def test_a_request_that_ended_in_the_ordinary_way_was_not_disconnected() -> None:
    seen: list[Disconnect] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(own_server(scope).disconnect)
        await replying(204, [], b"")(scope, receive, send)
        assert (await receive())["type"] == "http.disconnect"

    async with serving(app) as server:
        client = await server.connect(GET)
        await client.head()
        await hang_up(client)
        await asyncio.sleep(0.02)
    assert [gone.is_set() for gone in seen] == [False]


async def test_a_send_waits_while_the_peer_does_not_read() -> None:
    sent = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal sent
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(500):
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            sent += 1
        await send({"type": "http.response.body"})

    async with serving(app) as server:
        client = await server.connect(GET)
        await asyncio.sleep(0.2)
        assert sent < 250
        async with patience():
            last = b""
            while not last.endswith(b"0\r\n\r\n"):
                last = last[-4:] + await client.reader.read(1 << 20)
        assert sent == 500


async def test_a_peer_that_half_closes_without_reading_is_gone_at_once() -> None:
    gone = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not own_server(scope).disconnect.is_set():
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        gone.set()

    async with serving(app) as server:
        client = await server.connect(GET)
        await asyncio.sleep(0.1)
        client.writer.write_eof()
        async with promptly(1):
            await gone.wait()
