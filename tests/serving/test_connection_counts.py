"""Workers share their connections: whoever has clearly more than another leaves the next one to it."""

import asyncio
import os
import socket
from typing import Any

import pytest

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, ServerLimits
from aop.net.sockets import listening_socket
from aop.serving.workers.connection_counts import ConnectionCounts
from tests.support.waiting import becomes_true


async def no_content(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204})
    await send({"type": "http.response.body"})


class Callers:
    """Connections that the kernel has made, whether or not anybody has accepted them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._sockets: list[socket.socket] = []

    def connect(self, count: int) -> None:
        self._sockets += [socket.create_connection(("127.0.0.1", self._port)) for _ in range(count)]

    def hang_up(self) -> None:
        for sock in self._sockets:
            sock.close()


@pytest.mark.rows("HA-05")
async def test_a_worker_with_fewer_connections_gets_the_next_ones() -> None:
    listener, counts = listening_socket("127.0.0.1", 0), ConnectionCounts.opened(2)
    first, second = (HttpServer(no_content, ServerLimits(), neighbours=counts.place(number)) for number in (1, 2))
    callers = Callers(listener.getsockname()[1])
    await first.start([listener.dup()])
    callers.connect(20)
    await _have(20, first)
    await second.start([listener])
    callers.connect(16)
    await _have(36, first, second)
    assert (first.connection_count, second.connection_count) == (20, 16)
    callers.hang_up()
    await _have(0, first, second)
    callers.connect(4)  # those that are gone do not count
    await _have(4, first, second)
    assert first.connection_count == second.connection_count == 2
    callers.hang_up()
    await asyncio.gather(first.stop(1), second.stop(1))


@pytest.mark.rows("HA-05")
async def test_a_worker_that_takes_no_connections_holds_nobody_up() -> None:
    listener, counts = listening_socket("127.0.0.1", 0), ConnectionCounts.opened(2)
    counts.place(2).tell(0)
    server = HttpServer(no_content, ServerLimits(), neighbours=counts.place(1))
    callers = Callers(listener.getsockname()[1])
    await server.start([listener])
    callers.connect(50)
    await _have(50, server)
    callers.hang_up()
    await server.stop(1)


async def test_an_acceptor_that_waits_for_its_neighbours_can_be_stopped() -> None:
    listener, counts = listening_socket("127.0.0.1", 0), ConnectionCounts.opened(2)
    counts.place(2).tell(0)
    server = HttpServer(no_content, ServerLimits(), neighbours=counts.place(1))
    port = listener.getsockname()[1]
    callers = Callers(port)
    await server.start([listener])
    callers.connect(40)
    while not server.connection_count:  # noqa: ASYNC110  it has taken what it may, and waits
        await asyncio.sleep(0)
    server.stop_accepting()
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    callers.hang_up()
    await asyncio.sleep(0.02)  # longer than it would have waited
    assert not failures
    await server.stop(1)


async def test_nobody_waits_for_a_worker_that_accepts_no_more() -> None:
    listener, counts = listening_socket("127.0.0.1", 0), ConnectionCounts.opened(2)
    mine = counts.place(1)
    mine.tell(9)
    server = HttpServer(no_content, ServerLimits(), neighbours=counts.place(2))
    callers = Callers(listener.getsockname()[1])
    await server.start([listener])
    callers.connect(1)
    await _have(1, server)
    assert mine.lag()
    server.stop_accepting()
    assert not mine.lag()
    callers.hang_up()
    await _have(0, server)
    assert not mine.lag()  # nor when its last connections end
    await server.stop(1)


def test_a_worker_may_have_an_eighth_and_one_more_than_another() -> None:
    counts = ConnectionCounts.opened(3)
    mine, other, third = counts.place(1), counts.place(2), counts.place(3)
    mine.tell(1)
    assert not mine.lag()
    other.tell(0)
    assert not mine.lag()
    mine.tell(2)
    assert mine.lag()
    other.tell(79)
    third.tell(500)
    for count, lag in ((88, False), (89, False), (90, True)):
        mine.tell(count)
        assert mine.lag() is lag, count
    assert not other.lag()
    assert third.lag()


def test_nobody_waits_for_a_worker_that_is_gone() -> None:
    counts = ConnectionCounts.opened(2)
    mine, other = counts.place(1), counts.place(2)
    mine.tell(9)
    assert not mine.lag()
    other.tell(0)
    assert mine.lag()
    counts.end(2)
    assert not mine.lag()
    other.tell(0)
    other.leave()
    assert not mine.lag()


def test_processes_with_the_descriptor_see_the_same_counts() -> None:
    counts = ConnectionCounts.opened(2)
    here, there = counts.place(1), ConnectionCounts(os.dup(counts.descriptor), 2).place(2)
    there.tell(0)
    here.tell(5)
    assert here.lag()
    there.tell(5)
    assert not here.lag()


async def _have(count: int, *servers: HttpServer) -> None:
    async def holds() -> bool:
        return sum(server.connection_count for server in servers) == count

    await becomes_true(holds)
