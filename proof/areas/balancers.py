"""Area `balancers`: every unit is replaced, and killed, behind each shipped balancer that this machine has."""

import asyncio
import signal
import time
from dataclasses import replace

from proof.area import Area, Figure, Findings, Run, proves
from proof.balancers.program import KINDS, Balancer
from proof.balancers.stage import balanced, by_name
from proof.gathering import Seen, problems_of
from proof.record import CallResult
from proof.traffic import Load, traffic
from proof.world import World
from tests.store.next_version import DECLARED, migrated
from tests.support.replicas import Replica

_LOAD = Load(json=5, streams=2, pause=0.02)


async def prove(run: Run) -> Findings:
    found = Findings()
    here = [kind for kind in KINDS if kind.is_here()]
    for missing in (kind for kind in KINDS if kind not in here):
        run.say(f"{missing.name} is not on this machine: not run")
    found.require(bool(here), "this machine has no balancer at all")
    for kind in here:
        async with balanced(run, kind) as (made, balancer):
            await _replaced(made, balancer, run, found)
            await _upgraded(made, balancer, run, found)
            await _killed(made, balancer, found)
    return found


@proves("Every unit is replaced under load behind each balancer, three times in a full run, and no call fails.")
async def _replaced(made: World, balancer: Balancer, run: Run, found: Findings) -> None:
    async with traffic(made, _LOAD) as going:
        await going.succeeds(30)
        for _ in range(run.pick(1, 3)):
            for name, unit in by_name(made):
                await _replace_one(name, unit, balancer)
                found.hits[f"units replaced behind {balancer.name}"] += 1
        await going.succeeds(30)
    lost = going.failures
    run.say(f"{balancer.name}: {len(going.results)} calls, {len(lost)} lost")
    found.broken += [f"{balancer.name}: {_described(call)}" for call in lost[:5]]
    found.figures.append(Figure(f"calls while units were replaced behind {balancer.name}", len(going.results)))
    found.figures.append(Figure(f"calls lost behind {balancer.name}", len(lost), at_most=0))
    found.figures.append(Figure(f"slowest call behind {balancer.name}", max(one.seconds for one in going.results), "s"))
    found.broken += await problems_of(made, Seen(going.results))


async def _replace_one(name: str, unit: Replica, balancer: Balancer) -> None:
    """As the page says: where a balancer does not ask for health, the unit is taken out of it first."""
    await balancer.take_out(name)
    unit.send(signal.SIGTERM)
    await unit.ended()
    await unit.restart()
    await balancer.put_back()


@proves("An upgrade that is declared to need no stop loses no call: the store first, then unit after unit.")
async def _upgraded(made: World, balancer: Balancer, run: Run, found: Findings) -> None:
    async with traffic(made, _LOAD) as going:
        await going.succeeds(30)
        # As the command says when a table is in use, it is repeated. Calls go on meanwhile.
        while (told := await migrated(made.stores.migration, DECLARED))[0]:
            found.hits["migrations that gave way to calls"] += 1
            assert "repeat this" in told[1], told
        for name, unit in by_name(made):
            unit.command = ("-m", "tests.store.next_unit", DECLARED)
            await _replace_one(name, unit, balancer)
            found.hits[f"units upgraded behind {balancer.name}"] += 1
        await going.succeeds(30)
    run.say(f"{balancer.name}: {len(going.results)} calls during an upgrade, {len(going.failures)} lost")
    found.broken += [f"{balancer.name}, upgrade: {_described(call)}" for call in going.failures[:5]]
    found.figures.append(Figure(f"calls lost in an upgrade behind {balancer.name}", len(going.failures), at_most=0))


@proves("When a unit is killed in the middle of calls, no balancer sends anything a second time.")
async def _killed(made: World, balancer: Balancer, found: Findings) -> None:
    results, killed = list[CallResult](), list[float]()
    for name, unit in by_name(made):
        async with traffic(made, replace(_LOAD, pause=0.0)) as going:
            await going.succeeds(30)
            await unit.kill()
            killed.append(time.time())
            found.hits[f"{name.rpartition('-')[0]} killed behind {balancer.name}"] += 1
            await asyncio.sleep(0.5)
            await unit.restart()
            await balancer.put_back()
            await going.succeeds(30)
        results += going.results
    broken = await problems_of(made, Seen(results, gateway_killed=killed, router_lost=True))
    found.broken += [f"{balancer.name}: {problem}" for problem in broken]


def _described(call: CallResult) -> str:
    return f"a call of {call.seconds:.2f} s was told {call.status} {call.code} {call.body[:200]!r}"


AREA = Area("balancers", "Balancers", prove, (_replaced, _upgraded, _killed), alone=True)
