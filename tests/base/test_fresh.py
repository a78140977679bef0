"""A value that many ask for is found once at a time, and again when it has become old."""

import asyncio

import pytest

from aop.base.fresh import Fresh


async def test_those_that_waited_share_what_one_found_also_when_it_took_longer_than_it_stays_fresh() -> None:
    may_end, finds = asyncio.Event(), 0

    async def find() -> int:
        nonlocal finds
        finds += 1
        await may_end.wait()
        await asyncio.sleep(0.02)
        return finds

    value = Fresh(find, 0.01)
    askers = [asyncio.create_task(value.get()) for _ in range(50)]
    await asyncio.sleep(0)
    may_end.set()
    found = await asyncio.gather(*askers)
    assert found == [1] * 50
    await asyncio.sleep(0.02)
    assert await value.get() == 2


async def test_what_was_raised_and_what_was_left_are_not_kept() -> None:
    outcomes: list[object] = [LookupError("gone"), asyncio.Event(), "found"]

    async def find() -> object:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, asyncio.Event):
            await outcome.wait()
        return outcome

    value = Fresh(find, 60.0)
    with pytest.raises(LookupError, match="gone"):
        await value.get()
    leaving = asyncio.create_task(value.get())
    next_one = asyncio.create_task(value.get())
    await asyncio.sleep(0)
    leaving.cancel()
    assert await next_one == await value.get() == "found"
