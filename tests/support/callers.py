"""A caller with a connection of its own, who leaves at the end of a scope."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aop.net.http import HttpClient, StreamedAnswer, Target
from tests.support.units import Headers, RunningUnit
from tests.support.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def asking(unit: RunningUnit, path: str, body: bytes, headers: Headers) -> AsyncIterator[asyncio.Task[int]]:
    """A caller of its own connection; leaving the scope is closing that connection."""
    client = HttpClient(idle_seconds=0, connect_seconds=PATIENCE_SECONDS)
    target = Target("http", "127.0.0.1", unit.port, "127.0.0.1")
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS

    async def ask() -> int:
        sent: Sequence[tuple[bytes, bytes]] = (*headers, (b"content-type", b"application/json"))
        answer: StreamedAnswer
        async with client.stream(
            target, "POST", path, headers=sent, body=body, deadline=deadline, max_body=2**30
        ) as answer:
            return answer.status

    task = asyncio.create_task(ask())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
        await client.close()
