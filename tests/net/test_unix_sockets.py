"""Unix sockets between units of one machine: the same requests and answers, on a path in place of an address."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.http import ConnectFailed
from aop.net.peer import Peer
from aop.net.policy import Resolver
from aop.net.server import HttpServer
from aop.net.sockets import listening_path
from tests.net.http_wire import http_client, soon

LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run])


async def told_host(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the Host of the request, its peer and its body."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message.get("more_body", False)
    host = dict(scope["headers"])[b"host"]
    content = b"%s %r %s" % (host, scope["client"], body)
    length = (b"content-length", str(len(content)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": content})


@asynccontextmanager
async def serving_on(path: Path) -> AsyncIterator[HttpServer]:
    server = HttpServer(told_host)
    await server.start([listening_path(str(path))])
    try:
        yield server
    finally:
        await server.stop(0)


def nobody(_: str) -> list[str]:
    raise AssertionError("a path is not looked up")


@LOOPS
@pytest.mark.parametrize("origin", ["http://router.test", "https://router.test", "http://router.test:8081"])
def test_requests_go_to_the_path_and_name_the_origin_as_their_host(
    run: Callable[..., object], origin: str, tmp_path: Path
) -> None:
    async def scene() -> None:
        path = tmp_path / "unit.sock"
        async with serving_on(path) as server, http_client() as client:
            peer = Peer(origin, client, Resolver(nobody), str(path))
            host = origin.partition("://")[2].encode()
            for _ in range(3):
                answer = await peer.post("/a", [], b"x" * 300_000, deadline=soon(), max_body=1 << 20)
                assert answer.body == host + b" None " + b"x" * 300_000
                posted = await peer.posts("/a", []).send([], b"y", deadline=soon(), max_body=1 << 20)
                assert posted.body == host + b" None y"
            async with await peer.stream("GET", "/a", [], deadline=soon()) as stream:
                assert b"".join([piece async for piece in stream]) == host + b" None "
            assert server.connection_count == 1

    run(scene())


@LOOPS
def test_a_path_where_nobody_listens_is_a_failed_connection(run: Callable[..., object], tmp_path: Path) -> None:
    async def scene() -> None:
        left = tmp_path / "left.sock"
        listening_path(str(left)).close()
        async with http_client() as client:
            for path in (left, tmp_path / "never.sock", tmp_path / "no" / "folder.sock"):
                peer = Peer("http://router.test", client, Resolver(nobody), str(path))
                with pytest.raises(ConnectFailed, match="connect"):
                    await peer.get("/", [], deadline=soon(), max_body=10)

    run(scene())


def test_where_no_room_is_left_a_connection_fails_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        path = str(tmp_path / "full.sock")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(0)
            waiting = [socket.socket(socket.AF_UNIX) for _ in range(8)]
            try:
                for sock in waiting:
                    sock.setblocking(False)
                    if sock.connect_ex(path):
                        break
                async with http_client() as client:
                    peer = Peer("http://router.test", client, Resolver(nobody), path)
                    with pytest.raises(ConnectFailed, match="connect"):
                        await peer.get("/", [], deadline=soon(), max_body=10)
            finally:
                for sock in waiting:
                    sock.close()

    uvloop.run(scene())


def test_what_a_process_left_behind_is_replaced_and_is_for_its_user_and_group(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    listening_path(path).close()
    before = os.umask(0)
    try:
        with listening_path(path) as again:
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
            assert again.getsockname() == path
    finally:
        os.umask(before)


def test_a_path_on_which_somebody_listens_is_left_to_them(tmp_path: Path) -> None:
    path = str(tmp_path / "unit.sock")
    with listening_path(path) as first, socket.socket(socket.AF_UNIX) as caller:
        with pytest.raises(OSError, match="cannot listen on"):
            listening_path(path)
        caller.connect(path)
        first.accept()[0].close()


def test_a_file_that_is_no_socket_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("kept")
    with pytest.raises(OSError, match="cannot listen on"):
        listening_path(str(path))
    assert path.read_text() == "kept"
