"""Runs seeds: one with its history, or a range of them with what they found and how often each fault met its stage."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from aop.ledger.write.journal import Journal
from proof.area import proves
from proof.simulation.invariants import ending, recorded, violations
from proof.simulation.plan import Plan, plan_of
from proof.simulation.world import MAX_SECONDS, World
from tests.ledger.simulated.loop import Happening, NeverRests, SimulatedLoop


@dataclass(frozen=True)
class SeedRun:
    plan: Plan
    happened: Sequence[Happening]
    broken: Sequence[str]
    hits: Counter[str]

    def __str__(self) -> str:
        lines = [f"seed {self.plan.seed}: {'; '.join(self.broken) or 'everything held'}", *map(str, self.happened)]
        return "\n".join(lines)


@dataclass
class SeedRuns:
    count: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    failing: list[SeedRun] = field(default_factory=list)


@proves("A seed is a whole history: `python -m proof.simulation SEED` tells it again.")
def run_seed(seed: int, loop: SimulatedLoop, journal: type[Journal] = Journal) -> SeedRun:
    plan = plan_of(seed)
    loop.begin(seed, MAX_SECONDS)
    world = World(plan, loop, journal)
    try:
        loop.run_until_complete(world.run())
        broken = list(violations(world))
    except NeverRests as found:
        broken = [str(found)]
        loop.abandon()
    hits = world.history.hits
    hits.update(f"agent: {call.script.kind}" for call in plan.calls if call.name in world.agents.seen)
    hits.update(f"ended: {ending(row)}" for row in recorded(world).values())
    results = [caller.result for caller in world.callers.values()]
    hits.update(f"refused: {result.code}" for result in results if result.is_refusal)
    return SeedRun(plan, world.history.happened, broken, hits)


def run_seeds(seeds: Iterable[int], max_failing: int = 3, journal: type[Journal] = Journal) -> SeedRuns:
    """Stops early once so many seeds have failed."""
    runs = SeedRuns()
    with closing(SimulatedLoop()) as loop:
        for seed in seeds:
            run = run_seed(seed, loop, journal)
            runs.count += 1
            runs.hits += run.hits
            runs.failing += [run] if run.broken else []
            if len(runs.failing) == max_failing:
                break
    return runs
