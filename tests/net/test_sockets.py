"""What a peer can make wait in a unit's sockets while nobody reads."""

import asyncio
import socket

from aop.net.http import HttpClient, Target
from tests.support.peers import Received, listening
from tests.support.streaming_agent import HEAD, send_body
from tests.support.waiting import PATIENCE_SECONDS

MAX_UNREAD = 2 * 1024 * 1024


async def test_an_answer_that_is_no_longer_read_fills_no_more_than_a_small_buffer() -> None:
    sent = 0

    async def flood(received: Received) -> None:
        nonlocal sent
        own = received.writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)  # so that what is sent waits on the other side
        await received.send(HEAD)
        while True:
            await send_body(received, b"x" * 65_536)
            sent += 65_536

    client = HttpClient(idle_seconds=0, connect_seconds=5)
    async with listening(flood) as port:
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        target = Target("http", "127.0.0.1", port, "127.0.0.1")
        async with client.stream(target, "GET", "/", deadline=deadline, max_body=2**40) as answer:
            for _ in range(3000):  # a reader that keeps up is given an ever larger buffer by the kernel
                await anext(answer)
            before = sent
            await asyncio.sleep(0.5)
            assert sent - before < MAX_UNREAD
        await client.close()
