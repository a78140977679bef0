"""Work that runs while clocks jump: deadlines, streams, the topology watch, and a restart into the past."""

import asyncio
import random
import signal
from collections.abc import Coroutine, Sequence
from typing import Any

from proof.area import Figure, proves
from proof.clocks.stage import HOUR, Stage
from proof.gathering import settled
from proof.record import CallResult
from proof.traffic import Load, traffic
from tests.support.agent import invocation_of
from tests.support.cards import some_limits
from tests.support.loop import SPACE, invoking
from tests.support.peers import hold
from tests.support.streaming_agent import piece, status, streamed, task

DEADLINE = 2.0
MAX_LATE = 2.0
"""How late a time-out may be on a busy machine."""
_CHUNKS = 8


async def deadlines(stage: Stage) -> None:
    """Agents that never answer, in both modes, while the Router's clock jumps about."""
    limits = some_limits(timeoutMs=int(DEADLINE * 1000))
    card, release, _ = await stage.made.first.installed(limits=limits)
    await stage.made.second.sees(release, "published")
    for _ in range(4):
        stage.made.agent.script(hold)
    calls = [
        stage.call(stream=stream, side=side, agentId=card["agentId"]) for stream in (False, True) for side in (0, 1)
    ]
    results = await _while_jumping(stage, calls)
    lateness = [one.seconds - DEADLINE for one in results]
    for one in results:
        stage.found.require(one.outcome == "timed_out", f"deadline: told {one.outcome}/{one.code}")
    stage.found.figures += [
        Figure("the latest time-out under jumps", max(lateness), "s", at_most=MAX_LATE),
        Figure("the earliest time-out under jumps", min(lateness), "s", at_least=-0.05),
    ]


async def streams(stage: Stage, number: int) -> None:
    """Each arrives whole, although the clock that dates its facts goes to and fro."""
    steps = [step for count in range(_CHUNKS) for step in (0.1, piece(count, count, _CHUNKS))]
    for _ in range(number):
        stage.made.agent.script(streamed(task(), *steps, status("completed")))
    for result in await _while_jumping(stage, [stage.call(stream=True, side=count % 2) for count in range(number)]):
        chunks = result.chunk_values
        stage.found.require(chunks == list(range(_CHUNKS)), f"a stream under jumps: {chunks}")
        stage.found.require(result.outcome == "succeeded", f"a stream under jumps: {result.outcome}/{result.code}")


async def _while_jumping(stage: Stage, calls: Sequence[Coroutine[Any, Any, CallResult]]) -> list[CallResult]:
    chance = stage.run.random
    going = asyncio.gather(*calls)
    while not going.done():
        await asyncio.wait({going}, timeout=chance.uniform(0.05, 0.25))
        for router in stage.made.routers:
            stage.set(router, _anywhere(chance))
    stage.set_right()
    return await going


def _anywhere(chance: random.Random) -> float:
    return chance.choice((HOUR, -HOUR, chance.uniform(-70, 70), chance.uniform(-0.01, 0.01)))


@proves("Deadlines, streams, readiness and the topology watch go by time that passed.")
async def unaffected(stage: Stage) -> None:
    """Readiness and the watch go by time that passed, not by what a clock says."""
    for ahead in (HOUR, -HOUR, 16.0, -16.0, 0.0):
        for unit in stage.made.units:
            stage.set(unit, ahead)
        for unit in stage.made.units:
            ready = (await unit.unit.get("/readyz")).status
            stage.found.require(ready == 200, f"{unit.log.stem} with the clock {ahead:+g} s: /readyz {ready}")
    stage.set_right()


async def restart_into_the_past(stage: Stage) -> None:
    """A Router dies with work running and comes back an hour earlier: what it ends is dated behind what it ended."""
    stage.made.agent.script(hold)
    count = len(stage.made.agent.calls("message/send"))
    async with invoking(stage.made.first):
        held = await stage.made.agent.arrival("message/send", count + 1)
        stage.made.router.send(signal.SIGKILL)
        await stage.made.router.ended()
        stage.set(stage.made.router, -HOUR)
        await stage.made.router.restart()
        stage.found.hits["Router restarted an hour earlier"] += 1
    stage.set_right()
    await settled(stage.made)
    detail = await stage.made.first.read(f"/invocations/{invocation_of(held)}")
    times = [event["occurredAt"] for event in detail["events"]]
    stage.found.require(times == sorted(times), f"{SPACE}: facts go back in time: {times}")
    stage.found.require(detail["events"][-1]["type"] == "failed", "what a dead Router left is not ended")


async def storm(stage: Stage, seconds: float) -> None:
    """Honest traffic on both sides while every clock goes where chance says; each verdict is the contract's."""
    chance, count = stage.run.random, len(stage.agent.judgements)
    until = asyncio.get_running_loop().time() + seconds
    async with traffic(stage.made, Load(json=4, streams=2, pause=0.01)) as going:
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(chance.uniform(0.02, 0.2))
            stage.set(chance.choice(stage.made.units), _anywhere(chance))
            stage.agent.ahead = chance.choice((0.0, 0.0, _anywhere(chance)))
        stage.set_right()
        await going.succeeds(10)
    stage.results += going.results
    wrong = [judgement for judgement in stage.agent.judgements[count:] if not judgement.right]
    stage.found.require(not wrong, f"{len(wrong)} verdicts are not the contract's, first {wrong[:1]}")
    answers = {(result.status, result.code) for result in going.results}
    stage.found.require(answers <= {(200, None), (200, "AGENT_UNAVAILABLE"), (503, "AGENT_UNAVAILABLE")}, f"{answers}")
