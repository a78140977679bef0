"""The socket of one worker: it alone takes the connections, and the others do when it is gone or stuck."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from aop.net.http import HttpClient, Target
from aop.net.server import HttpServer, ServerLimits, WorkerSocket
from aop.net.sockets import listening_socket
from aop.serving.workers.connection_counts import ConnectionCounts, WorkerCount, WorkerFirst
from tests.net.http_wire import soon
from tests.serving.test_connection_counts import Callers, no_content
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.rows("HA-05")

LONGER_THAN_FOR_A_CORE = 0.1


class Waits:
    """Asks a worker's precedence, and notes what it said."""

    def __init__(self, precedence: WorkerFirst, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.seconds: list[float] = []
        self.was_left: list[bool] = []
        self.taken = precedence.taken
        self._precedence = precedence
        self._meanwhile = meanwhile

    def seconds_for_others(self) -> float:
        self.seconds.append(self._precedence.seconds_for_others())
        return self.seconds[-1]

    def is_left(self) -> bool:
        self._meanwhile()
        self.was_left.append(self._precedence.is_left())
        return self.was_left[-1]


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


async def test_connections_of_a_stuck_worker_wait_for_it_once_and_not_again() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, callers = ConnectionCounts.opened(2), Callers(listener.getsockname()[1])
        stuck, mine = counts.place(2), counts.place(1)
        stuck.tell(7)
        server, waits = HttpServer(no_content, ServerLimits(), neighbours=mine), Waits(mine.precedence(2))
        await server.start([], [WorkerSocket(listener.dup(), waits)])
        for connected in (60, 120):
            callers.connect(60)
            await have(connected, server)
        assert [seconds for seconds in waits.seconds if seconds >= LONGER_THAN_FOR_A_CORE] == [waits.seconds[0]]
        callers.hang_up()
        await server.stop(1)


async def test_a_connection_that_its_worker_takes_meanwhile_is_left_alone() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, callers = ConnectionCounts.opened(2), Callers(listener.getsockname()[1])
        owner, mine = counts.place(2), counts.place(1)
        waits = Waits(mine.precedence(2), meanwhile=lambda: owner.tell(0))
        owner.tell(0)
        server = HttpServer(no_content, ServerLimits(), neighbours=mine)
        await server.start([], [WorkerSocket(listener.dup(), waits)])
        callers.connect(1)

        async def left_it_twice() -> bool:
            return waits.was_left[:2] == [False, False]

        await becomes_true(left_it_twice)
        assert server.connection_count == 0
        callers.hang_up()
        await server.stop(1)


@pytest.mark.parametrize("back", ["was gone", "was stuck"])
async def test_connections_go_back_to_their_worker_when_it_works_again(back: str) -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        counts, (host, port) = ConnectionCounts.opened(2), listener.getsockname()
        owner, target = counts.place(2), Target("http", host, port, host)
        if back == "was stuck":
            owner.tell(3)
        other, client = await started(listener, counts.place(1), 2), HttpClient(idle_seconds=60, connect_seconds=5)
        for _ in range(2):  # the second on the same connection
            assert (await client.request(target, "GET", "/", deadline=soon(), max_body=10)).status == 204
        assert other.connection_count == 1
        again = await started(listener, owner, 2)
        for _ in range(3):
            assert (await client.request(target, "GET", "/", deadline=soon(), max_body=10)).status == 204
        await have(1, again, other)
        assert again.connection_count == 1
        await client.close()
        await asyncio.gather(again.stop(1), other.stop(1))


def test_a_worker_that_does_something_or_has_nothing_to_do_is_not_taken_for_a_stuck_one() -> None:
    counts = ConnectionCounts.opened(3)
    owner, at_its_socket = counts.place(3), counts.place(1).precedence(3)
    owner.tell(7)
    for _ in range(2):  # it took the connection before anybody else looked, and another one does not come
        assert at_its_socket.seconds_for_others() >= LONGER_THAN_FOR_A_CORE
        assert at_its_socket.is_left()
    at_its_socket.taken()
    assert at_its_socket.seconds_for_others() == 0
    for connections in (8, 7):  # as many as before is something too
        owner.tell(connections)
    assert at_its_socket.seconds_for_others() >= LONGER_THAN_FOR_A_CORE
    owner.tell(7)
    assert not at_its_socket.is_left()
    owner.leave()
    assert at_its_socket.seconds_for_others() == 0
    assert counts.place(1).precedence(1).seconds_for_others() == 0
