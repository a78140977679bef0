"""What the server takes for a request, and what it refuses: forms, framing, smuggling."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import ServerLimits
from aop.net.server.request import BadRequest, RequestReader
from tests.net.http_wire import echo, serving
from tests.net.not_http import NOT_HTTP
from tests.support.every import every

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


async def test_the_scope_tells_the_request_as_it_came() -> None:
    async with serving(echo) as server:
        client = await server.connect(b"GET /a%2Fb/%C3%A9?q=%20 HTTP/1.1\r\nHost: a\r\nX-A:  1 \r\nX-A: 2\r\n\r\n")
        status, _, body = await client.answer()
    seen = json.loads(body)
    assert status == 200
    assert seen == {
        "method": "GET",
        "path": "/a/b/é",
        "raw_path": "/a%2Fb/%C3%A9",
        "query": "q=%20",
        "version": "1.1",
        "headers": [["host", "a"], ["x-a", "1"], ["x-a", "2"]],
        "body": "",
    }


async def test_client_and_server_addresses_are_in_the_scope() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})

    async with serving(app) as server:
        client = await server.connect(GET)
        await client.head()
        assert seen[0]["client"] == client.writer.get_extra_info("sockname")
        assert seen[0]["server"] == ("127.0.0.1", server.port)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        b"2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nx-t: 1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\ncontent-length: 5\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\ntransfer-encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\n\r\n",
    ],
)
async def test_a_body_is_read_by_its_length_or_its_chunks_however_it_arrives(request_bytes: bytes) -> None:
    async with serving(echo) as server:
        client = await server.connect()
        client.send(request_bytes)
        _, head, body = await client.answer()
        assert json.loads(body)["body"] == "hello"
        assert b"connection: close" not in head
        for place in range(len(request_bytes)):  # on one connection: each request ends where it says
            client.send(request_bytes[:place])
            await asyncio.sleep(0)
            client.send(request_bytes[place:])
            assert json.loads((await client.answer())[2])["body"] == "hello"


@every("name", NOT_HTTP)
async def test_what_is_not_plain_http_is_answered_400_with_no_body_and_closed(name: str) -> None:
    async with serving(echo) as server:
        for data in (NOT_HTTP[name], b"\r\n" + NOT_HTTP[name]):
            reply = await server.exchange(data)
            assert reply.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert reply.endswith(b"content-length: 0\r\n\r\n")
            assert b"connection: close\r\n" in reply
            assert b"x-platform" not in reply
        assert server.server.request_count == 0


@pytest.mark.parametrize("chunks", [b"zz\r\n", b"-1\r\na\r\n", b"1\r\nab\r\n", b"1\na\n", b"ffffffffffffffffff\r\n"])
async def test_a_malformed_chunk_is_400_and_a_disconnect_for_the_application(chunks: bytes) -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        message = {"type": ""}
        while message["type"] != "http.disconnect":
            message = dict(await receive())
            seen.append(message["type"])

    async with serving(app) as server:
        client = await server.connect(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        await asyncio.sleep(0.02)
        client.send(chunks)
        assert (await client.rest()).startswith(b"HTTP/1.1 400 ")
        assert seen[-1] == "http.disconnect"


def read_with(pieces: list[bytes], limits: ServerLimits) -> RequestReader:
    reader = RequestReader(limits)
    for piece in pieces:
        reader.feed(piece)
    return reader


@settings(max_examples=300)
@given(
    st.sampled_from([GET, b"POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"]),
    st.integers(min_value=0),
    st.binary(max_size=4),
    st.booleans(),
)
def test_damaged_requests_are_refused_or_read_the_same_at_any_split(
    request_bytes: bytes, place: int, noise: bytes, insert: bool
) -> None:
    place %= len(request_bytes)
    data = request_bytes[:place] + noise + request_bytes[place + (0 if insert else len(noise)) :]
    outcomes: list[object] = []
    for pieces in ([data], [data[index : index + 1] for index in range(len(data))]):
        try:
            reader = read_with(pieces, ServerLimits())
            outcomes.append((reader.has_head, reader.complete, reader.path, reader.headers, reader.take()))
        except BadRequest:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]
