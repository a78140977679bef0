"""A Workspace moves to another version while its Agents are called: no call notices more than which version it met."""

import asyncio

import pytest

from aop.local.state import DatabaseUrls
from tests.support.replacing_calls import COLD, replacing_calls

CALLERS = 4
REPLACEMENTS = 10


@pytest.mark.rows("REPL-01")
async def test_no_call_is_refused_and_each_runs_on_exactly_the_old_or_the_new_release(stores: DatabaseUrls) -> None:
    """The long form, paced and in every state of the Router, is the area `replacements` of the proof."""
    async with replacing_calls(stores, **COLD) as scene:
        stop = asyncio.Event()

        async def caller() -> None:
            while not stop.is_set():
                await scene.call()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CALLERS):
                tasks.create_task(caller())
            await scene.replace_many(REPLACEMENTS, lambda: scene.more_answers(1))
            resolved = scene.line.resolves()
            scene.line.cut()
            await scene.replace_many(REPLACEMENTS, lambda: scene.more_answers(1))
            await scene.more_answers(2 * CALLERS)
            stop.set()
        assert scene.problems == []
        assert scene.answered >= 2 * REPLACEMENTS
        assert 0 < resolved < scene.line.resolves()  # the cache was cold, and stayed so without the watch
