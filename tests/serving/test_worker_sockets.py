"""The socket of one worker: it alone takes the connections, and the others do when it is gone or stuck."""

import asyncio
import socket

import pytest

from aop.net.server import HttpServer, ServerLimits, WorkerSocket
from aop.net.sockets import listening_socket
from aop.serving.connection_counts import ConnectionCounts, WorkerCount
from tests.serving.test_connection_counts import Callers, no_content
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.rows("HA-05")


async def started(listener: socket.socket, place: WorkerCount, owner: int) -> HttpServer:
    server = HttpServer(no_content, ServerLimits(), neighbours=place)
    await server.start([], [WorkerSocket(listener.dup(), place.precedence(owner))])
    return server


async def have(count: int, *servers: HttpServer) -> None:
    async def all_of_them() -> bool:
        return sum(server.connection_count for server in servers) == count

    await becomes_true(all_of_them)


async def test_a_worker_takes_all_connections_of_its_own_socket() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, callers = ConnectionCounts.opened(2), Callers(listener.getsockname()[1])
        other, owner = await started(listener, counts.place(1), 2), await started(listener, counts.place(2), 2)
        for connected in (40, 80):
            callers.connect(40)
            await have(connected, owner, other)
        assert (owner.connection_count, other.connection_count) == (80, 0)
        callers.hang_up()
        await asyncio.gather(owner.stop(1), other.stop(1))


async def test_connections_of_a_worker_that_is_gone_are_shared_by_the_others() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, callers = ConnectionCounts.opened(3), Callers(listener.getsockname()[1])
        first = await started(listener, counts.place(1), 3)
        callers.connect(20)
        await have(20, first)
        second = await started(listener, counts.place(2), 3)
        callers.connect(16)
        await have(36, first, second)
        assert (first.connection_count, second.connection_count) == (20, 16)
        callers.hang_up()
        await asyncio.gather(first.stop(1), second.stop(1))


async def test_connections_of_a_worker_that_takes_none_are_taken_after_a_while() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, callers = ConnectionCounts.opened(2), Callers(listener.getsockname()[1])
        stuck = counts.place(2)
        stuck.tell(7)
        other = await started(listener, counts.place(1), 2)
        callers.connect(10)
        await have(10, other)
        callers.hang_up()
        await other.stop(1)


def test_a_worker_that_takes_connections_is_not_taken_for_a_stuck_one() -> None:
    counts = ConnectionCounts.opened(3)
    owner, at_its_socket = counts.place(3), counts.place(1).precedence(3)
    owner.tell(7)
    assert at_its_socket.is_others()
    assert at_its_socket.is_left()
    owner.tell(8)
    assert not at_its_socket.is_left()
    assert at_its_socket.is_others()
    assert at_its_socket.is_left()
    owner.leave()
    assert not at_its_socket.is_others()
    assert not counts.place(1).precedence(1).is_others()
