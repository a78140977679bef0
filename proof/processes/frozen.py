"""One worker of each unit stopped while callers go on: it is replaced, and nobody waits for longer than that."""

import asyncio
import os
import signal
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from proof.area import Figure, Findings, Run, proves
from proof.caller import calling
from proof.callers.door import door_before, door_request
from proof.gathering import Seen, problems_of
from proof.traffic import Load, answering, traffic
from proof.world import Plan, World, world_of
from tests.support.processes import children
from tests.support.replicas import Replica
from tests.support.waiting import background, becomes_true

_WORKERS = ("--workers", "3")
_REPLACED_SECONDS = 15.0
_CALLERS = 8


@dataclass
class DoorCalls:
    """Callers of a door, one call after the other; each call's seconds, and whether it was answered."""

    made: World
    door: Replica
    seconds: list[float] = field(default_factory=list)
    answered: int = 0

    async def go_on(self) -> None:
        request = door_request(self.made, self.door, {}, stream=False)
        while True:
            begun = time.monotonic()
            async with calling(self.door.unit.port) as caller:
                await caller.send(request)
                body = await caller.whole(40)
            self.seconds.append(time.monotonic() - begun)
            self.answered += body is not None and b'"result"' in body
            await asyncio.sleep(0.05)


async def frozen_workers(run: Run, found: Findings) -> None:
    plan = Plan(launched=lambda unit: replace(unit, options=_WORKERS))
    async with world_of(run, plan) as made, door_before(made, *_WORKERS) as door:
        made.agent.usual = (answering(),)
        units = [made.control_plane, made.router, door]
        for unit in units if run.full else [run.random.choice(units)]:
            run.say(f"a frozen worker of the {unit.name}")
            await freeze(found, made, door, unit)


@proves("A worker of any unit that is frozen is replaced within 15 s, nobody waits longer, and every invocation ends.")
async def freeze(found: Findings, made: World, door: Replica, unit: Replica) -> None:
    calls = DoorCalls(made, door)
    async with AsyncExitStack() as going:
        load = await going.enter_async_context(traffic(made, Load(json=6, streams=_CALLERS - 6)))
        for _ in range(_CALLERS):
            await going.enter_async_context(background(calls.go_on()))
        await load.succeeds(30)
        frozen_at = time.time()
        await _replaced(found, unit)
        await load.succeeds(30)
        answered = calls.answered

        async def goes_on() -> bool:
            return calls.answered > answered + _CALLERS

        await becomes_true(goes_on)
    longest = max([*calls.seconds, *(result.seconds for result in load.results)])
    name = f"longest call beside a frozen worker of the {unit.name}"
    found.figures.append(Figure(name, longest, "s", at_most=_REPLACED_SECONDS))
    found.broken += await problems_of(made, Seen(load.results, gateway_killed=[frozen_at], router_lost=True))


async def _replaced(found: Findings, unit: Replica) -> None:
    before = children(unit.pid)
    os.kill(before[0], signal.SIGSTOP)
    begun = time.monotonic()

    async def is_replaced() -> bool:
        now = children(unit.pid)
        return len(now) == len(before) and before[0] not in now and await unit.is_ready()

    await becomes_true(is_replaced)
    seconds = time.monotonic() - begun
    name = f"a frozen worker of the {unit.name}"
    found.figures.append(Figure(f"{name} is replaced", seconds, "s", at_most=_REPLACED_SECONDS))
    found.hits[name] += 1
