"""Area `agents`: hostile Agents in both modes, side by side with honest ones, and what they cost the Router."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proof.agents.behaviours import FORGED, Hostile, HostileAgent, hostile_behaviours
from proof.area import Area, Figure, Findings, Run, proves
from proof.gathering import Seen, descriptors, problems_of
from proof.gauges import memory_rise
from proof.plan import Plan
from proof.record import CallResult
from proof.traffic import Load, Traffic, by_mode, traffic
from proof.world import ALLOWED, INPUT_CANARY, OUTPUT_CANARY, World, world_of
from tests.support.accepting import accepting
from tests.support.agent import a_message, data
from tests.support.cards import some_limits
from tests.support.loop import SILENT_HOST, open_skill
from tests.support.nested import ANY_PORT
from tests.support.peers import Behaviour
from tests.support.streaming_agent import piece, status, streamed, task

_MAX_RISE_MIB = 20.0
_HASTY_MS = 1500
_ROOMY = 64 * 1024 * 1024
"""So that the limits that hold are the Router's own."""
_SKILLS = [open_skill(outputSchema={"type": "object"})]
_PLAN = Plan(
    control_plane={ALLOWED: json.dumps([*json.loads(ANY_PORT), SILENT_HOST])},
    router={ALLOWED: json.dumps([*json.loads(ANY_PORT), SILENT_HOST])},
    card={"skills": _SKILLS, "limits": some_limits(maxOutputBytes=_ROOMY)},
)


@dataclass(frozen=True)
class Meeting:
    """One call to an Agent that does as described."""

    hostile: Hostile
    stream: bool
    result: CallResult

    def __str__(self) -> str:
        return f"{self.hostile.name}, {'stream' if self.stream else 'JSON'}"

    @proves(
        "Whatever an Agent does, in JSON and stream mode, its invocation has the exact outcome of contract 11.7.",
        "The Agent gets one message, the cancels it must get and no more, and no message a second time.",
    )
    def problems(self, sent: list[str]) -> list[str]:
        met = self.hostile.met(stream=self.stream)
        outcome = {None: "succeeded", "TIMEOUT": "timed_out"}.get(met.code, "failed")
        method = "message/stream" if self.stream else "message/send"
        found = []
        if (self.result.outcome, self.result.code) != (outcome, met.code):
            found.append(f"{self}: told {self.result.outcome}/{self.result.code} instead of {outcome}/{met.code}")
        if sent.count(method) != (0 if self.hostile.absent else 1):
            found.append(f"{self}: the Agent got {sent.count(method)} messages")
        if sent.count("tasks/cancel") != met.cancels:
            found.append(f"{self}: {sent.count('tasks/cancel')} cancels instead of {met.cancels}")
        if self.result.code is not None and OUTPUT_CANARY.encode() in self._error:
            found.append(f"{self}: the Agent's own words reached the caller")
        return found

    @property
    def _error(self) -> bytes:
        return json.dumps(self.result.events[-1]).encode() if self.result.events else self.result.body


@dataclass
class Encounters:
    made: World
    agents: Mapping[str, str]
    """Which Agent has which kind of Card."""
    held: list[Meeting] = field(default_factory=list)
    rises: dict[str, float] = field(default_factory=dict)

    async def meet(self, hostile: Hostile, *, stream: bool) -> None:
        kind = "absent" if hostile.absent else "hasty" if hostile.hasty else "usual"
        content = {"behaviour": hostile.name, "secret": INPUT_CANARY}
        result = await self.made.call(content, stream=stream, agentId=self.agents[kind])
        self.held.append(Meeting(hostile, stream, result))

    @proves(
        "What is after the Router's memory (heads, bodies and values without end, compression bombs, deep"
        " nesting) makes it rise by at most 20 MiB."
    )
    async def weigh(self, hostile: Hostile, *, stream: bool) -> None:
        """Alone, so that the peak of the Router's memory is its doing."""
        async with memory_rise(self.made.router.pid) as rise:
            await self.meet(hostile, stream=stream)
        name = f"{hostile.name}, {'stream' if stream else 'JSON'}"
        self.rises[name] = max(self.rises.get(name, 0.0), rise.mib)

    def problems(self) -> list[str]:
        sent: dict[str, list[str]] = {}
        for received in self.made.agent.received:
            sent.setdefault(received.values("x-platform-invocation-id")[0], []).append(received.json["method"])
        return [problem for one in self.held for problem in one.problems(sent.get(one.result.invocation_id or "", []))]


