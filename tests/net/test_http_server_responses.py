"""How an ASGI application answers through the server: framing, order, flow, disconnect, failure."""

import asyncio
import logging

import pytest
import uvloop

from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.own_server import FixedHead, own_server
from aop.net.server import ServerLimits
from tests.net.http_wire import replying, serving
from tests.support.waiting import promptly

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
HEAD = b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"


def lines(head: bytes) -> list[bytes]:
    """The head without its date."""
    return [line for line in head.split(b"\r\n") if line and not line.startswith(b"date: ")]


async def exchange(app: ASGIApp, request: bytes, *, until_close: bool = False) -> tuple[list[bytes], bytes]:
    async with serving(app, ServerLimits(idle_seconds=0.05)) as server:
        client = await server.connect(request)
        head = await client.head()
        assert head.count(b"\r\ndate: ") == 1
        assert b"\r\nserver: " not in head
        body = await client.rest() if until_close else b""
        return lines(head), body


async def test_a_single_body_gets_its_length() -> None:
    assert await exchange(replying(200, [(b"x-a", b"1")], b"hello"), GET, until_close=True) == (
        [b"HTTP/1.1 200 OK", b"x-a: 1", b"content-length: 5"],
        b"hello",
    )


@pytest.mark.parametrize("request_head", [GET, HEAD, b"GET / HTTP/1.0\r\n\r\n"])
@pytest.mark.parametrize("size", [0, 5, 300_000])
async def test_a_head_that_was_written_before_makes_the_same_answer(request_head: bytes, size: int) -> None:
    headers, body = ((b"content-type", b"text/plain"), (b"x-a", b"1")), b"a" * size
    head = FixedHead(404, headers)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await own_server(scope).answer_fixed(head, body)

    plain = await exchange(replying(404, list(headers), body), request_head, until_close=True)
    assert await exchange(app, request_head, until_close=True) == plain


@pytest.mark.parametrize("size", [0, 5, 300_000])
async def test_one_value_of_a_head_that_was_written_before_may_vary(size: int) -> None:
    body, head = b"a" * size, FixedHead(404, ((b"x-a", b"1"),), b"x-b")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await own_server(scope).answer_fixed(head, body, b"2")

    plain = await exchange(replying(404, [(b"x-a", b"1"), (b"x-b", b"2")], body), GET, until_close=True)
    assert await exchange(app, GET, until_close=True) == plain


async def test_a_value_that_could_be_read_as_another_line_is_not_sent() -> None:
    head = FixedHead(200, (), b"x-b")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await own_server(scope).answer_fixed(head, b"{}", b"2\r\nx-c: 3")

    lines, body = await exchange(app, GET, until_close=True)
    assert lines[0] == b"HTTP/1.1 500 Internal Server Error"
    assert body == b""


@pytest.mark.parametrize("name", [b"connection", b"transfer-encoding", b"date", b"content-length", b"X-A", b"x a"])
def test_a_head_that_frames_its_body_or_holds_another_line_is_not_written_before(name: bytes) -> None:
    with pytest.raises(ValueError, match="head"):
        FixedHead(200, ((name, b"1"),))
    with pytest.raises(ValueError, match="head"):
        FixedHead(200, (), name)
    with pytest.raises(ValueError, match="head"):
        FixedHead(200, ((b"x", b"1\r\ny: 2"),))
    with pytest.raises(ValueError, match="head"):
        FixedHead(204, ())


async def test_a_declared_length_is_kept() -> None:
    app = replying(200, [(b"content-length", b"5")], b"he", b"llo")
    assert await exchange(app, GET, until_close=True) == ([b"HTTP/1.1 200 OK", b"content-length: 5"], b"hello")


async def test_a_body_of_unknown_length_is_chunked() -> None:
    assert await exchange(replying(200, [], b"he", b"", b"llo"), GET, until_close=True) == (
        [b"HTTP/1.1 200 OK", b"transfer-encoding: chunked"],
        b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    )


async def test_an_http_1_0_client_gets_no_chunks_and_a_close() -> None:
    head, body = await exchange(replying(200, [], b"he", b"llo"), b"GET / HTTP/1.0\r\n\r\n", until_close=True)
    assert (head, body) == ([b"HTTP/1.1 200 OK", b"connection: close"], b"hello")
    head, body = await exchange(
        replying(200, [], b"hello"), b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", until_close=True
    )
    assert (head, body) == ([b"HTTP/1.1 200 OK", b"content-length: 5", b"connection: close"], b"hello")


