"""How long tests wait for what must become true, and what they may ask of the clock on a machine that is busy."""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 240.0
"""Never used up by a test that passes: long enough for a machine that does a dozen other things."""
INSTALL_SECONDS = 1200.0
"""The same for an installer, which fetches, unpacks and compiles a hundred packages."""
_LEAST_SCALE = 3.0
_BETWEEN_LOOKS = 0.02
_BETWEEN_WATCHES = 0.1
_REMEMBERED_SECONDS = 120.0
_MAX_LIMIT_MS = 10_000


def patience() -> asyncio.Timeout:
    """Around what must happen: it fails only when it does not happen at all."""
    return asyncio.timeout(PATIENCE_SECONDS)


@asynccontextmanager
async def promptly(seconds: float) -> AsyncIterator[None]:
    """Around what must happen by itself, and not only when a longer limit of the product ends it.

    The time is counted in turns of the loop, so that a machine that stands still in between does not use it up.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:

        async def turns() -> None:
            for _ in range(round(generous(seconds) / _BETWEEN_LOOKS)):
                await asyncio.sleep(_BETWEEN_LOOKS)
            limit.reschedule(loop.time())

        counting = asyncio.create_task(turns())
        try:
            yield
        finally:
            counting.cancel()


async def becomes_true(condition: Callable[[], Awaitable[bool]], seconds: float = PATIENCE_SECONDS) -> None:
    """Looks as often as a machine with nothing else to do could in this time: a slow one looks for longer."""
    async with asyncio.timeout(max(seconds, PATIENCE_SECONDS)):
        for _ in range(round(seconds / _BETWEEN_LOOKS)):
            if await condition():
                return
            await asyncio.sleep(_BETWEEN_LOOKS)
        if not await condition():
            raise TimeoutError


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
    return _scaled(seconds) + _STALLS.seconds()


def generous_ms(seconds: float) -> int:
    """A limit for Cards and settings, in milliseconds: one that a call meets only where it is meant to.

    Not more than some seconds, because a test waits for all of it.
    """
    return min(round(_scaled(seconds) * 1000), _MAX_LIMIT_MS)


async def a_while(seconds: float) -> None:
    """Time for others to come to where a test wants them; longer on a busy machine."""
    await asyncio.sleep(_scaled(seconds))


def _scaled(seconds: float) -> float:
    return seconds * (_LEAST_SCALE + 2 * _waiting_for_a_core())


def _waiting_for_a_core() -> float:
    """Programs for each core, of the last minute or at this moment."""
    average, _, _, at_once, _ = Path("/proc/loadavg").read_text("ascii").split()
    return max(float(average), float(at_once.partition("/")[0])) / (os.cpu_count() or 1)


class _Stalls:
    """How long this process stood still lately: other programs had its place, or the whole machine stood still."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()
        threading.Thread(target=self._watch, daemon=True, name="stalls").start()

    def seconds(self) -> float:
        return sum(late for _, late in tuple(self._seen))

    def _watch(self) -> None:
        while True:
            began = time.monotonic()
            time.sleep(_BETWEEN_WATCHES)
            now = time.monotonic()
            if (late := now - began - _BETWEEN_WATCHES) > _BETWEEN_WATCHES:
                self._seen.append((now, late))
            while self._seen and self._seen[0][0] < now - _REMEMBERED_SECONDS:
                self._seen.popleft()


_STALLS = _Stalls()
