"""How long what is written or read next waits for others, so that one statement serves them together.

Calls that came in together get to the store within a few turns of the loop. A statement costs PostgreSQL for one row
about what it costs for thirty, so they wait for each other. After lone ones no one waits.
"""

import asyncio
from collections.abc import Sized
from typing import Final

_TURNS: Final = 4
_MAX_TURNS: Final = 24
# With several workers a group of one is often followed by one of many: after so many lone ones in a row no one waits.
_LONE_GROUPS: Final = 8
# A group with less than half of what large ones had waits as long again.
_LARGE: Final = 16
_FORGOTTEN: Final = 0.9


class BatchingWindow:
    def __init__(self, enough: int) -> None:
        """A group of `enough` waits for no more."""
        self._enough = enough
        self._groups_expected = 0
        self._large = 0.0

    def had(self, count: int) -> None:
        """So many were in the last group."""
        self._groups_expected = _LONE_GROUPS if count > 1 else max(0, self._groups_expected - 1)
        self._large = max(count, self._large * _FORGOTTEN)

    async def gather(self, waiting: Sized) -> None:
        """Returns at once after lone ones, else when turns of the loop bring no more."""
        if not self._groups_expected:
            return
        await self._while_more_come(waiting)
        if self._large >= _LARGE and len(waiting) < self._large / 2:
            await self._while_more_come(waiting)

    async def _while_more_come(self, waiting: Sized) -> None:
        count = 0
        for turn in range(_MAX_TURNS):
            if len(waiting) >= self._enough or (turn >= _TURNS and len(waiting) == count):
                return
            count = len(waiting)
            await asyncio.sleep(0)
