"""Keeps a process running, and waits for several such processes until one of them cannot run."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any


async def keep_running(run: Callable[[], Awaitable[int]], pause_after: Callable[[int], float | None]) -> None:
    """Runs a process again after a pause each time that it ends, until this is cancelled.

    `run` returns its exit code. `pause_after` raises when it cannot run again, and returns None when it stays down: the
    task does not end then, because its end is that of all the others.
    """
    while True:
        seconds = pause_after(await run())
        if seconds is None:
            break
        await asyncio.sleep(seconds)
    await asyncio.Event().wait()


async def until_set(events: Iterable[asyncio.Event], others: Iterable[asyncio.Future[Any]]) -> None:
    """All of them, or until one of the others ends."""

    async def all_set() -> None:
        for event in events:
            await event.wait()

    waiting = asyncio.create_task(all_set())
    try:
        await asyncio.wait({waiting, *others}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        await asyncio.wait({waiting})
