"""Units killed at every stage and at any moment, a frozen Router behind its successor, and orderly stops under load."""

import asyncio
import signal
import time
from collections.abc import Sequence

from proof.area import Figure, proves
from proof.failpoints import ROUTER, Failpoint
from proof.processes.stage import Stage
from proof.record import OutageAnswer
from proof.switchboard import Action, Armed
from proof.traffic import Load

STARTING = ("epoch.opened", "close.read", "close.ended", "close.before", "close.after")
"""Passed by a Router that has not listened yet."""
_FENCED_EXIT = 78
_LEAVING = ("leave.before", "leave.after", "cancel.before", "cancel.after")


@proves("However and whenever a unit dies, every accepted invocation has exactly one terminal once its Router is back.")
async def kill_at_points(stage: Stage, times: int, number: int | None) -> None:
    """At each stage so many times; `number` picks so many of the stages by the seed."""
    points: Sequence[Failpoint] = ROUTER
    if number is not None:
        points = stage.run.random.sample(ROUTER, number)
    for turn in range(1, times + 1):
        for point in points:
            stage.run.say(f"SIGKILL at {point.name}, {turn} of {times}")
            await (_kill_starting if point.name in STARTING else _kill_running)(stage, point.name)
            await stage.restart_router()
        await stage.require_sound(f"killed at each stage, round {turn}")


async def _kill_running(stage: Stage, point: str) -> None:
    router = stage.made.router
    remote, before = stage.made.remote(router), len(stage.made.remote(router).hits())
    await remote.arm(Armed(point, Action.KILL))
    calls = [asyncio.create_task(stage.call("answers")) for _ in range(2)]
    calls.append(asyncio.create_task(stage.call("streams", stream=True)))
    if point in _LEAVING:
        leaving = asyncio.create_task(stage.leave_working())
        await asyncio.wait({leaving})
        leaving.exception()  # a Router that dies early keeps the Task from being probed
    await _died(stage)
    await asyncio.gather(*calls)
    stage.found.hits[f"SIGKILL at {point}"] += len(remote.hits()) - before


async def _kill_starting(stage: Stage, point: str) -> None:
    """Dies with work open; its next life dies while it closes the epoch before it."""
    router = stage.made.router
    before = len(stage.made.remote(router).hits())
    calls = [asyncio.create_task(stage.call("works")) for _ in range(3)]
    await stage.made.agent.arrival("tasks/get", len(stage.made.agent.calls("tasks/get")) + 3)
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


async def kill_at_random(stage: Stage, times: int) -> None:
    """Under load; what was answered before stays, what ran has one terminal after the return."""
    chance = stage.run.random
    for number in range(times):
        moment = chance.uniform(0.1, 1.2)
        stage.run.say(f"SIGKILL under load after {moment:.2f} s, {number + 1} of {times}")
        async with stage.traffic(Load(json=6, streams=3)) as going:
            await asyncio.sleep(moment)
            await stage.made.router.kill()
            stage.found.hits["SIGKILL at a random moment under load"] += 1
            await stage.restart_router()
            await going.succeeds(5)
        if number % 10 == 9 or number == times - 1:
            await stage.require_sound(f"killed at random moments, {number + 1} times")


@proves("A frozen Router that wakes up behind its successor adds nothing and ends by itself.")
async def zombie(stage: Stage, times: int) -> None:
    """SIGSTOP under load, a successor of the same id, SIGCONT: the old one adds nothing and ends by itself."""
    for number in range(times):
        stage.run.say(f"a frozen Router and its successor, {number + 1} of {times}")
        calls = [asyncio.create_task(stage.call("works")) for _ in range(3)]
        calls += [asyncio.create_task(stage.call("streams", stream=True)) for _ in range(2)]
        await stage.made.agent.arrival("tasks/get", len(stage.made.agent.calls("tasks/get")) + 3)
        stage.made.router.send(signal.SIGSTOP)
        async with stage.made.successor() as successor:
            stage.restarts.append(await successor.restart())
            before = {row.invocation_id: row.facts for row in await stage.made.ledger.recorded()}
            stage.made.router.send(signal.SIGCONT)
            code = await stage.made.router.ended()
            stage.found.require(code == _FENCED_EXIT, f"the fenced Router ended with {code}")
            stage.found.hits["SIGSTOP, successor, SIGCONT"] += "ledger.fenced" in stage.made.router.said
            after = {row.invocation_id: row.facts for row in await stage.made.ledger.recorded()}
            stage.found.require(before == after, "a fenced Router added facts")
            await asyncio.gather(*calls)
        stage.made.successors.clear()
        await stage.restart_router()
    await stage.require_sound("behind its successor")


async def control_planes_end(stage: Stage, times: int) -> None:
    for number in range(times):
        for how in (signal.SIGKILL, signal.SIGTERM):
            stage.run.say(f"{how.name} of the Control Plane under load, {number + 1} of {times}")
            await _end_control_plane(stage, how)
    await stage.require_sound("Control Planes that ended")


async def _end_control_plane(stage: Stage, how: signal.Signals) -> None:
    unit = stage.made.control_plane
    async with stage.traffic(Load(json=4, streams=3, pause=0.02)) as going:
        await going.succeeds(5)
        sent_at = time.time()
        if how is signal.SIGKILL:
            stage.gateway_killed.append(sent_at)
        unit.send(how)
        code = await unit.ended(40)
        stage.found.hits[f"{how.name} of the Control Plane under load"] += 1
        await stage.made.control_plane.restart()
        name = f"first success after the return from {how.name}"
        stage.found.figures.append(Figure(name, await going.succeeds(15), "s", at_most=8.0))
    if how is signal.SIGTERM:
        stage.found.require(code == 0, f"a stopped Control Plane ended with {code}")
        cut = [
            result
            for result in going.results
            if result.began < sent_at and result.status is not None and not result.complete
        ]
        stage.found.require(not cut, f"{len(cut)} calls were cut off by an orderly stop")


async def stop_router(stage: Stage) -> None:
    """An orderly stop: what runs ends well, what is new is told to come back."""
    stage.run.say("SIGTERM of the Router under load")
    async with stage.traffic(Load(json=4, streams=3, pause=0.02)) as going:
        await going.succeeds(5)
        sent_at = time.time()
        stage.made.router.send(signal.SIGTERM)
        code = await stage.made.router.ended(40)
        reply = await stage.made.read("/invocations")
        down = OutageAnswer("a list while the Router is down", reply.status, reply.body)
        stage.found.require(not down.pretends, f"{down.what}: {down.status}")
        await stage.restart_router()
        await going.succeeds(10)
    stage.found.hits["SIGTERM of the Router under load"] += 1
    stage.found.require(code == 0, f"a stopped Router ended with {code}")
    lost = [result for result in going.results if result.events and result.began < sent_at and result.outcome is None]
    stage.found.require(not lost, f"{len(lost)} streams ended without a terminal in an orderly stop")
    await stage.require_sound("an orderly stop of the Router")
