"""How a running Invocation is stopped from outside."""

import asyncio
from typing import Any

import pytest

from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import TERMINAL_OF, RunningInvocation, StopReason

NOTHING: Any = None


def a_running() -> RunningInvocation:
    return RunningInvocation(NOTHING, b"", 0.0, 0.0, *[NOTHING] * 4)


@pytest.mark.parametrize("later", StopReason)
async def test_the_first_reason_to_stop_counts(later: StopReason) -> None:
    running = a_running()
    running.stop(StopReason.DEADLINE)
    running.stop(later)
    assert running.stop_reason is StopReason.DEADLINE


async def test_the_work_is_cancelled_once_however_many_reasons_come() -> None:
    running, worker = a_running(), asyncio.create_task(asyncio.sleep(60))
    running.worker = worker
    await asyncio.sleep(0)
    running.stop(StopReason.CALLER_LEFT)
    running.stop(StopReason.SHUTDOWN)
    assert worker.cancelling() == 1
    await asyncio.wait({worker})
    assert worker.cancelled()


async def test_no_reason_counts_once_the_outcome_is_told() -> None:
    running = a_running()
    running.ended.set_result(Outcome(TERMINAL_OF[StopReason.DEADLINE]))
    running.stop(StopReason.CALLER_LEFT)
    assert running.stop_reason is None
