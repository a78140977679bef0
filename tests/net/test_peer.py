"""Requests to a peer that the operator names, and lines that are written once for many of them."""

import asyncio

from aop.net.headers import HeaderMap
from aop.net.peer import Peer
from aop.net.policy import Resolver
from tests.net.http_wire import OK, http_client, read_request, scripted_peer, soon


async def test_a_request_whose_first_lines_were_written_before_is_the_same_as_any_other() -> None:
    """Also when the peer's name leads to another address: its lines are written again."""
    seen: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            seen.append(await read_request(reader))
            writer.write(OK)

    addresses = ["127.0.0.1"]
    async with scripted_peer(script) as scripted, http_client() as client:
        resolver = Resolver(lambda _: addresses, monotonic=lambda: 10.0 * len(seen))
        peer = Peer(f"http://peer.test:{scripted.port}", client, resolver)
        posts = peer.posts("/a", [(b"x-a", b"1")])
        for value in (b"2", b"3"):
            answer = await posts.send([(b"x-b", value)], b"{}", deadline=soon(), max_body=10)
            assert (answer.status, answer.body) == (200, b"ok")
            await peer.post("/a", [(b"x-a", b"1"), (b"x-b", value)], b"{}", deadline=soon(), max_body=10)
    assert seen[0] == seen[1]
    assert seen[2] == seen[3]
    assert b"\r\nx-b: 3\r\n" in seen[2]


def test_headers_are_asked_by_name_whether_or_not_one_is_repeated() -> None:
    once = HeaderMap([(b"x-a", b"1"), (b"x-b", b"2")])
    assert (list(once.values(b"x-a")), once.single(b"x-a")) == ([b"1"], b"1")
    assert (list(once.values(b"x-c")), once.single(b"x-c")) == ([], None)
    repeated = HeaderMap([(b"x-a", b"1"), (b"x-b", b"2"), (b"x-a", b"1")])
    assert (list(repeated.values(b"x-a")), repeated.single(b"x-a")) == ([b"1", b"1"], None)
    assert (list(repeated.values(b"x-b")), repeated.single(b"x-b")) == ([b"2"], b"2")
    assert (list(repeated.values(b"x-c")), repeated.single(b"x-c")) == ([], None)
