"""Large answers leave as their reader drains them, and a reader that takes too little of what waits is cut."""

import asyncio
import socket
from collections.abc import Callable, Iterable

import pytest
import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.own_server import own_server
from aop.net.server import ConnectionEvent, ServerLimits
from aop.net.server.pace import Pace
from tests.net.http_wire import RawClient, ServerUnderTest, replying, serving, until
from tests.support.waiting import generous, patience

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
SLOW = ServerLimits(slow_seconds=0.6, slow_bytes=64 * 1024)
BIG = b"x" * (16 << 20)


def waiting(under_test: ServerUnderTest) -> int:
    """Bytes of answers in the memory of the transports."""
    transports = [connection._transport for connection in under_test.server.connections]
    return sum(transport.get_write_buffer_size() for transport in transports if transport is not None)


async def stalled(under_test: ServerUnderTest) -> socket.socket:
    """A reader with a small buffer that has asked and takes nothing yet."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(reader, ("127.0.0.1", under_test.port))
    await loop.sock_sendall(reader, GET)
    return reader


async def trickle(reader: socket.socket, size: int, pause: float, seconds: float) -> bool:
    """Takes so little at a time; the answer is whether it was cut meanwhile."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    try:
        while loop.time() < ends:
            try:
                if not reader.recv(size):
                    return True
            except BlockingIOError:
                pass
            await asyncio.sleep(pause)
    except ConnectionError:
        return True
    finally:
        reader.close()
    return False


@pytest.mark.second_ring
def test_the_limits_of_a_server_are_those_of_the_contract() -> None:
    limits = ServerLimits()
    assert (limits.head_seconds, limits.idle_seconds, limits.linger_seconds) == (5.0, 60.0, 2.0)
    assert (limits.max_headers, limits.max_head_bytes, limits.buffer_bytes) == (64, 32 * 1024, 64 * 1024)
    assert (limits.max_write_bytes, limits.slow_seconds, limits.slow_bytes) == (256 * 1024, 30.0, 480 * 1024)
    assert limits.max_connections == 10_000


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-06")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_the_transport_never_holds_a_large_answer(run: Callable[..., object]) -> None:
    async def scene() -> None:
        async with serving(replying(200, [], BIG), ServerLimits()) as under_test:
            reader = await stalled(under_test)
            await until(lambda: waiting(under_test) > 0)
            assert waiting(under_test) <= 64 * 1024
            reader.close()
            client = await under_test.connect(GET)
            _, _, body = await client.answer()
            assert body == BIG

    run(scene())


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-06")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_reader_that_takes_too_little_is_cut_and_the_application_told(
    run: Callable[..., object], streaming: bool
) -> None:
    async def scene() -> None:
        told = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if not streaming:
                await replying(200, [], BIG)(scope, receive, send)
            else:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                while not own_server(scope).disconnect.is_set():
                    await send({"type": "http.response.body", "body": b"x" * 10_000, "more_body": True})
            assert own_server(scope).disconnect.is_set()
            told.set()

        async with serving(app, SLOW) as under_test:
            assert await trickle(await stalled(under_test), 512, 0.02, 30)
            async with patience():
                await told.wait()
            assert under_test.events == {ConnectionEvent.SLOW_READER: 1}

    run(scene())


@pytest.mark.second_ring
async def test_a_reader_that_takes_enough_is_not_cut_however_long_its_answer() -> None:
    patient = ServerLimits(slow_seconds=generous(0.15), slow_bytes=4096)
    async with serving(replying(200, [], BIG), patient) as under_test:
        assert not await trickle(await stalled(under_test), 16 * 1024, 0.01, 2.0)
        assert not under_test.events


@pytest.mark.rows("SOUND-02")
async def test_a_reader_that_rested_for_most_of_the_time_is_not_cut_while_it_catches_up() -> None:
    """The time is over before it has taken enough, and just then it takes more than its share."""
    async with serving(replying(200, [], BIG), ServerLimits(slow_seconds=3, slow_bytes=15 << 13)) as under_test:
        reader = await stalled(under_test)
        await until(lambda: waiting(under_test) > 0)
        await asyncio.sleep(2.9)
        assert not await trickle(reader, 1 << 16, 0.005, 2.0)
        assert not under_test.events


def cut_at(taken: Iterable[int]) -> int | None:
    """The second at which a reader is cut who has taken so many bytes in all at each look, one in two seconds."""

    async def looked() -> int | None:
        now, cut = iter(taken), list[bool]()
        pace = Pace(ServerLimits(), lambda: next(now), lambda: cut.append(True))
        pace.wait()
        look = 0
        try:
            while not cut:
                look += 2
                pace._sample()
        except StopIteration:
            return None
        finally:
            pace.stop()
        return look

    return asyncio.run(looked())


