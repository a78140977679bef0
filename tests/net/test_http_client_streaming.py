"""Streamed answers: piece by piece, bounded, paced by their reader."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop

from aop.net.http import (
    AnswerTooLarge,
    HttpTimeout,
    TransferBroken,
)
from tests.net.http_wire import (
    OK,
    Script,
    answering,
    ask,
    http_client,
    read_request,
    scripted_peer,
    soon,
    streamed,
    until,
)
from tests.support.waiting import promptly


async def test_a_stream_gives_its_head_first_and_then_every_piece_as_it_comes() -> None:
    more = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for piece in (b"one", b"two"):
            await more.wait()
            more.clear()
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await more.wait()
        writer.write(b"3\r\nend\r\n0\r\n\r\n")
        await read_request(reader)
        writer.write(OK)
        await reader.read()

    async with scripted_peer(script) as peer, http_client() as client:
        async with client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer:
            assert (answer.status, answer.header(b"transfer-encoding")) == (200, b"chunked")
            pieces = []
            more.set()
            async for piece in answer:
                pieces.append(piece)
                more.set()
        assert pieces == [b"one", b"two", b"end"]
        assert await ask(client, peer.target) == b"ok"
        assert peer.connections == 1


async def test_what_has_already_arrived_is_handed_over_in_one_piece() -> None:
    body = b"".join(b"1\r\n%c\r\n" % letter for letter in b"abcdef")
    reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"
    async with scripted_peer(answering(reply)) as peer, http_client() as client:
        assert await streamed(client, peer.target) == [b"abcdef"]


async def test_a_stream_that_breaks_gives_what_came_and_then_the_error() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        writer.write_eof()
        await reader.read()

    async with (
        scripted_peer(script) as peer,
        http_client() as client,
        client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer,
    ):
        await asyncio.sleep(0.05)
        assert await anext(answer) == b"half"
        with pytest.raises(TransferBroken):
            await anext(answer)


async def test_leaving_a_stream_early_closes_its_connection() -> None:
    reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"
    async with scripted_peer(answering(reply)) as peer, http_client() as client:
        async with client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer:
            assert await anext(answer) == b"a"
        async with promptly(1):
            await peer.left.wait()
        with pytest.raises(RuntimeError, match="left"):
            await anext(answer)


async def test_the_deadline_of_a_stream_holds_between_pieces() -> None:
    reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"
    async with scripted_peer(answering(reply)) as peer, http_client() as client:
        with pytest.raises(HttpTimeout):
            await streamed(client, peer.target, seconds=0.05)


async def test_the_total_of_a_stream_is_bounded() -> None:
    reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
    async with scripted_peer(answering(reply)) as peer, http_client() as client:
        with pytest.raises(AnswerTooLarge):
            await streamed(client, peer.target, max_body=5)


async def test_a_reader_that_does_not_read_stops_the_sender() -> None:
    sent = 0
    total = 32 << 20

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % total)
        while sent < total:
            writer.write(b"x" * 65536)
            sent += 65536
            await writer.drain()
        await reader.read()

    async with (
        scripted_peer(script) as peer,
        http_client() as client,
        client.stream(peer.target, "GET", "/", deadline=soon(10), max_body=total) as answer,
    ):
        await asyncio.sleep(0.3)
        assert sent < total
        assert sum([len(piece) async for piece in answer]) == total


def chunks_at_a_time(*pieces: bytes, said: Callable[[], asyncio.Event]) -> Script:
    """Sends the next one whenever the event is set, and then the end."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for piece in pieces:
            await said().wait()
            said().clear()
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await said().wait()
        writer.write(b"0\r\n\r\n")
        await reader.read()

    return script


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_pieces_that_are_handed_over_come_in_order_and_wait_when_they_are_told_to(run: Callable[..., object]) -> None:
    async def scene() -> None:
        more, taken, stops = asyncio.Event(), list[bytes](), 0

        def take(piece: bytes) -> bool:
            taken.append(piece)
            more.set()
            return piece != b"two"

        script = chunks_at_a_time(b"one", b"two", b"three", b"four", said=lambda: more)
        async with scripted_peer(script) as peer, http_client() as client:
            async with client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer:
                more.set()
                while await answer.hand_to(take):
                    stops += 1
                    await asyncio.sleep(0.05)  # the next piece arrives meanwhile
                    assert taken == [b"one", b"two"]
            assert taken[:2] == [b"one", b"two"]
            assert b"".join(taken[2:]) == b"threefour"
            assert stops == 1
            assert peer.connections == 1

    run(scene())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_what_fails_while_a_piece_is_taken_is_raised_where_the_pieces_are_awaited(run: Callable[..., object]) -> None:
    async def scene() -> None:
        more = asyncio.Event()

        def take(piece: bytes) -> bool:
            more.set()
            if piece == b"two":
                raise LookupError(piece)
            return True

        script = chunks_at_a_time(b"one", b"two", b"three", said=lambda: more)
        async with scripted_peer(script) as peer, http_client() as client:
            async with client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer:
                more.set()
                with pytest.raises(LookupError):
                    await answer.hand_to(take)
            more.set()
            async with promptly(1):
                await peer.left.wait()

    run(scene())


async def test_nothing_is_handed_over_after_whoever_awaits_it_was_stopped() -> None:
    more, taken = asyncio.Event(), list[bytes]()

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    async with (
        scripted_peer(chunks_at_a_time(b"one", b"two", said=lambda: more)) as peer,
        http_client() as client,
        client.stream(peer.target, "GET", "/", deadline=soon(), max_body=100) as answer,
    ):
        waiting = asyncio.create_task(answer.hand_to(take))
        more.set()
        await until(lambda: bool(taken))
        waiting.cancel()
        more.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await anext(answer) == b"two"
        assert taken == [b"one"]


async def test_pieces_that_are_handed_over_end_with_the_error_that_cut_them() -> None:
    reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"
    taken = list[bytes]()

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    async with (
        scripted_peer(answering(reply)) as peer,
        http_client() as client,
        client.stream(peer.target, "GET", "/", deadline=soon(0.2), max_body=100) as answer,
    ):
        with pytest.raises(HttpTimeout):
            await answer.hand_to(take)
    assert taken == [b"a"]
