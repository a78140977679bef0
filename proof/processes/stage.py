"""One platform for all that is done to its processes: what its Agent does, and what was seen so far."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proof.area import Findings, Run
from proof.caller import Leaving, calling, request
from proof.gathering import INPUT_CANARY, Seen, problems_of
from proof.record import Told
from proof.traffic import PATH, Traffic
from proof.world import Plan, World, world
from tests.support.agent import a_message, a_task, chosen, data, input_of, method_of
from tests.support.peers import Behaviour, Received
from tests.support.streaming_agent import piece, status, streamed, task

READY_SECONDS = 5.0


@dataclass
class Stage:
    run: Run
    made: World
    found: Findings
    told: list[Told] = field(default_factory=list)
    restarts: list[float] = field(default_factory=list)
    gateway_killed: list[float] = field(default_factory=list)

    async def require_sound(self, what: str, *, router_lost: bool = True) -> None:
        """All invariants, over everything that has happened so far."""
        seen = Seen(self.told, gateway_killed=self.gateway_killed, router_lost=router_lost)
        problems = await problems_of(self.made, seen)
        self.found.broken += [f"{what}: {problem}" for problem in problems]

    async def restart_router(self) -> None:
        self.restarts.append(await self.made.router.restart())

    async def call(self, kind: str, *, stream: bool = False) -> Told:
        """The Agent does what `kind` says."""
        body = self.made.first.request(json.dumps({"kind": kind, "secret": INPUT_CANARY}).encode(), stream=stream)
        try:
            async with calling(self.made.gateway_port()) as caller:
                await caller.send(request(PATH, body, self.made.first.token, stream=stream))
                self.told.append(await caller.answer())
        except OSError:
            self.told.append(Told(time.time(), time.time()))
        return self.told[-1]

    async def leave_working(self) -> None:
        """A caller that goes away while its Agent works on a Task."""
        looks = len(self.made.agent.calls("tasks/get"))
        body = self.made.first.request(json.dumps({"kind": "works"}).encode())
        async with calling(self.made.gateway_port()) as caller:
            await caller.send(request(PATH, body, self.made.first.token, stream=False))
            await self.made.agent.arrival("tasks/get", looks + 1)
            caller.leave(Leaving.FIN)
        self.told.append(caller.told())

    def adopt(self, going: Traffic) -> None:
        self.told += going.told


def as_asked() -> Behaviour:
    """What the Agent does is in the input: it answers, works without end, or streams for half a second."""
    chunks = [step for number in range(4) for step in (0.12, piece(number, number, 4))]
    slow = streamed(task(), *chunks, status("completed"))
    kinds = {b"works": a_task("working"), b"answers": a_message(data({"done": True}))}

    def by_input(received: Received) -> Behaviour:
        if method_of(received) == "message/stream":
            return slow
        if method_of(received) == "tasks/get":
            return kinds[b"works"]
        return kinds[b"works"] if b'"works"' in input_of(received) else kinds[b"answers"]

    return chosen(by_input)


@asynccontextmanager
async def staged(run: Run, found: Findings) -> AsyncIterator[Stage]:
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    async with world(stores, run.postgres.url(database), run.folder, Plan(failpoints=True)) as made:
        made.agent.usual = (as_asked(),)
        yield Stage(run, made, found)
    await run.postgres.drop(database)
