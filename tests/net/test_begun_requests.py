"""A request may be begun with all but its last byte, for a peer that can go ahead; it is sent once, or not at all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aop.net.http import Answer, Connection
from aop.net.peer import Peer, Posts
from aop.net.policy import Resolver
from tests.net.http_wire import OK, http_client, read_request, scripted_peer, soon
from tests.support.waiting import becomes_true, patience

HEADERS = [(b"x-b", b"2")]
BODY = b'{"a":1}'


@dataclass
class Scene:
    """A peer with one connection open to it; `parts` are what came on each connection, in the order they came."""

    posts: Posts
    parts: list[tuple[int, bytes]] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def begin(self) -> Connection | None:
        return self.posts.begin(HEADERS, BODY, deadline=soon(), max_body=10)

    async def send(self, begun: Connection | None = None) -> Answer:
        return await self.posts.send(HEADERS, BODY, deadline=soon(), max_body=10, begun=begun)

    async def came(self, number: int) -> None:
        async def enough() -> bool:
            return len(self.parts) >= number

        await becomes_true(enough)


@asynccontextmanager
async def a_scene() -> AsyncIterator[Scene]:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(scene.writers)
        scene.writers.append(writer)
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            scene.parts.append((number, head + await reader.readexactly(len(BODY) - 1)))
            try:
                scene.parts.append((number, await reader.readexactly(1)))
            except (asyncio.IncompleteReadError, ConnectionError):
                scene.parts.append((number, b"dropped"))
                raise
            writer.write(OK)

    async with scripted_peer(script) as scripted, http_client() as client:
        peer = Peer(f"http://peer.test:{scripted.port}", client, Resolver(lambda _: ["127.0.0.1"]))
        scene = Scene(peer.posts("/a", [(b"x-a", b"1")]))
        assert scene.begin() is None, "no connection is open"
        assert (await scene.send()).body == b"ok"
        yield scene


async def test_a_begun_request_is_the_same_as_any_other_and_its_last_byte_comes_later() -> None:
    async with a_scene() as scene:
        begun = scene.begin()
        assert begun is not None
        await scene.came(3)
        assert len(scene.parts) == 3, "the last byte has not come"
        answer = await scene.send(begun)
        assert (answer.status, answer.body) == (200, b"ok")
        assert scene.parts[2:] == scene.parts[:2] == [(0, scene.parts[0][1]), (0, BODY[-1:])]


async def test_a_request_that_is_dropped_ends_its_connection_and_no_other() -> None:
    async with a_scene() as scene:
        begun = scene.begin()
        assert begun is not None
        begun.abort()
        assert (await scene.send()).body == b"ok"
        await scene.came(6)
        first, last = scene.parts[0][1], BODY[-1:]
        assert sorted(scene.parts[2:]) == sorted([(0, first), (0, b"dropped"), (1, first), (1, last)])


async def test_a_begun_request_whose_connection_was_lost_is_sent_whole_on_another() -> None:
    async with a_scene() as scene:
        begun = scene.begin()
        assert begun is not None
        await scene.came(3)
        scene.writers[0].transport.abort()

        async def is_lost() -> bool:
            return not begun.is_open()

        await becomes_true(is_lost)
        assert (await scene.send(begun)).body == b"ok"
        assert [part for number, part in scene.parts if number == 1] == [scene.parts[0][1], BODY[-1:]]


async def test_an_answer_that_comes_before_the_last_byte_is_the_answer() -> None:
    refused = b"HTTP/1.1 503 Full\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfull"

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refused)
        answered.set()
        await reader.read()

    answered = asyncio.Event()
    async with scripted_peer(script) as scripted, http_client() as client, patience():
        posts = Peer(f"http://peer.test:{scripted.port}", client, Resolver(lambda _: ["127.0.0.1"])).posts("/a", ())
        await posts.send((), BODY, deadline=soon(), max_body=10)
        begun = posts.begin((), BODY, deadline=soon(), max_body=10)
        await answered.wait()
        answer = await posts.send((), BODY, deadline=soon(), max_body=10, begun=begun)
        assert (answer.status, answer.body) == (503, b"full")
