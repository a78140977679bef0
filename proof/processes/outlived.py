"""A frozen Router behind its successor, and Control Planes that die or are stopped under load."""

import asyncio
import signal
import time

from proof.area import Figure
from proof.processes.stage import Stage
from proof.record import OutageAnswer
from proof.traffic import Load, traffic

_FENCED_EXIT = 78


async def zombie(stage: Stage, times: int) -> None:
    """SIGSTOP under load, a successor of the same id, SIGCONT: the old one adds nothing and ends by itself."""
    for number in range(times):
        stage.run.say(f"a frozen Router and its successor, {number + 1} of {times}")
        calls = [asyncio.create_task(stage.call("works")) for _ in range(3)]
        calls += [asyncio.create_task(stage.call("streams", stream=True)) for _ in range(2)]
        looks = len(stage.made.agent.calls("tasks/get"))
        await stage.made.agent.arrival("tasks/get", looks + 3)
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
    async with traffic(stage.made, Load(json=4, streams=3, pause=0.02)) as going:
        await going.succeeds(5)
        asked = time.time()
        if how is signal.SIGKILL:
            stage.gateway_killed.append(asked)
        unit.send(how)
        code = await unit.ended(40)
        stage.found.hits[f"{how.name} of the Control Plane under load"] += 1
        await stage.made.control_plane.restart()
        stage.found.figures.append(_recovery(how, await going.succeeds(15)))
    stage.adopt(going)
    if how is signal.SIGTERM:
        stage.found.require(code == 0, f"a stopped Control Plane ended with {code}")
        cut = [told for told in going.told if told.began < asked and told.status is not None and not told.complete]
        stage.found.require(not cut, f"{len(cut)} calls were cut off by an orderly stop")


def _recovery(how: signal.Signals, seconds: float) -> Figure:
    return Figure(f"first success after the return from {how.name}", seconds, "s", at_most=8.0)


async def stop_router(stage: Stage) -> None:
    """An orderly stop: what runs ends well, what is new is told to come back."""
    stage.run.say("SIGTERM of the Router under load")
    async with traffic(stage.made, Load(json=4, streams=3, pause=0.02)) as going:
        await going.succeeds(5)
        asked = time.time()
        stage.made.router.send(signal.SIGTERM)
        code = await stage.made.router.ended(40)
        reply = await stage.made.read("/invocations")
        down = OutageAnswer("a list while the Router is down", reply.status, reply.body)
        stage.found.require(not down.pretends, f"{down.what}: {down.status}")
        await stage.restart_router()
        await going.succeeds(10)
    stage.adopt(going)
    stage.found.hits["SIGTERM of the Router under load"] += 1
    stage.found.require(code == 0, f"a stopped Router ended with {code}")
    lost = [told for told in going.told if told.events and told.began < asked and told.outcome is None]
    stage.found.require(not lost, f"{len(lost)} streams ended without a terminal in an orderly stop")
    await stage.require_sound("an orderly stop of the Router")
