"""Area `processes`: our own units killed, frozen, stopped and started wrongly, at every stage and under load."""

import asyncio
import signal
import time

from aop.ledger.write.router_lock import SILENT_SECONDS
from proof.area import Area, Figure, Findings, Run, proves
from proof.failpoints import ROUTER
from proof.processes.frozen import freeze, frozen_workers
from proof.processes.stage import OPEN_ROWS, READY_SECONDS, Stage, many_open_rows, staged, wrong_settings
from proof.record import OutageAnswer
from proof.switchboard import Action, Armed
from proof.traffic import Load
from tests.support.replicas import Replica

STARTING = ("epoch.opened", "close.read", "close.ended", "close.before", "close.after")
"""Passed by a Router that has not listened yet."""
_FENCED_EXIT = 78
_LEAVING = ("leave.before", "leave.after", "cancel.before", "cancel.after")


async def run(run: Run) -> Findings:
    found = Findings()
    await frozen_workers(run, found)
    async with staged(run, found) as stage:
        await kill_at_points(stage, run.pick(1, 10), None if run.full else 4)
        await kill_at_random(stage, run.pick(1, 60))
        await zombie(stage, run.pick(1, 10))
        await end_units(stage, run.pick(1, 5))
        await wrong_settings(stage, None if run.full else 2)
        for size in OPEN_ROWS if run.full else OPEN_ROWS[2:3]:
            await many_open_rows(stage, size)
        longest = max(stage.restarts)
    found.figures.append(Figure("longest return of a killed Router", longest, "s", at_most=READY_SECONDS))
    return found


@proves("However and whenever a unit dies, every accepted invocation has exactly one terminal once its Router is back.")
async def kill_at_points(stage: Stage, times: int, number: int | None) -> None:
    """At each stage so many times; `number` picks so many of the stages by the seed."""
    points = ROUTER if number is None else stage.run.random.sample(ROUTER, number)
    for turn in range(1, times + 1):
        for point in points:
            stage.run.say(f"SIGKILL at {point.name}, {turn} of {times}")
            before = len(stage.remote.hits())
            await (_kill_starting if point.name in STARTING else _kill_running)(stage, point.name)
            stage.found.hits[f"SIGKILL at {point.name}"] += len(stage.remote.hits()) - before
            await stage.restart_router()
        await stage.require_sound(f"killed at each stage, round {turn}")


async def _kill_running(stage: Stage, point: str) -> None:
    await stage.remote.arm(Armed(point, Action.KILL))
    calls = [asyncio.create_task(stage.call("answers")) for _ in range(2)]
    calls.append(asyncio.create_task(stage.call("streams", stream=True)))
    if point in _LEAVING:
        leaving = asyncio.create_task(stage.leave_working())
        await asyncio.wait({leaving})
        leaving.exception()  # a Router that dies early keeps the Task from being probed
    await _died(stage)
    await asyncio.gather(*calls)


async def _kill_starting(stage: Stage, point: str) -> None:
    """Dies with work open; its next life dies while it closes the epoch before it."""
    router, calls = stage.made.router, await stage.working()
    await router.kill()
    await asyncio.gather(*calls)
    usual, router.options = router.options, (*router.options, "--failpoint", f"{point}=kill")
    await router.start()
    await _died(stage)
    router.options = usual


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
    """SIGSTOP under load, a successor of the same id, SIGCONT."""
    for number in range(times):
        stage.run.say(f"a frozen Router and its successor, {number + 1} of {times}")
        calls = [asyncio.create_task(stage.call("streams", stream=True)) for _ in range(2)]
        calls += await stage.working()
        stage.made.router.send(signal.SIGSTOP)
        async with stage.made.successor() as successor:
            # The lock of the id is free only once the server has ended the session of the frozen one.
            stage.restarts.append(await successor.restart() - SILENT_SECONDS)
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


async def end_units(stage: Stage, times: int) -> None:
    plane, router = stage.made.control_plane, stage.made.router
    for number in range(times):
        for unit, how in ((plane, signal.SIGKILL), (plane, signal.SIGTERM), (router, signal.SIGTERM)):
            stage.run.say(f"{how.name} of the {unit.name} under load, {number + 1} of {times}")
            await _end(stage, unit, how)
    await stage.require_sound("units that ended")


async def _end(stage: Stage, unit: Replica, how: signal.Signals) -> None:
    """In an orderly stop what runs ends well, and what is new is told to come back."""
    async with stage.traffic(Load(json=4, streams=3, pause=0.02)) as going:
        await going.succeeds(5)
        sent_at = time.time()
        if how is signal.SIGKILL:
            stage.gateway_killed.append(sent_at)
        unit.send(how)
        code = await unit.ended(40)
        if unit is stage.made.router:
            reply = await stage.made.read("/invocations")
            down = OutageAnswer("a list while the Router is down", reply.status, reply.body)
            stage.found.require(not down.pretends, f"{down.what}: {down.status}")
        await unit.restart()
        name = f"first success after the return of the {unit.name} from {how.name}"
        stage.found.figures.append(Figure(name, await going.succeeds(15), "s", at_most=8.0))
    stage.found.hits[f"{how.name} of the {unit.name} under load"] += 1
    if how is signal.SIGTERM:
        stage.found.require(code == 0, f"a stopped {unit.name} ended with {code}")
        before = [one for one in going.results if one.began < sent_at and one.status is not None]
        cut = [one for one in before if not one.complete or (one.events and one.outcome is None)]
        stage.found.require(not cut, f"{len(cut)} calls were cut off by an orderly stop of the {unit.name}")


AREA = Area(
    "processes",
    "Our processes",
    run,
    (kill_at_points, Stage.require_sound, zombie, many_open_rows, wrong_settings, freeze),
)
