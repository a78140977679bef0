"""Races: acts that meet over one object have one order that explains every answer, and the last word stays the last."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from proof.area import Area, Findings, Run, proves
from proof.races.ring import CONTESTS, IN_USE, Contest, Ring, acts_on, expected, outcome_of
from proof.traffic import LONG_CARD, LONG_DEADLINE
from proof.world import Plan, World, world_of
from tests.ledger.writing import breaches
from tests.support.lifecycle_model import Outcome
from tests.support.nested import running_parent

AT_ONCE = 4
CALLERS = 6
WORDS = ("revoke", "suspend", "disable Card", "disable", "delete")
"""Each act that ends the use of an Agent."""
_MAX_TRIES = 200
"""For acts to meet and every possible answer to be given; beyond that something is wrong with the meeting."""


async def prove(run: Run) -> Findings:
    found = Findings()
    plan = Plan(pairs=2, control_plane=LONG_DEADLINE, router=LONG_DEADLINE, card=LONG_CARD)
    async with world_of(run, plan) as made:
        ring = Ring.of(made.sides, run.random)
        for contest in CONTESTS:
            await _rounds(ring, contest, run.pick(10, 1000), found)
            run.say(f"{contest.name}: done")
        for act in WORDS:
            await hear(made, ring, act, run.pick(20, 2000), found)
            run.say(f"calls after {act}: done")
        found.require(not await breaches(made.stores.router), "the Ledger breaks its own rules")
    return found


async def _rounds(ring: Ring, contest: Contest, number: int, found: Findings) -> None:
    """Several side by side, each over its own object."""
    needed = [f"acts that met: {contest.name}", *(f"{contest.name}: {answers}" for answers in contest.possible)]
    found.hits.update(dict.fromkeys(needed, 0))
    rounds = _until_seen(needed, number, found)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(_hold(ring, contest, rounds, found))


def _until_seen(needed: Sequence[str], number: int, found: Findings) -> Iterator[int]:
    """So many rounds, and more if in none of them the acts met, or an answer that is possible was not given."""
    for at in range(max(number, _MAX_TRIES)):
        if at >= number and all(found.hits[name] for name in needed):
            return
        yield at


@proves(
    "Acts that meet over one object through two Control Planes have one winner: some order of them explains"
    " every answer, the loser's exact code and the state everybody reads afterwards."
)
async def _hold(ring: Ring, contest: Contest, rounds: Iterator[int], found: Findings) -> None:
    for number in rounds:
        meeting = await ring.hold(contest, number)
        found.hits[f"acts that met: {contest.name}"] += meeting.met
        found.hits[f"{contest.name}: {meeting.answers}"] += 1
        explained = bool(meeting.models)
        found.require(explained, f"{contest.name}: {meeting.answers} and what is read then, which no order explains")


@dataclass
class Crowd:
    """Counts answers; a call is `later` when it was sent after the act had been answered."""

    number: int
    said: asyncio.Event = field(default_factory=asyncio.Event)
    before: Counter[Outcome] = field(default_factory=Counter)
    later: Counter[Outcome] = field(default_factory=Counter)

    async def call(self, once: Callable[[], Awaitable[Outcome]]) -> None:
        while self.later.total() < self.number:
            counted = self.later if self.said.is_set() else self.before
            counted[await once()] += 1


@proves(
    "Once a revoke, a suspend, a disable or an uninstall was answered, no later call is accepted, neither"
    " through a Gateway nor from within a running Invocation; what was accepted before is what the Ledger"
    " holds."
)
async def hear(made: World, ring: Ring, act: str, number: int, found: Findings) -> None:
    """One Agent, in full use through both Gateways and from within an Invocation, is taken away."""
    agent = f"word:{act.replace(' ', '-').lower()}"
    on, crowd = acts_on(agent), Crowd(number)
    model = await ring.prepared(IN_USE, on)
    _, word = expected(model, on[act], on["invoke"])
    async with running_parent(ring.platform) as parent, asyncio.TaskGroup() as tasks:

        async def nested() -> Outcome:
            return outcome_of(await parent.call(agent))

        for _ in range(CALLERS):
            tasks.create_task(crowd.call(lambda: ring.send(on["invoke"])))
        tasks.create_task(crowd.call(nested))
        while crowd.before[200, ""] < 3 * CALLERS:  # noqa: ASYNC110  in full use first; the callers tell nobody
            await asyncio.sleep(0.01)
        status, _ = await ring.send(on[act])
        crowd.said.set()
    found.require(status == 200, f"{act}: {status}")
    found.require(set(crowd.before) <= {(200, ""), word}, f"around {act}: {dict(crowd.before)}")
    found.require(set(crowd.later) == {word}, f"after {act} was answered: {dict(crowd.later)}")
    accepted = crowd.before[200, ""] + crowd.later[200, ""]
    query = "SELECT invocation_id FROM ledger.invocation WHERE target_agent_id = $1"
    recorded = len(await made.ledger.rows(query, agent))
    found.require(recorded == accepted, f"{act}: {accepted} calls were answered with a result, {recorded} recorded")
    found.hits[f"calls while in use: {act}"] += accepted
    found.hits[f"calls after: {act}"] += crowd.later.total()


AREA = Area("races", "Races", prove, (_hold, hear))
