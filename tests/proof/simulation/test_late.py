"""An answer that is whole, but read or checked only when the deadline has passed."""

import asyncio
import random
from contextlib import closing

import pytest

from proof.simulation.agent import Script, SimulatedAgents
from proof.simulation.plan import CallPlan, Ending, Kind, Plan, json_script, stream_script
from proof.simulation.world import MAX_SECONDS, World
from tests.ledger.simulated.loop import SimulatedLoop
from tests.ledger.simulated.store import StorePlan

pytestmark = pytest.mark.second_ring

DEADLINE = 5.0
"""Of the usual Card."""


class SlowToRead(SimulatedAgents):
    """From the arrival of the last word on the Router computes for so long, without ever giving way."""

    seconds = 0.0

    def note_answer(self, name: str, says: str, *, is_last: bool) -> None:
        super().note_answer(name, says, is_last=is_last)
        loop = asyncio.get_running_loop()
        if is_last and isinstance(loop, SimulatedLoop):
            loop.work(self.seconds)


@pytest.mark.rows("TMO-05")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("seconds", "ends"), [(0.5, "succeeded"), (DEADLINE, "timed_out"), (DEADLINE + 1, "timed_out")]
)
def test_an_answer_whose_reading_ends_after_the_deadline_is_timed_out(stream: bool, seconds: float, ends: str) -> None:
    with closing(SimulatedLoop()) as loop:
        loop.begin(1, max_seconds=MAX_SECONDS)
        call = CallPlan("call-0", 0.0, stream, Kind.USUAL, _succeeding(stream=stream), None, 0.0, 0.0)
        world = World(Plan(1, (call,), StorePlan(), Ending.QUIET, 0.0, 0.0, None, None), loop)
        world.agents = SlowToRead({call.name: call.script}, 1, world.history, world._call_child)
        world.agents.seconds = seconds
        loop.run_until_complete(world.run())
    outcome, tables = world.callers[call.name].result.outcome, world.store.tables
    assert outcome == ends
    assert [(tables.terminal(key) or {})["type"] for key in tables.invocations] == [ends]
    assert world.broken == []


def _succeeding(*, stream: bool) -> Script:
    """One that would succeed at once, if reading it took no time."""
    make = stream_script if stream else json_script
    found = (make(random.Random(seed), None) for seed in range(1000))
    return next(one for one in found if one.ends == "succeeded" and sum(step.pause for step in one.steps) < 0.5)
