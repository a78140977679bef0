"""Many calls at once that wait for one lock: on a busy machine the last of them may wait too long."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from tests.support.units import Reply
from tests.support.waiting import patience

Call = Callable[[], Awaitable[Reply]]


async def answered(call: Call) -> Reply:
    """Its answer. If the store was late, nothing changed, and it is sent again."""
    async with patience():
        while (reply := await call()).status == 503 and reply.code == "DEPENDENCY_ERROR":
            pass
    return reply


async def all_answered(calls: Iterable[Call]) -> list[Reply]:
    """The answers to all of them, sent at once."""
    return await asyncio.gather(*map(answered, calls))
