"""Waits for what becomes true by itself, and fails when it does not."""

import asyncio
from collections.abc import Awaitable, Callable


async def becomes_true(condition: Callable[[], Awaitable[bool]], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110  what is awaited tells nobody
            await asyncio.sleep(0.02)
