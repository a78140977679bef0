"""Area `postgres`: the store killed, frozen, stalled, cut off, filled up and locked under load."""

import asyncio
import time
from collections.abc import Sequence

from proof.area import Area, Figure, Findings, Run
from proof.gathering import Seen, problems_of
from proof.record import OutageAnswer, Told
from proof.store.cuts import cut_everywhere
from proof.store.harm import ALWAYS, EDGES, EITHER, FAULTS, HARMLESS, LONG, NEED_VOLUMES, Harm
from proof.store.server import StoreServer, store_server
from proof.traffic import Load, Traffic, answering, traffic
from proof.world import Plan, World, world

_FIRST_SUCCESS_SECONDS = 2.0
_BESIDE_OTHERS_SECONDS = 6.0
"""In a quick run, which shares its cores with all other tests."""
_REPEATED = 10
_MOMENT_SECONDS = 1.0
"""Each fault strikes at some moment of that long, so that it meets whatever is going on just then."""
_ANSWER_SECONDS = 16.0
"""A write and its probe, five seconds each, as much for the store of the Control Plane, and a second for the way."""


async def run(run: Run) -> Findings:
    found, outage, told = Findings(), list[OutageAnswer](), list[Told]()
    async with store_server(run.folder) as (server, postgres):
        stores = await postgres.new_platform()
        superuser = postgres.url(stores.migration.rpartition("/")[2])
        async with world(stores, superuser, run.folder, Plan(edges=frozenset(EDGES))) as made:
            made.agent.usual = (answering(),)
            harm = Harm(made, server, superuser, found, run.random, run.full, outage)
            for name in _chosen(run, server):
                run.say(name)
                told += await _repeated(name, harm, run.pick(1, _REPEATED))
            told += (await cut_everywhere(run, made, found)).told
            found.broken += await problems_of(made, Seen(told, outage, router_lost=True))
            found.figures += await _figures(made, told)
    return found


def _chosen(run: Run, server: StoreServer) -> list[str]:
    possible = [name for name in FAULTS if name not in NEED_VOLUMES or len(server.volumes) == 2]
    if len(possible) < len(FAULTS):
        run.say("volumes cannot be mounted here: nothing is filled up")
    if run.full:
        return possible
    return [*ALWAYS, *run.random.sample([name for name in possible if name not in (*ALWAYS, *LONG)], 2)]


async def _repeated(name: str, harm: Harm, times: int) -> Sequence[Told]:
    told, longest = list[Told](), 0.0
    for _ in range(times):
        seen, seconds = await _provoked(name, harm)
        told += seen
        longest = max(longest, seconds)
    bound = _FIRST_SUCCESS_SECONDS if harm.full else _BESIDE_OTHERS_SECONDS
    harm.found.figures.append(Figure(f"{name}: first success afterwards", longest, "s", at_most=bound))
    return told


async def _provoked(name: str, harm: Harm) -> tuple[Sequence[Told], float]:
    """What callers were told, and how long after it the first call succeeded."""
    async with traffic(harm.made, Load(json=6, streams=2, pause=0.01)) as going:
        await going.succeeds(10)
        await asyncio.sleep(harm.chance.uniform(0, _MOMENT_SECONDS))
        began = time.time()
        await FAULTS[name](harm)
        over = time.time()
        harm.found.hits[name] += 1
        try:
            seconds = await going.succeeds(30)
        except TimeoutError:
            seconds = 30.0
    _require_felt(name, harm, going, began, over)
    return going.told, seconds


def _require_felt(name: str, harm: Harm, going: Traffic, began: float, over: float) -> None:
    """A fault that nobody felt has not happened; a harmless one makes no call fail."""
    failed = [told for told in going.told if told.outcome != "succeeded" and told.ended > began]
    if name in HARMLESS:
        slow = [told for told in going.told if told.ended - told.began > 0.15]
        harm.found.require(bool(slow), f"{name}: no call was slower")
        harm.found.require(not failed, f"{name}: {len(failed)} calls failed")
    elif name not in EITHER:
        harm.found.require(bool(failed), f"{name}: no call failed")
    late = [told for told in failed if told.began > over + _BESIDE_OTHERS_SECONDS]
    harm.found.require(not late, f"{name}: {len(late)} calls that began well after it failed")


async def _figures(made: World, told: Sequence[Told]) -> list[Figure]:
    refused = [one for one in told if one.code == "DEPENDENCY_ERROR"]
    rows = await made.ledger.recorded()
    return [
        Figure("longest wait for an answer", max(one.ended - one.began for one in told), "s", at_most=_ANSWER_SECONDS),
        Figure("calls", len(told)),
        Figure("calls told DEPENDENCY_ERROR", len(refused)),
        Figure("calls that got no answer", sum(one.status is None for one in told), at_most=0),
        Figure("invocations recorded", len(rows)),
    ]


AREA = Area(
    "postgres",
    "PostgreSQL",
    (
        "Nothing that was acknowledged is lost, whatever happens to the store.",
        "A write whose outcome nobody knows is found out: the invocation exists with one terminal, or not at all.",
        "Callers are told DEPENDENCY_ERROR within 16 s, never that something does not exist.",
        "The first call succeeds within 2 s after the store is back.",
        "All of that holds for each fault ten times in a full run, at random moments under load.",
    ),
    run,
)
