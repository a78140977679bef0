"""Background loops: a fault ends a turn, never the loop, and who needs the loop can see it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio

from aop.base import loops as loops_module
from aop.base.loops import Loops, LoopsFailing
from tests.support.waiting import becomes_true, patience


@dataclass
class Work:
    """A turn that does as each step says: an exception to raise, or seconds to take; then it waits for ever."""

    steps: list[BaseException | float]
    turns: int = 0
    ended: int = 0

    async def turn(self) -> None:
        self.turns += 1
        step = self.steps.pop(0) if self.steps else 3600.0
        try:
            if isinstance(step, BaseException):
                raise step
            await asyncio.sleep(step)
        finally:
            self.ended += 1


@dataclass
class Witness:
    reports: list[tuple[str, str]] = field(default_factory=list)
    loops: Loops = field(init=False)

    def __post_init__(self) -> None:
        self.loops = Loops(lambda name: lambda fault: self.reports.append((name, type(fault).__name__)))


@pytest_asyncio.fixture
async def witness() -> AsyncIterator[Witness]:
    found = Witness()
    yield found
    await found.loops.close()


async def turned(work: Work, times: int) -> None:
    async def often_enough() -> bool:
        return work.turns >= times

    await becomes_true(often_enough)


async def test_turns_follow_each_other_until_the_owner_closes_the_loop(witness: Witness) -> None:
    work = Work([0.0, 0.0])
    witness.loops.start("work", work.turn)
    await turned(work, 3)
    await witness.loops.close()
    assert (work.turns, work.ended, witness.reports) == (3, 3, [])


@pytest.mark.rows("SAFE-09")
@pytest.mark.parametrize(
    "fault", [KeyError("x"), asyncio.CancelledError(), MemoryError(), ExceptionGroup("g", [OSError()])]
)
async def test_whatever_a_turn_raises_is_told_with_its_class_and_the_loop_goes_on(
    witness: Witness, fault: BaseException
) -> None:
    work = Work([fault])
    witness.loops.start("work", work.turn, max_pause_seconds=0.01)
    await turned(work, 2)
    assert witness.reports == [("work", type(fault).__name__)]


async def test_a_witness_that_fails_itself_does_not_end_the_loop() -> None:
    def full_disk(fault: BaseException) -> None:
        raise OSError("no space left on device")

    loops, work = Loops(lambda _: full_disk), Work([KeyError()])
    loops.start("work", work.turn, max_pause_seconds=0.01)
    await turned(work, 2)
    await loops.close()


@pytest.mark.rows("SAFE-09")
async def test_a_needed_loop_that_fails_fails_the_check_by_its_name_until_it_runs_again(witness: Witness) -> None:
    work = Work([KeyError() for _ in range(1000)])
    witness.loops.start("idle", Work([]).turn)
    witness.loops.start("work", work.turn, max_pause_seconds=0.2)
    await witness.loops.check()
    await turned(work, 3)

    async def passes() -> bool:
        try:
            await witness.loops.check()
        except LoopsFailing as failing:
            named.add(str(failing))
            return False
        return True

    async def fails() -> bool:
        return not await passes()

    named = set[str]()
    await becomes_true(fails)
    assert named == {"work"}
    work.steps.clear()
    await becomes_true(passes)


async def test_a_loop_that_nobody_needs_leaves_the_unit_ready(witness: Witness) -> None:
    work = Work([KeyError()])
    witness.loops.start("work", work.turn, needed=False)
    await turned(work, 1)
    await asyncio.sleep(0)
    assert witness.reports
    await witness.loops.check()


@pytest.mark.parametrize(("limit", "pauses"), [(10.0, [0.5, 1.0]), (0.02, [0.02, 0.02, 0.02])])
async def test_the_pause_doubles_while_faults_follow_each_other_and_has_a_limit(
    witness: Witness, limit: float, pauses: list[float]
) -> None:
    clock, at = asyncio.get_running_loop().time, list[float]()

    async def turn() -> None:
        at.append(clock())
        raise KeyError

    async def often_enough() -> bool:
        return len(at) > len(pauses)

    witness.loops.start("work", turn, max_pause_seconds=limit)
    await becomes_true(often_enough)
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert all(gap >= pause for gap, pause in zip(gaps, pauses, strict=False))


async def test_a_loop_that_always_fails_is_tried_again_every_ten_seconds(
    witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses, sleep = list[float](), asyncio.sleep

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0 if len(pauses) < 8 else 3600)

    async def turn() -> None:
        raise KeyError

    async def paused_often() -> bool:
        return len(pauses) == 8

    monkeypatch.setattr(loops_module, "asyncio", _WithSleep(pause))
    witness.loops.start("work", turn)
    await becomes_true(paused_often)
    assert pauses == [0.5, 1, 2, 4, 8, 10, 10, 10]


class _WithSleep:
    """asyncio with another sleep, for one module."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.sleep = sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)


async def test_a_loop_that_is_closed_ends_in_the_middle_of_its_turn_and_in_its_pause(witness: Witness) -> None:
    working, pausing = Work([3600.0]), Work([KeyError()])
    witness.loops.start("working", working.turn)
    witness.loops.start("pausing", pausing.turn, max_pause_seconds=3600)
    await turned(pausing, 1)
    async with patience():
        await witness.loops.close()
    assert working.ended == 1


async def test_two_loops_of_one_name_are_refused(witness: Witness) -> None:
    witness.loops.start("work", Work([]).turn)
    with pytest.raises(ValueError, match="runs already"):
        witness.loops.start("work", Work([]).turn)
