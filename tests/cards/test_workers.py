"""The schema processes: two at once from the first moment, none left behind, and a queue of those who still wait."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aop.cards.jobs import Checked, CheckValue, Reply, TooMuchWork
from aop.cards.workers import SchemaWorkers
from tests.cards.hostile import many_minimums
from tests.cards.test_checks import children_of, text

pytestmark = pytest.mark.second_ring

LIMIT = 1e9


def check(schema: object, value: object) -> CheckValue:
    return CheckValue(text(schema), text(value), explain=False, max_ns=LIMIT)


STRING, LONG = check({"type": "string"}, 5), check(many_minimums(-1), {"x": [1] * 1_000})


@pytest_asyncio.fixture
async def workers() -> AsyncIterator[SchemaWorkers]:
    workers = SchemaWorkers()
    yield workers
    await workers.close()
    assert not children_of(os.getpid())


async def reply_to(workers: SchemaWorkers, job: CheckValue = STRING, size: int = 1) -> Reply:
    return await workers.run(job, size)


async def test_two_jobs_at_the_first_moment_get_an_answer_each(workers: SchemaWorkers) -> None:
    replies = await asyncio.gather(reply_to(workers, check({"type": "string"}, "a")), reply_to(workers))
    assert [*replies] == [Checked(is_valid=True), Checked(is_valid=False)]
    assert len(children_of(os.getpid())) == 2


async def test_who_left_the_queue_takes_no_place_in_it(workers: SchemaWorkers) -> None:
    at_work = [asyncio.create_task(reply_to(workers, LONG)) for _ in range(2)]
    await asyncio.sleep(0)
    left = [asyncio.create_task(reply_to(workers)) for _ in range(3)]
    await asyncio.sleep(0)
    assert workers.waiting == 3
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    assert workers.waiting == 0
    assert await asyncio.gather(*(reply_to(workers) for _ in range(3))) == [Checked(is_valid=False)] * 3
    await asyncio.gather(*at_work)


@pytest.mark.parametrize("steps", range(12))
async def test_leaving_at_any_moment_frees_the_turn_and_leaves_no_process(workers: SchemaWorkers, steps: int) -> None:
    tasks = [asyncio.create_task(reply_to(workers, LONG, number)) for number in range(4)]
    for _ in range(steps * steps):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [*await asyncio.gather(reply_to(workers), reply_to(workers))] == [Checked(is_valid=False)] * 2


@pytest.mark.parametrize("seconds", [0, 0.02, 0.5])
async def test_closing_in_the_middle_of_jobs_ends_them_and_starts_nothing(seconds: float) -> None:
    workers = SchemaWorkers()
    tasks = [asyncio.create_task(reply_to(workers, LONG)) for _ in range(4)]
    await asyncio.sleep(seconds)
    await workers.close()
    for reply in await asyncio.gather(*tasks):
        assert isinstance(reply, TooMuchWork | Checked)
    await workers.close()
    assert not children_of(os.getpid())
