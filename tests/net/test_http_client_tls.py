"""TLS of the client: the name is the host's, whatever address is dialed."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop

from aop.net.authorities import certified_context
from aop.net.http import ConnectFailed, HttpClient, HttpTimeout, Target, TransferBroken
from tests.net.http_wire import OK, answering, read_request, scripted_peer
from tests.support.authority import Authority


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def ask(client: HttpClient, host: str, port: int, seconds: float = 5, max_body: int = 100) -> bytes:
    target = Target("https", host, port, "127.0.0.1")
    deadline = asyncio.get_running_loop().time() + seconds
    return (await client.request(target, "GET", "/", deadline=deadline, max_body=max_body)).body


async def reused_twice(authority: Authority) -> int:
    seen: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            seen.append(await read_request(reader))
            writer.write(OK)
        await reader.read()

    async with scripted_peer(script, authority.server_context("agent.test")) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=5, tls=authority.client_context())
        for _ in range(2):
            assert await ask(client, "agent.test", peer.port) == b"ok"
        await client.close()
    assert b"host: agent.test:%d\r\n" % peer.port in seen[0]
    return peer.connections


async def test_the_certificate_is_checked_for_the_host_while_another_address_is_dialed(authority: Authority) -> None:
    assert await reused_twice(authority) == 1


def test_tls_does_the_same_on_uvloop(authority: Authority) -> None:
    assert uvloop.run(reused_twice(authority)) == 1


async def test_a_certificate_of_another_name_is_refused_in_the_tls_phase(authority: Authority) -> None:
    async with scripted_peer(answering(OK), authority.server_context("other.test")) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=5, tls=authority.client_context())
        with pytest.raises(ConnectFailed) as failure:
            await ask(client, "agent.test", peer.port)
        assert failure.value.phase == "tls"
        with pytest.raises(ConnectFailed):  # the dialed address is no name either
            await ask(client, "127.0.0.1", peer.port)
        await client.close()


async def test_a_certificate_of_an_unknown_authority_is_refused_by_default(authority: Authority) -> None:
    context = certified_context()
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    async with scripted_peer(answering(OK), authority.server_context("agent.test")) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=5)
        with pytest.raises(ConnectFailed) as failure:
            await ask(client, "agent.test", peer.port)
        assert failure.value.phase == "tls"
        await client.close()


async def test_a_handshake_is_bounded_by_the_connect_time_and_by_the_deadline(authority: Authority) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        await asyncio.sleep(5)

    async with scripted_peer(silent) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=0.05, tls=authority.client_context())
        with pytest.raises(ConnectFailed) as failure:
            await ask(client, "agent.test", peer.port)
        assert failure.value.phase == "tls"
        await client.close()
        client = HttpClient(idle_seconds=5, connect_seconds=5, tls=authority.client_context())
        with pytest.raises(HttpTimeout):
            await ask(client, "agent.test", peer.port, seconds=0.05)
        await client.close()


async def until_close(authority: Authority, *, alert: bool) -> bytes:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        await writer.drain()
        await asyncio.sleep(0.05)
        if alert:
            writer.close()
            await writer.wait_closed()

    async with scripted_peer(script, authority.server_context("agent.test")) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=5, tls=authority.client_context())
        try:
            return await ask(client, "agent.test", peer.port)
        finally:
            await client.close()


async def test_a_tls_stream_cut_without_its_closing_alert_is_not_a_whole_body(authority: Authority) -> None:
    assert await until_close(authority, alert=True) == b"until the end"
    with pytest.raises(TransferBroken):
        await until_close(authority, alert=False)


def test_a_cut_tls_stream_is_seen_on_uvloop_too(authority: Authority) -> None:
    assert uvloop.run(until_close(authority, alert=True)) == b"until the end"
    with pytest.raises(TransferBroken):
        uvloop.run(until_close(authority, alert=False))


def says_and_goes(listener: socket.socket, context: ssl.SSLContext, answer: bytes) -> None:
    """Sends all of it and closes at once, without waiting for the other side to say goodbye."""
    accepted, _ = listener.accept()
    with context.wrap_socket(accepted, server_side=True) as peer:
        peer.recv(65536)
        peer.sendall(answer)
        peer.setblocking(False)
        with suppress(ssl.SSLError, OSError):
            peer.unwrap()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("framing", [b"content-length: 300000\r\n", b"connection: close\r\n"])
def test_a_large_answer_is_whole_though_its_peer_leaves_at_once(
    authority: Authority, run: Callable[[Coroutine[Any, Any, bytes]], bytes], framing: bytes
) -> None:
    body = bytes(range(250)) * 1200
    answer = b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (framing, body)

    async def body_from(port: int) -> bytes:
        client = HttpClient(idle_seconds=5, connect_seconds=5, tls=authority.client_context())
        try:
            return await ask(client, "agent.test", port, max_body=1 << 20)
        finally:
            await client.close()

    for _ in range(5):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            given = (listener, authority.server_context("agent.test"), answer)
            peer = threading.Thread(target=says_and_goes, args=given)
            peer.start()
            assert run(body_from(listener.getsockname()[1])) == body
            peer.join()