async def run(run: Run) -> Findings:
    found, rounds = Findings(), run.pick(1, 20)
    async with world_of(run, _PLAN) as made, _elsewhere(found) as elsewhere:
        hostile = hostile_behaviours(elsewhere)
        made.agent.usual = (HostileAgent({each.name: each for each in hostile}, _honest()),)
        encounters = Encounters(made, await _cards(made))
        light = [each for each in hostile if not each.heavy]
        async with traffic(made, Load(json=len(light), streams=len(light))) as first:
            await asyncio.sleep(0.3)  # the pools of all units now hold what so many calls at once take
        before = descriptors(made)
        async with traffic(made, Load(json=2, streams=1, pause=0.02)) as beside:
            for number in range(1, rounds + 1):
                run.say(f"round {number} of {rounds}: {2 * len(hostile)} meetings")
                await asyncio.gather(*(encounters.meet(each, stream=mode) for each in light for mode in (False, True)))
        for _ in range(rounds):
            for each in hostile:
                for mode in (False, True) if each.heavy else ():
                    await encounters.weigh(each, stream=mode)
        results = [*first.results, *beside.results, *(one.result for one in encounters.held)]
        found.broken += await problems_of(made, Seen(results, before=before, counts=True))
        found.broken += encounters.problems()
        _require_unharmed(found, beside, results)
    for meeting in encounters.held:
        found.hits[meeting.hostile.name] += 1
    found.figures += _figures(encounters, beside)
    return found


@proves("Honest callers beside them notice nothing, and the Agent's own words reach nobody.")
def _require_unharmed(found: Findings, honest: Traffic, results: Sequence[CallResult]) -> None:
    found.require(not any(FORGED.encode() in one.body for one in results), "a forged answer was delivered")
    found.require(bool(honest.results) and not honest.failures, f"{len(honest.failures)} honest calls failed")


def _figures(encounters: Encounters, honest: Traffic) -> list[Figure]:
    rise, greatest = max((rise, name) for name, rise in encounters.rises.items())
    return [
        Figure("behaviours", len({one.hostile.name for one in encounters.held}), at_least=16),
        Figure("meetings", len(encounters.held)),
        Figure(f"greatest rise of the Router's memory ({greatest})", rise, "MiB", at_most=_MAX_RISE_MIB),
        Figure("honest calls beside them", len(honest.results)),
        Figure("an honest call beside them, 99th percentile", honest.p99, "s", at_most=1.0),
    ]


def _honest() -> Behaviour:
    value = {"secret": OUTPUT_CANARY}
    return by_mode(a_message(data(value)), streamed(task(), piece(value, 0, 1), status("completed")))


async def _cards(made: World) -> dict[str, str]:
    """Beside the usual one: of an Agent that has little time, and of one that is not there."""
    hasty, _, _ = await made.first.installed(
        skills=_SKILLS, limits=some_limits(timeoutMs=_HASTY_MS, maxOutputBytes=_ROOMY)
    )
    protocol = {**made.first.card["protocol"], "endpoint": f"http://{SILENT_HOST}:9/a2a"}
    absent, _, _ = await made.first.installed(protocol=protocol, skills=_SKILLS)
    return {"usual": made.first.card["agentId"], "hasty": hasty["agentId"], "absent": absent["agentId"]}


@asynccontextmanager
async def _elsewhere(found: Findings) -> AsyncIterator[str]:
    """A place to which nobody may come."""
    visits = 0

    async def count(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        nonlocal visits
        visits += 1

    async with accepting(count) as port:
        yield f"http://127.0.0.1:{port}/a2a"
    found.require(visits == 0, f"the redirect was followed {visits} times")


AREA = Area("agents", "Agents", run, (Meeting.problems, Encounters.weigh, _require_unharmed), alone=True)
