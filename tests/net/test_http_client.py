"""The client on real sockets: what is sent, and what becomes of broken answers."""

import asyncio
import socket

import pytest
import uvloop

from aop.net.http import (
    AnswerTooLarge,
    ConnectFailed,
    HttpTimeout,
    RepeatedHeader,
    Target,
    TransferBroken,
    completed,
    request_head,
    with_headers,
)
from tests.net.http_wire import OK, answering, ask, http_client, read_request, scripted_peer, soon, streamed
from tests.support.every import every
from tests.support.waiting import promptly


async def test_the_request_goes_out_exactly_as_given_with_host_and_length_added() -> None:
    seen: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await read_request(reader))
        writer.write(OK)

    async with scripted_peer(script) as peer, http_client() as client:
        answer = await client.request(
            peer.target, "POST", "/a?b=%20", headers=[(b"x-a", b"1")], body=b"{}", deadline=soon(), max_body=10
        )
    assert (answer.status, answer.body) == (200, b"ok")
    assert seen == [
        b"POST /a?b=%%20 HTTP/1.1\r\nhost: peer.test:%d\r\nx-a: 1\r\ncontent-length: 2\r\n\r\n{}" % peer.port
    ]


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [("a.test", 443, b"a.test"), ("a.test", 80, b"a.test:80"), ("::1", 443, b"[::1]"), ("::1", 8443, b"[::1]:8443")],
)
def test_host_names_the_port_unless_it_is_the_scheme_s_own(host: str, port: int, expected: bytes) -> None:
    assert Target("https", host, port, "192.0.2.1").authority == expected


@every(
    ("method", "path", "headers"),
    [
        ("GET\r\nx", "/", []),
        ("get", "/", []),
        ("GET", "/\r\nx: y", []),
        ("GET", "/a b", []),
        ("GET", "/a#b", []),
        ("GET", "", []),
        ("GET", "http://a/", []),
        ("GET", "/é", []),
        ("GET", "/\x00", []),
        ("GET", "/", [(b"x\r\ny", b"1")]),
        ("GET", "/", [(b"x y", b"1")]),
        ("GET", "/", [(b"", b"1")]),
        ("GET", "/", [(b"X-A", b"1")]),
        ("GET", "/", [(b"x", b"1\r\ny: 2")]),
        ("GET", "/", [(b"x", b"1\ny: 2")]),
        ("GET", "/", [(b"x", b"1\x00")]),
        ("GET", "/", [(b"host", b"other")]),
        ("GET", "/", [(b"content-length", b"5")]),
        ("GET", "/", [(b"transfer-encoding", b"chunked")]),
        ("GET", "/", [(b"connection", b"close")]),
    ],
)
async def test_nothing_that_could_be_read_as_another_line_is_sent(
    method: str, path: str, headers: list[tuple[bytes, bytes]]
) -> None:
    async with scripted_peer(answering(OK)) as peer, http_client() as client:
        with pytest.raises(ValueError):  # noqa: PT011 - each case is its own reason
            await client.request(peer.target, method, path, headers=headers, deadline=soon(), max_body=10)
        with pytest.raises(ValueError):  # noqa: PT011 - each case is its own reason
            client.stream(peer.target, method, path, headers=headers, deadline=soon(), max_body=10)
        if headers:
            with pytest.raises(ValueError):  # noqa: PT011 - each case is its own reason
                with_headers(request_head(peer.target, "GET", "/", ()), headers)
            with pytest.raises(ValueError):  # noqa: PT011 - each case is its own reason
                completed(request_head(peer.target, "POST", "/", ()), headers, b"{}")
        assert peer.connections == 0


def test_a_host_that_could_be_read_as_another_line_is_no_target() -> None:
    with pytest.raises(ValueError, match="Host"):
        Target("http", "a\r\nx: y", 80, "127.0.0.1")
    with pytest.raises(ValueError, match="scheme"):
        Target("ftp", "a", 80, "127.0.0.1")


async def test_a_header_is_one_value_or_none_or_an_error_when_repeated() -> None:
    reply = b"HTTP/1.1 204 No Content\r\nX-A: 1\r\nX-B: 1\r\nx-b: 2\r\n\r\n"
    async with scripted_peer(answering(reply)) as peer, http_client() as client:
        answer = await client.request(peer.target, "GET", "/", deadline=soon(), max_body=0)
    assert answer.header(b"x-a") == b"1"
    assert answer.header(b"x-c") is None
    assert answer.headers_named(b"x-b") == [b"1", b"2"]
    with pytest.raises(RepeatedHeader):
        answer.header(b"x-b")


async def test_an_answer_cut_at_any_byte_is_a_broken_transfer() -> None:
    for end in range(len(OK)):

        async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: int = end) -> None:
            await read_request(reader)
            writer.write(OK[:end])
            await writer.drain()

        async with scripted_peer(script) as peer, http_client() as client:
            with pytest.raises(TransferBroken):
                await ask(client, peer.target)


async def test_an_answer_split_at_any_byte_is_the_same_answer() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for place in range(1, len(OK)):
            await read_request(reader)
            writer.write(OK[:place])
            await asyncio.sleep(0.002)
            writer.write(OK[place:])

    async with scripted_peer(script) as peer, http_client() as client:
        for _ in range(1, len(OK)):
            assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 1


async def test_a_reset_during_the_answer_is_a_broken_transfer() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nuntil the close")
        await writer.drain()
        await asyncio.sleep(0.05)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    async with scripted_peer(script) as peer, http_client() as client:
        with pytest.raises(TransferBroken):
            await ask(client, peer.target)


async def test_a_body_until_the_close_is_read_to_its_end() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        writer.write_eof()
        await reader.read()

    async with scripted_peer(script) as peer, http_client() as client:
        assert await ask(client, peer.target) == b"all of it"


async def test_a_refused_connection_names_its_phase() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with http_client() as client:
        with pytest.raises(ConnectFailed) as failure:
            await ask(client, Target("http", "a.test", port, "127.0.0.1"))
    assert failure.value.phase == "connect"


async def test_an_answer_over_the_limit_is_refused_and_its_connection_closed() -> None:
    async with scripted_peer(answering(OK)) as peer, http_client() as client:
        with pytest.raises(AnswerTooLarge):
            await ask(client, peer.target, max_body=1)
        async with promptly(2):
            await peer.left.wait()


def test_the_client_does_the_same_on_uvloop() -> None:
    async def scenario() -> int:
        async with scripted_peer(answering(OK, OK, b"HTTP/1.1 200 OK\r\n")) as peer, http_client() as client:
            assert await ask(client, peer.target) == b"ok"
            assert await streamed(client, peer.target) == [b"ok"]
            with pytest.raises(HttpTimeout):
                await ask(client, peer.target, seconds=0.05)
            return peer.connections

    assert uvloop.run(scenario()) == 1
