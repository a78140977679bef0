"""Deadlines and cancellation of the client, in every phase."""

import asyncio
import socket
from contextlib import suppress

import pytest

from aop.net.http import (
    ConnectFailed,
    HttpClient,
    HttpTimeout,
    Target,
    TransferBroken,
)
from tests.net.http_wire import OK, answering, ask, http_client, read_request, scripted_peer
from tests.support.waiting import generous, promptly

pytestmark = pytest.mark.second_ring


async def test_the_deadline_holds_while_connecting() -> None:
    # A listener whose queue is full answers no further connection attempt.
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            with suppress(BlockingIOError):
                filler.connect(address)
        target = Target("http", "a.test", address[1], "127.0.0.1")
        async with http_client(connect_seconds=5) as client:
            with pytest.raises(HttpTimeout):
                await ask(client, target, seconds=0.05)
        async with http_client(connect_seconds=0.05) as client:
            with pytest.raises(ConnectFailed) as failure:
                await ask(client, target, seconds=5)
        assert failure.value.phase == "connect"
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK\r\ncontent-le", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no"]
)
async def test_the_deadline_holds_in_the_head_and_in_the_body_and_closes_the_connection(sent: bytes) -> None:
    # The bound around it all is for bytes that would push the deadline.
    async with promptly(5), scripted_peer(answering(sent)) as peer, http_client() as client:
        with pytest.raises(HttpTimeout) as late:
            await ask(client, peer.target, seconds=0.05)
        assert isinstance(late.value, TimeoutError)
        async with promptly(2):
            await peer.left.wait()


async def test_a_deadline_that_has_passed_sends_nothing() -> None:
    async with scripted_peer(answering(OK)) as peer, http_client() as client:
        with pytest.raises(HttpTimeout):
            await ask(client, peer.target, seconds=-1)
        assert peer.connections == 0


@pytest.mark.parametrize("earlier", [(0.05, 30.0), (30.0, 0.05), (30.0, 30.0)])
async def test_each_exchange_of_a_connection_has_its_own_deadline(earlier: tuple[float, float]) -> None:
    async with scripted_peer(answering(OK, OK, b"")) as peer, http_client() as client:
        for seconds in earlier:
            await ask(client, peer.target, seconds=seconds)
        await asyncio.sleep(0.06)  # a short deadline passes while nothing is asked
        started = asyncio.get_running_loop().time()
        with pytest.raises(HttpTimeout):
            await ask(client, peer.target, seconds=0.05)
        assert asyncio.get_running_loop().time() - started < generous(1)
        assert peer.connections == 1


async def test_cancelling_a_request_closes_its_connection_at_once() -> None:
    asked = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        asked.set()
        await reader.read()

    async with scripted_peer(script) as peer, http_client() as client:
        request = asyncio.create_task(ask(client, peer.target))
        await asked.wait()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        async with promptly(1):
            await peer.left.wait()


async def test_closing_the_client_ends_what_still_runs() -> None:
    async with scripted_peer(answering(b"")) as peer:
        client = HttpClient(idle_seconds=1, connect_seconds=1)
        request = asyncio.create_task(ask(client, peer.target))
        async with promptly(2):
            await peer.arrived.wait()
        await client.close()
        with pytest.raises(TransferBroken):
            await request
        with pytest.raises(RuntimeError, match="closed"):
            await ask(client, peer.target)
