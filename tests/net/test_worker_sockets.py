"""A unix socket for each worker: which of them a process connects to, and what it does where there is none."""

import asyncio
import errno
import os
import socket
import stat
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from aop.base.share import WorkerShare
from aop.net.asgi import Receive, Scope, Send
from aop.net.http import ConnectFailed, HttpClient, Target
from aop.net.server import HttpServer
from aop.net.sockets import listening_path
from aop.net.worker_sockets import is_of_worker, leave_worker_paths, listening_worker_paths, numbers_for, worker_path
from tests.net.http_wire import soon
from tests.support.every import every

pytestmark = pytest.mark.rows("HA-05")


async def no_content(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204})
    await send({"type": "http.response.body"})


@asynccontextmanager
async def served(sockets: list[socket.socket]) -> AsyncIterator[list[HttpServer]]:
    """Each by a server of its own."""
    async with AsyncExitStack() as stack:
        servers = []
        for sock in sockets:
            server = HttpServer(no_content)
            await server.start([sock])
            stack.push_async_callback(server.stop, 0)
            servers.append(server)
        yield servers


async def connections(path: str, share: WorkerShare, count: int, servers: list[HttpServer]) -> list[int]:
    """How many each server has while so many requests of one client are open at once."""
    client = HttpClient(idle_seconds=60, connect_seconds=5, share=share)
    target = Target("http", "unit.test", 80, path)
    try:
        await asyncio.gather(*(client.request(target, "GET", "/", deadline=soon(), max_body=10) for _ in range(count)))
        return [server.connection_count for server in servers]
    finally:
        await client.close()


@every(("ours", "theirs"), [*product(range(1, 9), range(9))])
def test_every_worker_of_a_peer_gets_as_much_as_the_others_or_all_share_one_socket(ours: int, theirs: int) -> None:
    numbers = [numbers_for(WorkerShare(number, ours), theirs) for number in range(1, ours + 1)]
    if not theirs or (ours % theirs and theirs % ours):
        assert not any(numbers)
        return
    load = defaultdict[int, Fraction](Fraction)
    for mine in numbers:
        for number in mine:
            load[number] += Fraction(1, len(mine))
    assert load == dict.fromkeys(range(1, theirs + 1), Fraction(ours, theirs))


async def test_a_worker_connects_to_its_own_worker_of_the_peer(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    async with served([listening_path(path), *listening_worker_paths(path, 2)]) as servers:
        assert await connections(path, WorkerShare(1, 2), 6, servers) == [0, 6, 0]
        assert await connections(path, WorkerShare(2, 2), 6, servers) == [0, 0, 6]
        assert await connections(path, WorkerShare(), 6, servers) == [0, 3, 3]  # one process has all, in turn
        assert await connections(path, WorkerShare(3, 3), 6, servers) == [6, 0, 0]


async def test_without_sockets_of_workers_or_anybody_at_them_the_shared_one_is_used(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    async with served([listening_path(path)]) as servers:
        assert await connections(path, WorkerShare(2, 2), 3, servers) == [3]
        for left in listening_worker_paths(path, 2):
            left.close()
        assert await connections(path, WorkerShare(2, 2), 3, servers) == [3]


async def test_a_worker_without_room_is_passed_over(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    with socket.socket(socket.AF_UNIX) as full:
        full.bind(worker_path(path, 1))
        full.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        try:
            for sock in waiting:
                sock.setblocking(False)
                if sock.connect_ex(worker_path(path, 1)):
                    break
            async with served([listening_path(path)]) as servers:
                assert await connections(path, WorkerShare(), 3, servers) == [3]
        finally:
            for sock in waiting:
                sock.close()


@pytest.mark.rows("SAFE-13")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("taken", [1, 2])
async def test_nothing_is_sent_to_a_socket_that_somebody_else_put_there(tmp_path: Path, taken: int) -> None:
    path = str(tmp_path / "unit.sock")
    async with served([listening_path(path), *listening_worker_paths(path, 2)]) as servers:
        os.chown(worker_path(path, taken), 65534, -1)
        assert await connections(path, WorkerShare(2, 2), 4, servers) == ([4, 0, 0] if taken == 1 else [0, 4, 0])


async def test_a_link_to_another_socket_is_not_a_workers(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    elsewhere = listening_path(str(tmp_path / "another.sock"))
    async with served([listening_path(path), elsewhere]) as servers:
        os.symlink(elsewhere.getsockname(), worker_path(path, 1))
        assert await connections(path, WorkerShare(), 4, servers) == [4, 0]


async def test_without_the_shared_socket_there_is_nobody_to_connect_to(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    async with served([listening_path(path), *listening_worker_paths(path, 1)]) as servers:
        os.unlink(path)
        with pytest.raises(ConnectFailed):
            await connections(path, WorkerShare(), 1, servers)


def test_whoever_may_use_the_shared_socket_may_use_those_of_workers_and_nobody_else(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    with listening_path(path):
        os.chmod(path, 0o600)
        group = max([os.getegid(), *os.getgroups()])
        os.chown(path, -1, group)
        for sock in listening_worker_paths(path, 2):
            found = os.stat(sock.getsockname())
            assert (stat.S_IMODE(found.st_mode), found.st_gid) == (0o600, group)
            sock.close()


def test_a_socket_that_cannot_be_for_the_same_people_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    path = str(tmp_path / "unit.sock")
    with listening_path(path):
        monkeypatch.setattr(os, "chmod", refused)
        with pytest.raises(OSError, match="not permitted"):
            listening_worker_paths(path, 2)
        assert [one.name for one in tmp_path.iterdir()] == ["unit.sock"]


def test_sockets_that_a_start_with_more_workers_left_are_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")

    def left() -> list[str]:
        return sorted(one.name.removeprefix("unit.sock.") for one in tmp_path.iterdir() if one.name != "unit.sock")

    with listening_path(path):
        for workers in (6, 2):
            for sock in listening_worker_paths(path, workers):
                sock.close()
        assert left() == ["1", "2"]
        with listening_path(worker_path(path, 3)):
            for sock in listening_worker_paths(path, 2):
                sock.close()
        Path(worker_path(path, 4)).write_text("somebody's")
        for sock in listening_worker_paths(path, 1):
            sock.close()
        assert left() == ["1", "4"]


def test_there_is_a_socket_for_each_worker_or_for_none(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    with listening_path(path), listening_path(worker_path(path, 2)):
        with pytest.raises(OSError, match="Address already in use"):
            listening_worker_paths(path, 3)
        assert not Path(worker_path(path, 1)).exists()


def test_sockets_that_a_unit_leaves_are_gone(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    with listening_path(path):
        opened = listening_worker_paths(path, 2)
        os.unlink(worker_path(path, 1))  # somebody was first
        leave_worker_paths(opened)
        assert [one.name for one in tmp_path.iterdir()] == ["unit.sock"]
        assert [sock.fileno() for sock in opened] == [-1, -1]


@pytest.mark.parametrize(
    ("path", "is_one"),
    [("/a/s.1", True), ("/a/s.12", True), ("/a/s", False), ("/a/s.", False), ("/a/s.x", False), ("/a/t.1", False)],
)
def test_a_path_with_a_number_behind_it_is_a_workers(path: str, *, is_one: bool) -> None:
    assert is_of_worker(path, "/a/s") == is_one
