"""One platform for all that is done to its processes, and units that come back with much open or started wrongly."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from aop.ledger.write.epochs import MAX_CLOSED_AT_ONCE
from proof.area import Figure, Findings, Run, proves
from proof.caller import Leaving
from proof.gathering import Seen, problems_of
from proof.record import CallResult
from proof.switchboard import Remote
from proof.traffic import Load, Traffic, by_mode, traffic
from proof.world import Plan, World, world_of
from tests.ledger.writing import an_acceptance, writing
from tests.support.agent import a_message, a_task, chosen, data, input_of, method_of
from tests.support.canaries import INPUT_CANARY
from tests.support.peers import Behaviour, Received
from tests.support.replicas import Replica
from tests.support.settings import principals
from tests.support.streaming_agent import piece, status, streamed, task
from tests.support.waiting import becomes_true

READY_SECONDS = 5.0
OPEN_ROWS = (MAX_CLOSED_AT_ONCE - 1, MAX_CLOSED_AT_ONCE, MAX_CLOSED_AT_ONCE + 1, 5 * MAX_CLOSED_AT_ONCE // 2)
"""Around the number of Invocations that are closed at once, and well beyond it."""


@dataclass
class Stage:
    run: Run
    made: World
    found: Findings
    results: list[CallResult] = field(default_factory=list)
    restarts: list[float] = field(default_factory=list)
    gateway_killed: list[float] = field(default_factory=list)

    @proves("No terminal is made up: what callers were told is what the Ledger holds.")
    async def require_sound(self, what: str, *, router_lost: bool = True) -> None:
        """All invariants, over everything that has happened so far."""
        seen = Seen(self.results, gateway_killed=self.gateway_killed, router_lost=router_lost)
        problems = await problems_of(self.made, seen)
        self.found.broken += [f"{what}: {problem}" for problem in problems]

    async def restart_router(self) -> None:
        self.restarts.append(await self.made.router.restart())

    async def call(self, kind: str, *, stream: bool = False) -> CallResult:
        """The Agent does what `kind` says."""
        self.results.append(await self.made.call({"kind": kind, "secret": INPUT_CANARY}, stream=stream))
        return self.results[-1]

    @property
    def remote(self) -> Remote:
        return self.made.remote(self.made.router)

    async def working(self) -> list["asyncio.Task[CallResult]"]:
        """Calls whose Agents work on their Tasks without end."""
        calls = [asyncio.create_task(self.call("works")) for _ in range(3)]
        await self.made.agent.arrival("tasks/get", len(self.made.agent.calls("tasks/get")) + len(calls))
        return calls

    async def leave_working(self) -> None:
        """A caller that goes away while its Agent works on a Task."""
        probes = len(self.made.agent.calls("tasks/get"))
        async with self.made.asking({"kind": "works"}) as caller:
            await self.made.agent.arrival("tasks/get", probes + 1)
            caller.leave(Leaving.FIN)
        self.results.append(caller.result())

    @asynccontextmanager
    async def traffic(self, load: Load) -> AsyncIterator[Traffic]:
        async with traffic(self.made, load) as going:
            yield going
        self.results += going.results


def as_ordered() -> Behaviour:
    """What the Agent does is in the input: it answers, works without end, or streams for half a second."""
    chunks = [step for number in range(4) for step in (0.12, piece(number, number, 4))]
    slow = streamed(task(), *chunks, status("completed"))
    works, answers = a_task("working"), a_message(data({"done": True}))

    def by_input(received: Received) -> Behaviour:
        working = method_of(received) == "tasks/get" or b'"works"' in input_of(received)
        return works if working else answers

    return by_mode(chosen(by_input), slow)


@asynccontextmanager
async def staged(run: Run, found: Findings) -> AsyncIterator[Stage]:
    async with world_of(run, Plan(failpoints=True)) as made:
        made.agent.usual = (as_ordered(),)
        yield Stage(run, made, found)


@dataclass(frozen=True)
class Mistake:
    """`ends` when the unit must refuse to start, and name the setting; else it starts and nothing is accepted."""

    setting: str
    value: str
    ends: bool = False


_TOKEN = "a-token-nobody-knows"  # it is wrong on purpose
_CALLERS = principals("control-plane", _TOKEN)
_WRONG_PASSWORD = "not-the-password"
MISTAKES: Mapping[str, Mistake] = {
    "a signing key that is none": Mistake(
        "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL", "c2hvcnQ", ends=True
    ),
    "a blank id": Mistake("PLATFORM_ROUTER_ID", " ", ends=True),
    "a password that is wrong": Mistake("PLATFORM_ROUTER_DATABASE_URL", _WRONG_PASSWORD, ends=True),
    "another token for the Control Plane": Mistake("PLATFORM_CONTROL_PLANE_SERVICE_TOKEN", _TOKEN),
    "another token for its callers": Mistake("PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON", _CALLERS),
    "another token for the Router": Mistake("PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", _TOKEN),
    "a Control Plane's password that is wrong": Mistake("PLATFORM_DATABASE_URL", _WRONG_PASSWORD, ends=True),
    "a destination that is no origin": Mistake("PLATFORM_ROUTER_INTERNAL_ORIGIN", "http://127.0.0.1:1/path", ends=True),
}


@proves("A Router that died with 2,500 invocations running is ready again within 5 s, and all of them have ended.")
async def many_open_rows(stage: Stage, size: int) -> None:
    """A Router that died with so many invocations running is ready again in time, and all of them have ended."""
    stage.run.say(f"a return with {size} invocations open")
    await stage.made.router.kill()
    async with writing(stage.made.stores.router, router_id="router-1") as written:
        await asyncio.gather(*(written.journal.accept(an_acceptance()) for _ in range(size)))
    still_open = [row for row in await stage.made.ledger.recorded() if not row.terminals]
    stage.found.hits["invocations left open by a Router that died"] += len(still_open)
    seconds = await stage.made.router.restart()
    stage.found.figures.append(Figure(f"ready again with {size} open rows", seconds, "s", at_most=READY_SECONDS))
    await stage.require_sound("a return with many open rows")


@proves("A unit started with a wrong key or setting ends and names the setting, or accepts nothing until it is fixed.")
async def wrong_settings(stage: Stage, number: int | None) -> None:
    """Never a start that half works: an exit that names the setting, or nothing accepted until it is fixed."""
    names = list(MISTAKES) if number is None else stage.run.random.sample(list(MISTAKES), number)
    for name in names:
        stage.run.say(f"started wrongly: {name}")
        await _mistaken(stage, name, MISTAKES[name])
    await stage.require_sound("units that were started wrongly")


async def _mistaken(stage: Stage, name: str, mistake: Mistake) -> None:
    unit = next(unit for unit in stage.made.units if mistake.setting in unit.settings)
    await unit.kill()
    right, said = unit.settings[mistake.setting], len(unit.said)
    wrong = right.replace("test-password", _WRONG_PASSWORD) if mistake.value == _WRONG_PASSWORD else mistake.value
    unit.settings[mistake.setting] = wrong
    try:
        await (_ends if mistake.ends else _accepts_nothing)(stage, unit, name)
    finally:
        unit.settings[mistake.setting] = right
        await unit.kill()
        await unit.restart()
        await stage.made.router.ready()
    log = unit.said[said:]
    if mistake.ends:
        stage.found.require(mistake.setting in log, f"{name}: {mistake.setting} was not named")
    stage.found.require(not wrong.strip() or wrong not in log, f"{name}: the value was said")
    stage.found.hits[f"started wrongly: {name}"] += 1


async def _ends(stage: Stage, unit: Replica, name: str) -> None:
    await unit.start()
    try:
        stage.found.require(await unit.ended(10) not in {0, -9}, f"{name}: ended as if it had worked")
    except TimeoutError:
        stage.found.broken.append(f"{name}: it runs")


async def _accepts_nothing(stage: Stage, unit: Replica, name: str) -> None:
    async def listens() -> bool:
        with suppress(Exception):
            return (await unit.unit.get("/livez")).status == 200
        return False

    recorded = len(await stage.made.ledger.recorded())
    await unit.start()
    await becomes_true(listens, 15)
    result = await stage.call("answers")
    stage.found.require(
        (result.status, result.code) == (503, "DEPENDENCY_ERROR"), f"{name}: {result.status} {result.code}"
    )
    stage.found.require(result.invocation_id is None, f"{name}: an id before acceptance")
    stage.found.require(len(await stage.made.ledger.recorded()) == recorded, f"{name}: something was recorded")
