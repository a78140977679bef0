"""Races: acts that meet over one object have one order that explains every answer, and the last word stays the last."""

import asyncio
from collections.abc import Iterator

from proof.area import Area, Figure, Findings, Run
from proof.held_parent import LONG_CARD, LONG_DEADLINE
from proof.races.contests import CONTESTS, Contest
from proof.races.last_word import WORDS, hear
from proof.races.ring import Corner, Ring
from proof.world import Plan, world
from tests.ledger.writing import breaches

LANES = 4
_MOST_TRIES = 200
"""For acts to meet and every possible answer to be given; beyond that something is wrong with the meeting."""


async def prove(run: Run) -> Findings:
    found = Findings()
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    async with world(
        stores,
        run.postgres.url(database),
        run.folder,
        Plan(pairs=2, control_plane=LONG_DEADLINE, router=LONG_DEADLINE, card=LONG_CARD),
    ) as made:
        ring = Ring(made.first, [Corner.of(side) for side in made.sides], run.random)
        for contest in CONTESTS:
            await _rounds(ring, contest, run.pick(10, 1000), found)
            run.say(f"{contest.name}: done")
        for act in WORDS:
            await hear(ring, act, run.pick(20, 2000), found)
            run.say(f"calls after {act}: done")
    found.require(not await breaches(stores.router), "the Ledger breaks its own rules")
    await run.postgres.drop(database)
    found.figures += [
        Figure("contests whose acts met", sum(found.hits[_name(contest)] for contest in CONTESTS)),
        Figure("calls after the last word", sum(found.hits[f"calls after: {act}"] for act in WORDS)),
    ]
    return found


async def _rounds(ring: Ring, contest: Contest, number: int, found: Findings) -> None:
    """Several side by side, each over its own object."""
    found.hits.update(dict.fromkeys((f"{contest.name}: {answers}" for answers in contest.possible), 0))
    rounds = _until_seen(contest, number, found)
    async with asyncio.TaskGroup() as lanes:
        for _ in range(LANES):
            lanes.create_task(_lane(ring, contest, rounds, found))


def _until_seen(contest: Contest, number: int, found: Findings) -> Iterator[int]:
    """So many rounds, and more if in none of them the acts met, or an answer that is possible was not given."""
    wanted = (_name(contest), *(f"{contest.name}: {answers}" for answers in contest.possible))
    for at in range(max(number, _MOST_TRIES)):
        if at >= number and all(found.hits[name] for name in wanted):
            return
        yield at


async def _lane(ring: Ring, contest: Contest, rounds: Iterator[int], found: Findings) -> None:
    for number in rounds:
        prize = await ring.prize(contest)
        meeting = await ring.hold(contest, prize, number)
        state = await ring.state(contest, prize)
        found.hits[_name(contest)] += meeting.met
        found.hits[f"{contest.name}: {meeting.answers}"] += 1
        possible = contest.possible.get(meeting.answers, frozenset())
        told = f"{contest.name}: {meeting.answers} ended {state}"
        found.require(state in possible, f"{told}, which no order of the acts explains")


def _name(contest: Contest) -> str:
    return f"acts that met: {contest.name}"


AREA = Area(
    name="races",
    title="Races",
    claims=(
        "Acts that meet over one object through two Control Planes have one winner: some order of them explains every"
        " answer, the loser's exact code and the state everybody reads afterwards.",
        "Once a revoke, a suspend, a disable or an uninstall was answered, no later call is accepted, neither through a"
        " Gateway nor from within a running Invocation; what was accepted before is what the Ledger holds.",
    ),
    run=prove,
)
