"""A TCP server for tests whose conversations are all tracked, and all ended in the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Meet = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def accepting(meet: Meet, address: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Gives the port. A conversation that ends in an error of its connection is an ordinary end."""
    tasks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await meet(reader, writer)
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(converse, address, port, backlog=1024)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
