"""Simulation: the Router's own code under a seeded scheduler, with fake time, Agents, Ledger and callers."""

import asyncio
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

from proof.area import Area, Figure, Findings, Run, give_way
from proof.simulation.invariants import violations
from proof.simulation.plan import JSON, STREAMS, Ending
from proof.simulation.seeds import SeedRuns, run_seed, run_seeds
from tests.ledger.simulated.store import FAULTED, STALLED, STATEMENT_FAULTS, StoreFault

QUICK_SEEDS = 3_000
FULL_SEEDS = 100_000
MAX_QUICK_SEEDS = 30_000
"""The quick form goes on until every fault has met its stage, and no further than this."""
_PROCESSES = 2
_AT_ONCE = 1_000
"""Seeds that a process runs in one go."""

_CODES = ("A2A_PROTOCOL_ERROR", "AGENT_UNAVAILABLE", "AGENT_EXECUTION_FAILED", "AGENT_RESPONSE_TOO_LARGE")
_REFUSED_TARGETS = ("AGENT_AUTH_UNSUPPORTED", "ROUTE_NOT_FOUND")
EXPECTED = (
    *(f"store: {fault} {kind}" for fault, kind in product(STATEMENT_FAULTS, FAULTED)),
    *(f"store: {StoreFault.UNREACHABLE} {kind}" for kind in ("connect", "accept", "append")),
    *(f"store: stalled {kind}" for kind in STALLED),
    *(f"ending: {ending} while it ran" for ending in Ending if ending is not Ending.QUIET),
    *(f"agent: json: {name}" for name in JSON),
    *(f"agent: stream: {name}" for name in STREAMS),
    *(f"ended: failed {code}" for code in (*_CODES, *_REFUSED_TARGETS, "DEPENDENCY_ERROR")),
    *("ended: succeeded", "ended: canceled CANCELED", "ended: timed_out TIMEOUT"),
    *("refused: DEPENDENCY_ERROR", "refused: OVERLOADED", "refused: AGENT_RELEASE_SUSPENDED", "refused: CONFLICT"),
    *("caller left", "caller stalled", "clock set back", "release suspended"),
)


async def prove(run: Run) -> Findings:
    count, most = run.pick(QUICK_SEEDS, FULL_SEEDS), run.pick(MAX_QUICK_SEEDS, FULL_SEEDS)
    findings = Findings(hits=Counter(dict.fromkeys(EXPECTED, 0)))
    started, finished = time.monotonic(), 0
    beside = give_way if run.full else None
    with ProcessPoolExecutor(run.pick(1, _PROCESSES), get_context("spawn"), initializer=beside) as workers:
        while not findings.broken and (finished < count or (finished < most and not all(findings.hits.values()))):
            first = run.seed + finished
            for runs in await _run(workers, range(first, first + max(_AT_ONCE, count - finished))):
                findings.hits.update(runs.hits)
                findings.broken += map(str, runs.failing)
                finished += runs.count
    findings.figures += [
        Figure("seeds", finished, at_least=0 if findings.broken else count),
        Figure("seeds per second", round(finished / (time.monotonic() - started))),
    ]
    return findings


async def _run(workers: ProcessPoolExecutor, seeds: range) -> list[SeedRuns]:
    parts = [seeds[start : start + _AT_ONCE] for start in range(0, len(seeds), _AT_ONCE)]
    loop = asyncio.get_running_loop()
    return await asyncio.gather(*(loop.run_in_executor(workers, run_seeds, part) for part in parts))


AREA = Area("simulation", "The Router's own code under a seeded scheduler", prove, (violations, run_seed))
