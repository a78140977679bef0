"""Area `agents`: hostile Agents in both modes, side by side with honest ones, and what they cost the Router."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proof.agents.fronted import weigh_front
from proof.area import Area, Figure, Findings, Run, proves
from proof.gathering import Seen, descriptors, problems_of
from proof.gauges import memory_rise
from proof.record import CallResult
from proof.traffic import Load, Traffic, answering, traffic
from proof.world import ALLOWED, Plan, World, world_of
from tests.support.agent import input_of, invocation_of, method_of, scripted_agent
from tests.support.canaries import INPUT_CANARY, OUTPUT_CANARY
from tests.support.cards import some_limits
from tests.support.hostile_agents import FORGED, Hostile, hasty_ms, hostile_behaviours
from tests.support.loop import SILENT_HOST, open_skill
from tests.support.nested import ANY_PORT
from tests.support.peers import Behaviour, Received

_MAX_RISE_MIB = 20.0
_ROOMY = 64 * 1024 * 1024
"""So that the limits that hold are the Router's own."""
_SKILLS = [open_skill(outputSchema={"type": "object"})]
_PLAN = Plan(
    control_plane={ALLOWED: json.dumps([*json.loads(ANY_PORT), SILENT_HOST])},
    router={ALLOWED: json.dumps([*json.loads(ANY_PORT), SILENT_HOST])},
    card={"skills": _SKILLS, "limits": some_limits(maxOutputBytes=_ROOMY)},
)


@dataclass
class HostileAgent:
    """What a call asks for in its input is what it gets; a call that asks for nothing gets an honest answer."""

    hostile: Mapping[str, Hostile]
    honest: Behaviour
    _calls: dict[str, Hostile] = field(default_factory=dict)

    async def __call__(self, received: Received) -> None:
        await self._chosen(received)(received)

    def _chosen(self, received: Received) -> Behaviour:
        if method_of(received) == "tasks/get":
            return self._calls[invocation_of(received)].probed
        name = json.loads(input_of(received)).get("behaviour")
        if name is None:
            return self.honest
        hostile = self._calls[invocation_of(received)] = self.hostile[name]
        return (method_of(received) == "message/stream" and hostile.stream) or hostile.json


@dataclass(frozen=True)
class Meeting:
    """One call to an Agent that does as described."""

    hostile: Hostile
    stream: bool
    result: CallResult

    def __str__(self) -> str:
        return f"{self.hostile.name}, {'stream' if self.stream else 'JSON'}"

    @proves(
        "Whatever an Agent does, in JSON and stream mode, its Invocation ends exactly as the specification says: with"
        " this code and no other.",
        "The Agent gets one message, the cancels it must get and no more, and no message a second time.",
    )
    def judge(self, found: Findings, sent: Sequence[str]) -> None:
        told, code = self.result, self.hostile.code
        outcome = {None: "succeeded", "TIMEOUT": "timed_out"}.get(code, "failed")
        right = (told.outcome, told.code) == (outcome, code)
        found.require(right, f"{self}: told {told.outcome}/{told.code} instead of {outcome}/{code}")
        messages = sent.count("message/stream" if self.stream else "message/send")
        found.require(messages == (not self.hostile.absent), f"{self}: the Agent got {messages} messages")
        cancels, due = sent.count("tasks/cancel"), self.hostile.cancels[self.stream]
        found.require(cancels == due, f"{self}: {cancels} cancels instead of {due}")
        error = json.dumps(told.events[-1]).encode() if told.events else told.body
        unsaid = code is None or OUTPUT_CANARY.encode() not in error
        found.require(unsaid, f"{self}: the Agent's own words reached the caller")
        found.hits[self.hostile.name] += 1


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
        "Answers that try to fill the Router's memory (heads, bodies and values without end, compression bombs, deep"
        " nesting) make it grow by at most 20 MiB."
    )
    async def weigh(self, hostile: Hostile, *, stream: bool) -> None:
        """Alone, so that the peak of the Router's memory is its doing."""
        async with memory_rise(self.made.router.pid) as rise:
            await self.meet(hostile, stream=stream)
        name = str(self.held[-1])
        self.rises[name] = max(self.rises.get(name, 0.0), rise.mib)

    def judge(self, found: Findings) -> None:
        for one in self.held:
            one.judge(found, self.made.agent.methods(one.result.invocation_id or ""))
        rise, greatest = max((rise, name) for name, rise in self.rises.items())
        name = f"greatest rise of the Router's memory ({greatest})"
        found.figures.append(Figure(name, rise, "MiB", at_most=_MAX_RISE_MIB))


async def run(run: Run) -> Findings:
    found, rounds = Findings(), run.pick(1, 20)
    async with world_of(run, _PLAN) as made, scripted_agent() as elsewhere:
        hostile = hostile_behaviours(elsewhere.url)
        made.agent.usual = (HostileAgent({each.name: each for each in hostile}, answering(1)),)
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
        encounters.judge(found)
        _require_unharmed(found, beside, results)
        await weigh_front(found, run.folder / "front", [each for each in hostile if each.heavy])
        found.require(not elsewhere.received, f"the redirect was followed {len(elsewhere.received)} times")
    found.figures.append(Figure("behaviours", len(found.hits), at_least=16))
    return found


@proves("Honest callers beside them notice nothing, and the Agent's own words reach nobody.")
def _require_unharmed(found: Findings, honest: Traffic, results: Sequence[CallResult]) -> None:
    found.require(not any(FORGED.encode() in one.body for one in results), "a forged answer was delivered")
    found.require(bool(honest.results) and not honest.failures, f"{len(honest.failures)} honest calls failed")
    found.figures.append(Figure("an honest call beside them, 99th percentile", honest.p99, "s", at_most=1.0))


async def _cards(made: World) -> dict[str, str]:
    """Beside the usual one: of an Agent that has little time, and of one that is not there."""
    hasty, _, _ = await made.first.installed(
        skills=_SKILLS, limits=some_limits(timeoutMs=hasty_ms(), maxOutputBytes=_ROOMY)
    )
    protocol = {**made.first.card["protocol"], "endpoint": f"http://{SILENT_HOST}:9/a2a"}
    absent, _, _ = await made.first.installed(protocol=protocol, skills=_SKILLS)
    return {"usual": made.first.card["agentId"], "hasty": hasty["agentId"], "absent": absent["agentId"]}


AREA = Area("agents", "Agents", run, (Meeting.judge, Encounters.weigh, weigh_front, _require_unharmed), alone=True)
