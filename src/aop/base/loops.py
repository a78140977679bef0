"""Background loops of a unit: named, owned by one object, and restarted after an unexpected exception."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

Turn = Callable[[], Awaitable[None]]
"""One round of a loop: waits for its moment, works, returns, and is called again."""
Report = Callable[[BaseException], None]
"""Called with what a turn raised."""

FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 10.0


class LoopsFailing(Exception):
    """Some loops that the unit needs do not run as they should; the text names them."""


class Loops:
    """The owner of all loops of a unit; its composition root makes it and closes it.

    A turn handles the failures it expects. Whatever else it raises is reported, and the loop goes on after a pause
    that doubles while faults follow each other.
    """

    def __init__(self, report_of: Callable[[str], Report]) -> None:
        """`report_of` gives the report of the loop with that name, once, when the loop starts."""
        self._report_of = report_of
        self._loops: dict[str, Loop] = {}

    def start(
        self, name: str, turn: Turn, *, needed: bool = True, max_pause_seconds: float = MAX_PAUSE_SECONDS
    ) -> "Loop":
        """`needed`: the unit is not ready while this loop fails."""
        if name in self._loops:
            raise ValueError(f"a loop called {name} runs already")
        loop = self._loops[name] = Loop(name, turn, self._report_of(name), needed, max_pause_seconds)
        return loop

    async def check(self) -> None:
        """The readiness check: raises LoopsFailing while a needed loop fails."""
        failing = [loop.name for loop in self._loops.values() if loop.needed and loop.failing]
        if failing:
            raise LoopsFailing(", ".join(failing))

    async def close(self) -> None:
        for loop in reversed(self._loops.values()):
            await loop.close()


class Loop:
    """Made by `Loops.start`; runs until it is closed."""

    def __init__(self, name: str, turn: Turn, report: Report, needed: bool, max_pause_seconds: float) -> None:
        self.name = name
        self.needed = needed
        self._turn = turn
        self._report = report
        self._max_pause = max_pause_seconds
        self._clock = asyncio.get_running_loop().time
        self._steady_at = float("-inf")
        self._task = asyncio.create_task(self._run(), name=f"loop {name}")

    @property
    def failing(self) -> bool:
        """From a fault until the loop has run again for as long as it paused: one fault is soon forgotten, and a loop
        that always fails counts as failing between two faults too."""
        return self._clock() < self._steady_at

    async def close(self) -> None:
        """Cancels the turn that runs and waits until it has ended."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        pause = first = min(FIRST_PAUSE_SECONDS, self._max_pause)
        while True:
            began = self._clock()
            await self._until_fault()
            if self._clock() - began > 2 * self._max_pause:
                pause = first
            self._steady_at = self._clock() + 2 * pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._max_pause)

    async def _until_fault(self) -> None:
        try:
            while True:
                await self._turn()
        except asyncio.CancelledError as canceled:
            if _is_being_cancelled():
                raise
            self._tell(canceled)  # a turn that cancelled itself, as a library may do by mistake
        except Exception as fault:  # noqa: BLE001  an unexpected exception must not end the loop
            self._tell(fault)

    def _tell(self, fault: BaseException) -> None:
        with suppress(Exception):  # a log that cannot be written must not end the loop either
            self._report(fault)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