@pytest.mark.parametrize("bodies", [(b"hello",), (b"he", b"llo")])
async def test_an_answer_to_head_has_the_head_and_no_body(bodies: tuple[bytes, ...]) -> None:
    declared = replying(200, [(b"content-length", b"5")], *bodies)
    assert await exchange(declared, HEAD, until_close=True) == ([b"HTTP/1.1 200 OK", b"content-length: 5"], b"")
    _, body = await exchange(replying(200, [], *bodies), HEAD, until_close=True)
    assert body == b""


@pytest.mark.parametrize("status", [204, 304])
async def test_a_status_without_a_body_has_none(status: int) -> None:
    head, body = await exchange(replying(status, [], b"dropped"), GET, until_close=True)
    assert (len(head), body) == (1, b"")


async def test_connections_are_kept_for_the_next_request_unless_someone_says_close() -> None:
    async with serving(replying(200, [], b"ok")) as server:
        client = await server.connect()
        for _ in range(3):
            client.send(GET)
            assert (await client.answer())[2] == b"ok"
        client.send(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        assert b"\r\nconnection: close\r\n" in (await client.answer())[1]
        assert await client.rest() == b""
    async with serving(replying(200, [(b"connection", b"close")], b"ok")) as server:
        reply = await server.exchange(GET)
        assert reply.count(b"connection: close") == 1


async def test_head_and_first_body_leave_in_one_write() -> None:
    async with serving(replying(200, [], b"x" * 1000)) as server:
        client = await server.connect(GET)
        piece = await client.reader.read(65536)
        assert piece.endswith(b"x" * 1000)


async def test_an_empty_body_with_more_to_come_sends_the_head_alone() -> None:
    more = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await more.wait()
        await send({"type": "http.response.body", "body": b"late"})

    async with serving(app) as server:
        client = await server.connect(GET)
        assert b"transfer-encoding: chunked" in await client.head()
        more.set()
        assert await client.reader.readexactly(14) == b"4\r\nlate\r\n0\r\n\r\n"


async def test_an_application_that_raises_before_its_answer_is_500_with_no_body(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise LookupError("planted-secret")

    with caplog.at_level(logging.ERROR, "aop.server"):
        head, body = await exchange(app, GET, until_close=True)
    assert (head[0], body) == (b"HTTP/1.1 500 Internal Server Error", b"")
    assert b"content-length: 0" in head
    assert [record.exc_info and record.exc_info[0] for record in caplog.records] == [LookupError]
    assert "planted-secret" not in caplog.records[0].getMessage()


@pytest.mark.parametrize("ending", ["raises", "returns"])
async def test_an_application_that_fails_in_its_answer_leaves_it_visibly_cut(ending: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        if ending == "raises":
            raise LookupError

    head, body = await exchange(app, GET, until_close=True)
    assert (head[0], body) == (b"HTTP/1.1 200 OK", b"4\r\nhalf\r\n")


@pytest.mark.parametrize(
    "app",
    [
        replying(200, [(b"x-a", b"1\r\nx-b: 2")], b""),
        replying(200, [(b"x\r\n", b"1")], b""),
        replying(200, [(b"X-A", b"1")], b""),
        replying(200, [(b"content-length", b"3")], b"four"),
        replying(200, [(b"content-length", b"5")], b"four"),
        replying(200, [(b"content-length", b"-4")], b"four"),
        replying(200, [(b"content-length", b"4"), (b"content-length", b"4")], b"four"),
        replying(101, [], b""),
        replying(999, [], b""),
    ],
)
async def test_a_response_that_would_break_the_connection_is_never_sent(app: ASGIApp) -> None:
    head, body = await exchange(app, GET, until_close=True)
    assert (head[0], body) == (b"HTTP/1.1 500 Internal Server Error", b"")


def test_the_server_does_the_same_on_uvloop() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        if scope["path"] == "/wait":
            await own_server(scope).disconnect.wait()
            left.set()
        await replying(200, [], message["body"])(scope, receive, send)

    async def scenario() -> None:
        async with serving(app) as server:
            client = await server.connect()
            for _ in range(2):
                client.send(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok")
                assert (await client.answer())[2] == b"ok"
            assert (await server.exchange(b"nonsense\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
            assert await server.exchange(GET + GET) == b""
            client.send(b"GET /wait HTTP/1.1\r\nhost: a\r\n\r\n")
            await asyncio.sleep(0.02)
            client.writer.write_eof()
            async with promptly(1):
                await left.wait()

    left = asyncio.Event()
    uvloop.run(scenario())
