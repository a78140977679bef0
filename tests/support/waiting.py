"""How long tests wait for what must become true, and what they may ask of the clock on a machine that is busy."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 60.0
"""Never used up by a test that passes: long enough for a machine that does a dozen other things."""
_LEAST_SCALE = 3.0


def patience() -> asyncio.Timeout:
    """Around what must happen: it fails only when it does not happen at all."""
    return asyncio.timeout(PATIENCE_SECONDS)


def promptly(seconds: float) -> asyncio.Timeout:
    """Around what must happen by itself, and not only when a longer limit of the product ends it."""
    return asyncio.timeout(generous(seconds))


async def becomes_true(condition: Callable[[], Awaitable[bool]], seconds: float = PATIENCE_SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110  what is awaited tells nobody
            await asyncio.sleep(0.02)


@asynccontextmanager
async def background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Work that goes on beside the block; what it raised is raised at the end of the block."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()


def generous(seconds: float) -> float:
    """A bound on the time something takes by itself, for a machine as busy as this one is or just was."""
    return seconds * (_LEAST_SCALE + 2 * _waiting_for_a_core())


def generous_ms(seconds: float) -> int:
    """The same in milliseconds, as Cards and settings have it: a limit that a call meets only where it is meant to."""
    return round(generous(seconds) * 1000)


def _waiting_for_a_core() -> float:
    """Programs for each core, of the last minute or at this moment."""
    average, _, _, at_once, _ = Path("/proc/loadavg").read_text("ascii").split()
    return max(float(average), float(at_once.partition("/")[0])) / (os.cpu_count() or 1)
