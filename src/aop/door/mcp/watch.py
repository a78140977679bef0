"""Says when the list of tools has changed: the Installations are read again, as the watching caller, now and then."""

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Final

from aop.door.faults import GatewayFault
from aop.door.gateway import DoorCaller
from aop.door.mcp.catalog import Catalogs
from aop.door.mcp.results import REFUSED

WATCH_SECONDS: Final = 5.0


async def changes(
    catalogs: Catalogs, caller: DoorCaller, ending: asyncio.Event, seconds: float = WATCH_SECONDS
) -> AsyncGenerator[None, None]:
    """Once per change that is seen. Ends when the unit does, or when the caller may no longer see the Workspace."""
    known = (await catalogs.read(caller)).state
    while not await _is_over(ending, seconds * random.uniform(0.8, 1.2)):  # noqa: S311  spreads reads, hides nothing
        try:
            found = (await catalogs.recent(caller)).state
        except GatewayFault as fault:
            if fault.code in REFUSED:
                return
            continue  # the Gateway is away for a moment, which changes nothing
        if found != known:
            known = found
            yield


async def _is_over(ending: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await ending.wait()
    except TimeoutError:
        return False
