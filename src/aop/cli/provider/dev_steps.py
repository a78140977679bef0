"""Steps of `aop dev` that a save or Ctrl-C may not leave half done."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_its_end(step: Coroutine[Any, Any, T], shorten: Callable[[], None] | None = None) -> T:
    """The outcome of the step. A caller that is cancelled waits for the step; `shorten` may bring its end nearer."""
    task = asyncio.create_task(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if shorten is not None:
            shorten()
        await asyncio.gather(task, return_exceptions=True)
        raise
