"""Two of each unit whose clocks can be set, around an Agent that checks credentials by its own clock."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from proof.area import Findings, Run
from proof.caller import calling, request
from proof.clocks.agent import CheckingAgent
from proof.clocks.shifted import ClockFile
from proof.gathering import INPUT_CANARY
from proof.record import Told
from proof.traffic import PATH, answering
from proof.world import Plan, World, world
from tests.support.replicas import Replica

HOUR = 3600.0


@dataclass
class Stage:
    run: Run
    made: World
    found: Findings
    agent: CheckingAgent
    clocks: Mapping[str, ClockFile]
    told: list[Told] = field(default_factory=list)

    def set(self, unit: Replica, ahead: float) -> None:
        """The clock of the unit, from its next look on."""
        self.clocks[unit.log.stem].ahead(ahead)
        self.found.hits[f"clock of {unit.name} {'set right' if ahead == 0 else 'set wrong'}"] += 1

    def set_right(self) -> None:
        for unit in self.made.units:
            self.set(unit, 0)
        self.agent.ahead, self.agent.after_issue, self.agent.before_expiry = 0.0, None, None

    async def call(self, *, stream: bool = False, side: int = 0, **members: object) -> Told:
        platform = self.made.sides[side]
        body = platform.request(json.dumps({"secret": INPUT_CANARY}).encode(), stream=stream, **members)
        async with calling(self.made.gateway_port(side)) as caller:
            await caller.send(request(PATH, body, platform.token, stream=stream))
            self.told.append(await caller.answer())
        return self.told[-1]


@asynccontextmanager
async def staged(run: Run, found: Findings) -> AsyncIterator[Stage]:
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    clocks: dict[str, ClockFile] = {}

    def launched(unit: Replica) -> Replica:
        clocks[unit.log.stem] = clock = ClockFile.made(unit.log.with_suffix(".clock"))
        return replace(unit, command=("-m", "proof.clocks.unit"), options=(str(clock.path),))

    async with world(stores, run.postgres.url(database), run.folder, Plan(pairs=2, launched=launched)) as made:
        agent = CheckingAgent(made.agent.origin, answering())
        made.agent.usual = (agent.meet,)
        yield Stage(run, made, found, agent, clocks)
    await run.postgres.drop(database)
