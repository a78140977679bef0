"""Races: acts that meet over one object have one order that explains every answer, and the last word stays the last."""

import asyncio
from collections.abc import Iterator

from proof.area import Area, Figure, Findings, Run, proves
from proof.plan import Plan
from proof.races.last_word import WORDS, hear
from proof.races.ring import CONTESTS, Contest, Corner, Ring
from proof.traffic import LONG_CARD, LONG_DEADLINE
from proof.world import world_of
from tests.ledger.writing import breaches

AT_ONCE = 4
_MAX_TRIES = 200
"""For acts to meet and every possible answer to be given; beyond that something is wrong with the meeting."""


async def prove(run: Run) -> Findings:
    found = Findings()
    plan = Plan(pairs=2, control_plane=LONG_DEADLINE, router=LONG_DEADLINE, card=LONG_CARD)
    async with world_of(run, plan) as made:
        ring = Ring(made.first, [Corner.of(side) for side in made.sides], run.random)
        for contest in CONTESTS:
            await _rounds(ring, contest, run.pick(10, 1000), found)
            run.say(f"{contest.name}: done")
        for act in WORDS:
            await hear(ring, act, run.pick(20, 2000), found)
            run.say(f"calls after {act}: done")
        found.require(not await breaches(made.stores.router), "the Ledger breaks its own rules")
    found.figures += [
        Figure("contests whose acts met", sum(found.hits[_name(contest)] for contest in CONTESTS)),
        Figure("calls after the last word", sum(found.hits[f"calls after: {act}"] for act in WORDS)),
    ]
    return found


async def _rounds(ring: Ring, contest: Contest, number: int, found: Findings) -> None:
    """Several side by side, each over its own object."""
    found.hits.update(dict.fromkeys((f"{contest.name}: {answers}" for answers in contest.possible), 0))
    rounds = _until_seen(contest, number, found)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(_hold(ring, contest, rounds, found))


def _until_seen(contest: Contest, number: int, found: Findings) -> Iterator[int]:
    """So many rounds, and more if in none of them the acts met, or an answer that is possible was not given."""
    needed = (_name(contest), *(f"{contest.name}: {answers}" for answers in contest.possible))
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
        prize = await ring.prize(contest)
        meeting = await ring.hold(contest, prize, number)
        state = await ring.state(contest, prize)
        found.hits[_name(contest)] += meeting.met
        found.hits[f"{contest.name}: {meeting.answers}"] += 1
        possible = contest.possible.get(meeting.answers, frozenset())
        ended = f"{contest.name}: {meeting.answers} ended {state}"
        found.require(state in possible, f"{ended}, which no order of the acts explains")


def _name(contest: Contest) -> str:
    return f"acts that met: {contest.name}"


AREA = Area("races", "Races", prove, (_hold, hear))
