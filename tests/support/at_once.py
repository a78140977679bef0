"""Many calls at once. None is sent again: one that the store refuses may be a lock taken in the wrong order."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from tests.support.units import Reply

Call = Callable[[], Awaitable[Reply]]


async def all_answered(calls: Iterable[Call]) -> list[Reply]:
    return await asyncio.gather(*(call() for call in calls))
