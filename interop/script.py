"""What every Agent of interop/agents says: its model is this script, which needs no network and never varies."""

import asyncio
from collections.abc import AsyncIterator

BREAK = "break"
WAIT = "wait"
WAIT_SECONDS = 12.0
"""Longer than the time limit of the Cards, and short: some frameworks work on one message after the other."""
WORK_STARTED, WORK_CANCELED = "work started", "work canceled"


class ModelBroke(Exception):
    """What a model of a real framework raises when its provider fails."""


async def words(text: str) -> AsyncIterator[str]:
    """The reply in pieces: `hello` is answered with `You said: hello`."""
    if text == BREAK:
        raise ModelBroke("the provider of the model is away")
    if text == WAIT:
        await _wait()
    for piece in ("You ", "said: ", text):
        yield piece


async def reply(text: str) -> str:
    return "".join([piece async for piece in words(text)])


async def _wait() -> None:
    print(WORK_STARTED, flush=True)
    try:
        await asyncio.sleep(WAIT_SECONDS)
    except asyncio.CancelledError:
        print(WORK_CANCELED, flush=True)
        raise
