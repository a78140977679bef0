"""Area `io-calls`: each I/O call of an invocation, in both units and both modes, fails in each of six ways."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from proof.area import Area, Figure, Findings, Run, proves
from proof.caller import Leaving
from proof.failpoints import IO
from proof.gathering import Seen, problems_of
from proof.record import CallResult
from proof.switchboard import Action, Armed
from proof.traffic import answering
from proof.world import Plan, World, world_of
from tests.support.cards import some_limits
from tests.support.replicas import Replica

MODES = ("JSON", "JSON, Card not cached", "stream")
WAYS: dict[str, Action] = {
    "raise": Action.RAISE,
    "do then raise": Action.DO_THEN_RAISE,
    "hang": Action.HANG,
    "slow": Action.SLOW,
    "cancel": Action.HOLD,
    "kill": Action.KILL,
}
_DEADLINE_MS = 1500
_MAX_TRIES = 5
_PLAN = Plan(
    failpoints=True,
    control_plane={"PLATFORM_INVOCATION_DEADLINE_MS": str(_DEADLINE_MS)},
    router={
        "PLATFORM_INVOCATION_DEADLINE_MS": str(_DEADLINE_MS),
        "PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "600",
        "PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS": "800",
    },
    card={"limits": some_limits(timeoutMs=_DEADLINE_MS)},
)


@dataclass(frozen=True)
class Cell:
    unit: str
    mode: str
    call: str
    number: int
    """The how-manieth of this kind of call, from 1."""
    way: str

    def __str__(self) -> str:
        return f"{self.unit}, {self.mode}, {self.call} {self.number}: {self.way}"

    @property
    def is_long(self) -> bool:
        """The Control Plane waits for the Router or its store for as long as the contract says."""
        return self.unit == "control-plane" and self.way == "hang"


@dataclass
class Table:
    made: World
    found: Findings
    results: list[CallResult] = field(default_factory=list)
    slowest: float = 0.0

    def unit(self, name: str) -> Replica:
        return self.made.router if name == "router" else self.made.control_plane

    async def cells(self) -> list[Cell]:
        """From what undisturbed invocations of each mode pass: how a stream is cut into pieces varies a little."""
        cells: list[Cell] = []
        for mode in MODES:
            for name in ("router", "control-plane"):
                passed = [await self._passed(name, mode) for _ in range(2)]
                surely = passed[0] & passed[1]
                cells += [
                    Cell(name, mode, call, number, way)
                    for call, count in surely.items()
                    for number in range(1, count + 1)
                    for way in WAYS
                ]
        return cells

    async def _passed(self, name: str, mode: str) -> Counter[str]:
        """How many calls of each kind a warm unit makes in one invocation."""
        await self._call("stream" if mode == "stream" else "JSON", str(self.made.first.card["agentId"]))
        agent_id, remote = await self._agent(mode), self.made.remote(self.unit(name))
        await remote.arm(None)
        await self._call(mode, agent_id)
        kinds = {point.name for point in IO}
        return Counter(point for point in await remote.passings() if point in kinds)

    @proves(
        "Each call of an invocation that leaves a process is made to fail in six ways: it raises, it works"
        " and then raises, it hangs, it is slow, its caller leaves meanwhile, its process is killed."
    )
    async def provoke(self, cell: Cell) -> None:
        """How many pieces a stream travels in varies: a call that did not come by is waited for in a further one.

        A busy machine joins the last pieces in every try. Then the piece before it is disturbed in the same way.
        """
        for number in range(cell.number, 0, -1):
            for _ in range(_MAX_TRIES):
                if await self._strikes(replace(cell, number=number)):
                    return
        self.found.broken.append(f"never came by: {cell}")

    @proves("For each of these calls and each way to fail all invariants hold, and the next call succeeds.")
    async def _strikes(self, cell: Cell) -> bool:
        """One cell, with a call before it that must succeed: the unit has recovered from the one before."""
        agent_id, unit = await self._agent(cell.mode), self.unit(cell.unit)
        warm = await self._call("stream" if cell.mode == "stream" else "JSON", self.made.first.card["agentId"])
        self.found.require(warm.outcome == "succeeded", f"before {cell}: {warm.status} {warm.code}")
        remote = self.made.remote(unit)
        before, started = len(remote.hits()), time.monotonic()
        await remote.arm(Armed(cell.call, WAYS[cell.way], cell.number))
        if cell.way == "cancel":
            await self._leave_at_hit(cell, agent_id)
        else:
            await self._call(cell.mode, agent_id)
        self.slowest = max(self.slowest, 0.0 if cell.is_long else time.monotonic() - started)
        hits = len(remote.hits()) - before
        self.found.hits[f"{cell.unit}: {cell.way}"] += hits
        if cell.way == "kill" and hits:
            await unit.ended()
            await unit.restart()
            await self.made.router.ready()
        await remote.arm(None)
        return hits > 0

    async def _agent(self, mode: str) -> str:
        if mode != "JSON, Card not cached":
            return str(self.made.first.card["agentId"])
        card, _, _ = await self.made.first.installed(limits=some_limits(timeoutMs=_DEADLINE_MS))
        return str(card["agentId"])

    async def _call(self, mode: str, agent_id: str) -> CallResult:
        self.results.append(await self.made.call(stream=mode == "stream", seconds=25, agentId=agent_id))
        return self.results[-1]

    async def _leave_at_hit(self, cell: Cell, agent_id: str) -> None:
        remote = self.made.remote(self.unit(cell.unit))
        async with self.made.asking(stream=cell.mode == "stream", agentId=agent_id) as caller:
            with suppress(TimeoutError):
                await remote.hit(4)
            caller.leave(Leaving.FIN)
            self.results.append(caller.result())
            await asyncio.sleep(0.1)
            await remote.release()


def _chosen(run: Run, cells: Sequence[Cell], number: int) -> list[Cell]:
    """In a quick run a few of each way, none of the long ones."""
    if run.full:
        return list(cells)
    short = [cell for cell in cells if not cell.is_long]
    ways = {way: [cell for cell in short if cell.way == way] for way in WAYS}
    chance = run.random
    return [cell for of_way in ways.values() for cell in chance.sample(of_way, min(number, len(of_way)))]


async def run(run: Run) -> Findings:
    found = Findings()
    async with world_of(run, _PLAN) as made:
        # For long enough that progress is recorded.
        made.agent.usual = (answering(3, 0.13),)
        table = Table(made, found)
        cells = await table.cells()
        chosen_cells = _chosen(run, cells, 2)
        for number, cell in enumerate(chosen_cells, 1):
            run.say(f"{number} of {len(chosen_cells)}: {cell}")
            await table.provoke(cell)
        found.broken += await problems_of(made, Seen(table.results, router_lost=True))
    name = "longest wait of a caller, but for a Control Plane that hangs"
    found.figures.append(Figure(name, table.slowest, "s", at_most=6.0))
    return found


AREA = Area("io-calls", "Every I/O call", run, (Table.provoke, Table._strikes))