def in_steps(rest: int, rate: int, step: int, looks: int = 60) -> list[int]:
    """It rests, and then reads so many bytes a second, of which the kernel says only whole steps."""
    return [max(0, (look * 2 - rest) * rate) // step * step for look in range(looks)]


@pytest.mark.rows("SOUND-02")
def test_a_reader_that_rested_is_judged_by_how_fast_it_reads_on() -> None:
    fast_enough = {
        (rest, rate): cut_at(in_steps(rest, rate, 64 << 10)) for rest in range(30) for rate in (24_000, 60_000, 200_000)
    }
    assert len(fast_enough) == 90
    assert set(fast_enough.values()) == {None}


@pytest.mark.rows("SOUND-02", "SAFE-06")
def test_a_reader_that_takes_little_is_cut_whether_it_rests_or_not() -> None:
    for step in (1, 1_000, 64 << 10):
        for rate in (0, 1, 1_000, 4_096, 10_000):
            assert cut_at(in_steps(0, rate, step)) == 38, (
                "four looks more than the window, in which it could have read on"
            )
            assert cut_at(in_steps(29, rate, step)) == 38
        assert cut_at(in_steps(0, 16_000, step)) in range(38, 77), "one that is nearly fast enough may be spared once"
    assert cut_at([look // 15 for look in range(60)]) == 38, "a byte after each rest of half a minute"
    bursts = [(look // 19 + 1) * (200 << 10) if look > 14 else 0 for look in range(120)]
    assert cut_at(bursts) in range(60, 80), "a burst after each rest is spared once"


@pytest.mark.second_ring
async def test_a_stream_with_nothing_to_send_is_never_slow_and_comments_do_not_count() -> None:
    let_go = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first\n", "more_body": True})
        for _ in range(40):
            own_server(scope).comment(b":\n\n")
            await asyncio.sleep(0.05)
        assert not own_server(scope).disconnect.is_set()
        await send({"type": "http.response.body", "body": b"last"})
        let_go.set()

    async with serving(app, SLOW) as under_test:
        client = await under_test.connect(GET)
        await let_go.wait()
        assert (await client.reader.readuntil(b"last")).count(b":\n\n") == 40
        assert not under_test.events


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-06")
async def test_what_waits_behind_a_comment_is_judged_too() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first\n", "more_body": True})
        while not waiting(under_test):
            own_server(scope).comment(b":" * 10_000 + b"\n\n")
        await send({"type": "http.response.body", "body": b"last"})
        assert own_server(scope).disconnect.is_set()

    async with serving(app, SLOW) as under_test:
        reader = await stalled(under_test)
        await until(lambda: under_test.events == {ConnectionEvent.SLOW_READER: 1})
        reader.close()


@pytest.mark.second_ring
async def test_no_comment_stands_inside_an_event_that_is_still_being_written() -> None:
    event = b"data: " + b"x" * (2 << 20) + b"\n\n"

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def comments() -> None:
            while True:
                own_server(scope).comment(b":\n\n")
                await asyncio.sleep(0)

        beside = asyncio.create_task(comments())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": event, "more_body": True})
        beside.cancel()
        await send({"type": "http.response.body", "body": b""})

    async with serving(app, ServerLimits()) as under_test:
        client: RawClient = await under_test.connect(GET)
        await client.head()
        content = b""
        while (size := int(await client.reader.readline(), 16)) > 0:
            piece = await client.reader.readexactly(size + 2)
            content += piece[:-2]
        assert content.replace(b":\n\n", b"") == event
        assert event in content


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-06")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_part_is_written_at_once_only_where_nothing_waits_and_no_part_is_lost(run: Callable[..., object]) -> None:
    part = b"%08d" % 0 + b"x" * 9_992
    sent = list[int]()

    async def scene() -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            write_now = own_server(scope).write_now
            await send({"type": "http.response.start", "status": 200, "headers": []})
            assert not write_now(part), "the head comes first"
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            number = 0
            while write_now(b"%08d" % number + part[8:]):
                number += 1
            sent.append(number)
            assert not write_now(part)
            for late in (number, number + 1):
                await send({"type": "http.response.body", "body": b"%08d" % late + part[8:], "more_body": True})
            assert write_now(b"%08d" % (number + 2) + part[8:])
            assert not write_now(b"x" * (ServerLimits().max_write_bytes + 1)), "too much for one step"
            await send({"type": "http.response.body", "body": b""})
            assert not write_now(part), "the end was sent"

        async with serving(app, ServerLimits()) as under_test:
            client = await under_test.connect(GET)
            await client.head()
            content = b""
            while (size := int(await client.reader.readline(), 16)) > 0:
                content += (await client.reader.readexactly(size + 2))[:-2]
            numbers = [int(content[start : start + 8]) for start in range(0, len(content), len(part))]
            assert numbers == list(range(sent[0] + 3))

    run(scene())
