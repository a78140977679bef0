"""A Router killed at every stage of an invocation, while it starts, and at any moment under load."""

import asyncio
from collections.abc import Sequence

from proof.failpoints import ROUTER, Failpoint
from proof.processes.stage import Stage
from proof.switchboard import Action, Armed
from proof.traffic import Load, traffic
from tests.support.agent import ScriptedAgent

STARTING = ("epoch.opened", "close.read", "close.ended", "close.before", "close.after")
"""Passed by a Router that has not listened yet."""
_LEAVING = ("leave.before", "leave.after", "cancel.before", "cancel.after")
_STREAMED = ("chunk.framed", "progress.before", "progress.after")


async def kill_at_points(stage: Stage, times: int, most: int | None) -> None:
    """At each stage so many times; `most` picks some of the stages by the seed."""
    points: Sequence[Failpoint] = ROUTER
    if most is not None:
        points = stage.run.random.sample(ROUTER, most)
    for number in range(times):
        for point in points:
            stage.run.say(f"SIGKILL at {point.name}, {number + 1} of {times}")
            await (_kill_starting if point.name in STARTING else _kill_running)(stage, point.name)
            await stage.restart_router()
        await stage.require_sound(f"killed at each stage, round {number + 1}")


async def _kill_running(stage: Stage, point: str) -> None:
    router = stage.made.router
    remote, before = stage.made.remote(router), len(stage.made.remote(router).hits())
    await remote.arm(Armed(point, Action.KILL))
    calls = [asyncio.create_task(stage.call("answers")) for _ in range(2)]
    calls.append(asyncio.create_task(stage.call("streams", stream=True)))
    if point in _LEAVING:
        leaving = asyncio.create_task(stage.leave_working())
        await asyncio.wait({leaving})
        leaving.exception()  # a Router that dies early keeps the Task from being looked at
    await _died(stage)
    await asyncio.gather(*calls)
    stage.found.hits[f"SIGKILL at {point}"] += len(remote.hits()) - before


async def _kill_starting(stage: Stage, point: str) -> None:
    """Dies with work open; its next life dies while it closes the epoch before it."""
    router = stage.made.router
    before = len(stage.made.remote(router).hits())
    calls = [asyncio.create_task(stage.call("works")) for _ in range(3)]
    await _arrivals(stage.made.agent, 3)
    await router.kill()
    await asyncio.gather(*calls)
    usual, router.options = router.options, (*router.options, "--failpoint", f"{point}=kill")
    await router.start()
    await _died(stage)
    router.options = usual
    stage.found.hits[f"SIGKILL at {point}"] += len(stage.made.remote(router).hits()) - before


async def _died(stage: Stage) -> None:
    try:
        stage.found.require(await stage.made.router.ended() == -9, "the Router ended otherwise than by the kill")
    except TimeoutError:
        await stage.made.router.kill()


async def _arrivals(agent: ScriptedAgent, number: int) -> None:
    looks = len(agent.calls("tasks/get"))
    await agent.arrival("tasks/get", looks + number)


async def kill_at_random(stage: Stage, times: int) -> None:
    """Under load; what was answered before stays, what ran has one terminal after the return."""
    chance = stage.run.random
    for number in range(times):
        moment = chance.uniform(0.1, 1.2)
        stage.run.say(f"SIGKILL under load after {moment:.2f} s, {number + 1} of {times}")
        async with traffic(stage.made, Load(json=6, streams=3)) as going:
            await asyncio.sleep(moment)
            await stage.made.router.kill()
            stage.found.hits["SIGKILL at a random moment under load"] += 1
            await stage.restart_router()
            await going.succeeds(5)
        stage.adopt(going)
        if number % 10 == 9 or number == times - 1:
            await stage.require_sound(f"killed at random moments, {number + 1} times")
