"""Which connections the client uses again, and which it never does."""

import asyncio
import socket
import time

import pytest

from aop.net.http import (
    HttpClient,
    Target,
    TransferBroken,
)
from tests.net.http_wire import OK, answering, ask, http_client, read_request, scripted_peer, soon, streamed
from tests.support.every import every
from tests.support.waiting import promptly


async def test_a_connection_is_used_again_after_an_exactly_read_answer() -> None:
    async with scripted_peer(answering(OK, OK, OK)) as peer, http_client() as client:
        for _ in range(3):
            assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
        OK + OK,
    ],
)
async def test_a_connection_is_not_used_again_when_the_answer_spoils_it(answer: bytes) -> None:
    async with scripted_peer(answering(answer)) as peer, http_client() as client:
        assert await ask(client, peer.target) == b"ok"
        assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 2


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
BODILESS = b"HTTP/1.1 204 OK\r\n\r\n"
NOT_MODIFIED = b"HTTP/1.1 304 OK\r\ncontent-length: 2\r\n\r\n"


@pytest.mark.rows("SOUND-01")
@every("answer", [OK, CHUNKED, INTERIM + OK, BODILESS, NOT_MODIFIED])
@every("more", [OK, OK[:1], OK[:-1], CHUNKED, INTERIM, b"x: y\r\n\r\n", b"ok", b"0"])
async def test_whatever_comes_with_an_answer_and_is_no_part_of_it_spoils_the_connection(
    answer: bytes, more: bytes
) -> None:
    async with scripted_peer(answering(answer + more)) as peer, http_client() as client:
        for stream in (False, True):
            got = b"".join(await streamed(client, peer.target)) if stream else await ask(client, peer.target)
            assert got == (b"" if answer in {BODILESS, NOT_MODIFIED} else b"ok")
        assert peer.connections == 2


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("more", [OK, OK[:1], INTERIM, b"\r\n"])
async def test_bytes_that_the_loop_has_not_read_yet_are_seen_before_writing(more: bytes) -> None:
    async with http_client() as client:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            target = Target("http", "a.test", listener.getsockname()[1], "127.0.0.1")
            first = asyncio.create_task(ask(client, target))
            accepted = await asyncio.to_thread(lambda: listener.accept()[0])
            await asyncio.to_thread(accepted.recv, 4096)
            accepted.send(OK)
            assert await first == b"ok"
            accepted.send(more)  # no await between this and the next request
            second = asyncio.create_task(ask(client, target))
            again = await asyncio.to_thread(lambda: listener.accept()[0])
            await asyncio.to_thread(again.recv, 4096)
            again.send(OK)
            assert await second == b"ok"
            for connection in (accepted, again):
                connection.close()


async def test_a_connection_on_which_bytes_arrive_while_idle_is_dropped() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        await asyncio.sleep(0.02)
        writer.write(OK)
        await reader.read()

    async with scripted_peer(script) as peer, http_client() as client:
        assert await ask(client, peer.target) == b"ok"
        async with promptly(2):
            await peer.left.wait()
        assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 2


async def test_a_connection_that_the_peer_closed_while_idle_is_never_written_to() -> None:
    requests: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await read_request(reader))
        writer.write(OK)

    async with scripted_peer(script) as peer, http_client() as client:
        for _ in range(50):
            assert await ask(client, peer.target) == b"ok"
        assert len(requests) == peer.connections == 50


async def test_a_close_that_the_loop_has_not_reported_yet_is_seen_before_writing() -> None:
    async with http_client() as client:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            target = Target("http", "a.test", listener.getsockname()[1], "127.0.0.1")
            first = asyncio.create_task(ask(client, target))
            accepted = await asyncio.to_thread(lambda: listener.accept()[0])
            await asyncio.to_thread(accepted.recv, 4096)
            accepted.send(OK)
            assert await first == b"ok"
            accepted.close()  # no await between this and the next request
            second = asyncio.create_task(ask(client, target))
            again = await asyncio.to_thread(lambda: listener.accept()[0])
            await asyncio.to_thread(again.recv, 4096)
            again.send(OK)
            assert await second == b"ok"
            again.close()


async def test_a_request_that_met_a_closing_connection_is_not_sent_twice() -> None:
    requests: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await read_request(reader))
        writer.write(OK)
        requests.append(await read_request(reader))

    async with scripted_peer(script) as peer, http_client() as client:
        assert await ask(client, peer.target) == b"ok"
        with pytest.raises(TransferBroken):
            await ask(client, peer.target)
        assert (len(requests), peer.connections) == (2, 1)


async def test_an_idle_connection_is_closed_after_its_time() -> None:
    async with scripted_peer(answering(OK)) as peer, http_client(idle_seconds=0.05) as client:
        assert await ask(client, peer.target) == b"ok"
        async with promptly(2):
            await peer.left.wait()
        assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 2


async def test_a_connection_past_its_time_is_not_used_even_by_a_loop_that_is_late() -> None:
    async with scripted_peer(answering(OK, OK)) as peer, http_client(idle_seconds=0.05) as client:
        assert await ask(client, peer.target) == b"ok"
        time.sleep(0.08)  # noqa: ASYNC251 - no timer of the loop can run meanwhile
        assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 2


async def test_connections_are_kept_apart_by_host_and_judged_address() -> None:
    async with scripted_peer(answering(OK, OK)) as peer, http_client() as client:
        for host, address in (("a.test", "127.0.0.1"), ("b.test", "127.0.0.1"), ("a.test", "127.0.0.1")):
            await ask(client, Target("http", host, peer.port, address))
        assert peer.connections == 2


async def test_at_most_the_given_number_of_connections_rests() -> None:
    async with scripted_peer(answering(OK, OK)) as peer:
        client = HttpClient(idle_seconds=5, connect_seconds=5, max_idle_per_target=2)
        await asyncio.gather(*(ask(client, peer.target) for _ in range(5)))
        await asyncio.gather(*(ask(client, peer.target) for _ in range(5)))
        assert peer.connections == 8
        await client.close()


async def test_an_answer_that_comes_before_the_whole_request_was_taken_spoils_the_connection() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await asyncio.sleep(5)

    async with scripted_peer(script) as peer, http_client() as client:
        body = b"x" * (16 << 20)
        for _ in range(2):
            answer = await client.request(peer.target, "POST", "/", body=body, deadline=soon(), max_body=10)
            assert answer.status == 413
        assert peer.connections == 2
