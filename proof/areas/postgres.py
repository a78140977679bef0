"""Area `postgres`: the store killed, frozen, stalled, cut off, filled up and locked under load."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from proof.area import Area, Figure, Findings, Run, proves
from proof.fault_proxy import Direction
from proof.gathering import Seen, problems_of
from proof.record import CallResult
from proof.store.harm import FAULTS, Harm
from proof.store.server import StoreServer, store_server
from proof.traffic import Load, Traffic, answering, traffic
from proof.world import Plan, World, world_of

_FIRST_SUCCESS_SECONDS = 2.0
_BESIDE_OTHERS_SECONDS = 6.0
"""In a quick run, which shares its cores with all other tests."""
_REPEATED = 10
_MOMENT_SECONDS = 1.0
"""Each fault strikes at some moment of that long, so that it meets whatever is going on just then."""
_ANSWER_SECONDS = 16.0
"""A write and its probe, five seconds each, as much for the store of the Control Plane, and a second for the way."""


@proves("Nothing that was acknowledged is lost, whatever happens to the store.")
async def run(run: Run) -> Findings:
    found, results = Findings(), list[CallResult]()
    async with (
        store_server(run.folder) as (server, postgres),
        world_of(replace(run, postgres=postgres), Plan(proxies=True)) as made,
    ):
        made.agent.usual = (answering(),)
        harm = Harm(made, server, found, run.random, run.full)
        for name in _chosen(run, server):
            run.say(name)
            results += await _repeated(name, harm, run.pick(1, _REPEATED))
        results += await _cut_everywhere(run, made, found)
        found.broken += await problems_of(made, Seen(results, harm.outage, router_lost=True))
        found.figures += _figures(results)
    return found


def _chosen(run: Run, server: StoreServer) -> list[str]:
    possible = [name for name, fault in FAULTS.items() if not fault.needs_volumes or len(server.volumes) == 2]
    if len(possible) < len(FAULTS):
        run.say("volumes cannot be mounted here: nothing is filled up")
    if run.full:
        return possible
    by_turns = [name for name in possible if not FAULTS[name].always and not FAULTS[name].long]
    return [*(name for name in possible if FAULTS[name].always), *run.random.sample(by_turns, 2)]


@proves("All of that holds for each fault ten times in a full run, at random moments under load.")
async def _repeated(name: str, harm: Harm, times: int) -> Sequence[CallResult]:
    results, slowest = list[CallResult](), 0.0
    for _ in range(times):
        seen, seconds = await _provoked(name, harm)
        results += seen
        slowest = max(slowest, seconds)
    bound = _FIRST_SUCCESS_SECONDS if harm.full else _BESIDE_OTHERS_SECONDS
    harm.found.figures.append(Figure(f"{name}: first success afterwards", slowest, "s", at_most=bound))
    return results


@proves("The first call succeeds within 2 s after the store is back.")
async def _provoked(name: str, harm: Harm) -> tuple[Sequence[CallResult], float]:
    """What callers were told, and how long after it the first call succeeded."""
    async with traffic(harm.made, Load(json=6, streams=2, pause=0.01)) as going:
        await going.succeeds(10)
        await asyncio.sleep(harm.chance.uniform(0, _MOMENT_SECONDS))
        began = time.time()
        await FAULTS[name].happen(harm)
        ended = time.time()
        harm.found.hits[name] += 1
        try:
            seconds = await going.succeeds(30)
        except TimeoutError:
            seconds = 30.0
    _require_felt(name, harm, going, began, ended)
    return going.results, seconds


def _require_felt(name: str, harm: Harm, going: Traffic, began: float, ended: float) -> None:
    """A fault that nobody felt has not happened; a harmless one makes no call fail."""
    failed = [result for result in going.failures if result.ended > began]
    if FAULTS[name].felt is False:
        harm.found.require(any(result.seconds > 0.15 for result in going.results), f"{name}: no call was slower")
        harm.found.require(not failed, f"{name}: {len(failed)} calls failed")
    harm.found.require(bool(failed) or not FAULTS[name].felt, f"{name}: no call failed")
    late = [result for result in failed if result.began > ended + _BESIDE_OTHERS_SECONDS]
    harm.found.require(not late, f"{name}: {len(late)} calls that began well after it failed")


@proves("A write whose outcome nobody knows is found out: the invocation exists with one terminal, or not at all.")
async def _cut_everywhere(run: Run, made: World, found: Findings) -> Sequence[CallResult]:
    """Behind every byte of one invocation's transactions, in either direction. One call at a time, so that the byte is
    that of this call."""
    proxy, calls = made.proxies["router"], Traffic(made)
    for _ in range(3):
        await calls.call(stream=False)
    up, down = proxy.up, proxy.down
    await calls.call(stream=False)
    points: dict[Direction, range] = {"up": range(1, proxy.up - up + 1), "down": range(1, proxy.down - down + 1)}
    chance, samples = run.random, {"up": 14, "down": 6}
    chosen = [
        (way, byte)
        for way, bytes_ in points.items()
        for byte in (bytes_ if run.full else chance.sample(bytes_, samples[way]))
    ]
    for number, (way, behind) in enumerate(chosen):
        if number % 250 == 0:
            run.say(f"cut behind a byte of the accepting or ending transaction: {number} of {len(chosen)}")
        # The connections that were cut are new again, so that nothing but the transactions passes.
        warm = await calls.call(stream=False)
        found.require(warm.outcome == "succeeded", f"after a cut {way} behind byte {behind}: {warm.status} {warm.code}")
        before = proxy.hits["cut"]
        proxy.cut(way, behind)
        await calls.call(stream=False)
        proxy.disarm()
        await proxy.cut_done()
        found.hits[f"cut at an exact byte, {way}"] += proxy.hits["cut"] - before
    return calls.results


@proves("Callers are told DEPENDENCY_ERROR within 16 s, never INTERNAL_ERROR or that something does not exist.")
def _figures(results: Sequence[CallResult]) -> list[Figure]:
    refused = [one for one in results if one.code == "DEPENDENCY_ERROR"]
    return [
        Figure("longest wait for an answer", max(one.seconds for one in results), "s", at_most=_ANSWER_SECONDS),
        Figure("calls told DEPENDENCY_ERROR", len(refused)),
        Figure("calls told INTERNAL_ERROR", sum(one.code == "INTERNAL_ERROR" for one in results), at_most=0),
        Figure("calls that got no answer", sum(one.status is None for one in results), at_most=0),
    ]


AREA = Area("postgres", "PostgreSQL", run, (run, _cut_everywhere, _figures, _provoked, _repeated))
