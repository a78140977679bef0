"""What goes to the store together waits for each other, and a lone one for nobody."""

import asyncio
from collections.abc import Callable

from aop.store.batching_window import BatchingWindow


class Turns:
    """Counts the turns of the loop while something is gathered, and does something in each."""

    def __init__(self, step: Callable[[int], None] = lambda turn: None) -> None:
        self.count = 0
        self._step = step

    async def while_gathering(self, window: BatchingWindow, waiting: list[int]) -> int:
        task = asyncio.create_task(self._go_on())
        await asyncio.sleep(0)
        self.count = 0
        await window.gather(waiting)
        task.cancel()
        return self.count

    async def _go_on(self) -> None:
        while True:
            self.count += 1
            self._step(self.count)
            await asyncio.sleep(0)


async def test_a_lone_one_waits_for_no_turn() -> None:
    window = BatchingWindow(512)
    assert await Turns().while_gathering(window, [1]) == 0
    window.had(1)
    assert await Turns().while_gathering(window, [1]) == 0


async def test_behind_a_group_the_next_waits_a_few_turns() -> None:
    window = BatchingWindow(512)
    window.had(2)
    assert 4 <= await Turns().while_gathering(window, [1]) <= 10


async def test_as_long_as_more_come_they_are_waited_for_and_never_for_ever() -> None:
    window, waiting = BatchingWindow(512), [1]
    window.had(2)
    few = await Turns(lambda turn: waiting.append(turn) if turn < 14 else None).while_gathering(window, waiting)
    assert 14 <= few <= 17
    ever = await Turns(waiting.append).while_gathering(window, waiting)
    assert few < ever <= 30


async def test_a_small_group_among_large_ones_waits_as_long_again() -> None:
    window = BatchingWindow(512)
    window.had(40)
    few, half = await Turns().while_gathering(window, [1]), await Turns().while_gathering(window, [1] * 20)
    for _ in range(20):
        window.had(9)
    assert few >= 2 * half == 2 * await Turns().while_gathering(window, [1])


async def test_who_has_enough_waits_for_no_turn() -> None:
    window = BatchingWindow(5)
    window.had(5)
    assert await Turns().while_gathering(window, [1] * 4) > 0
    assert await Turns().while_gathering(window, [1] * 5) == 0


async def test_one_alone_between_groups_does_not_end_the_company_but_several_do() -> None:
    window = BatchingWindow(512)
    window.had(30)
    window.had(1)
    assert await Turns().while_gathering(window, [1]) > 0
    for _ in range(8):
        window.had(1)
    assert await Turns().while_gathering(window, [1]) == 0
