"""Simulation: the Router's own code under a seeded scheduler, with fake time, Agents, Ledger and callers."""

import asyncio
import json
import time
from collections import Counter
from itertools import product
from typing import Any

from proof.area import Area, Figure, Findings, ProgramFailed, Run, give_way, program
from proof.simulation.invariants import violations
from proof.simulation.plan import Ending
from proof.simulation.scripts import JSON, STREAMS
from proof.simulation.seeds import run_seed
from proof.simulation.store import FAULTED, STALLED, STATEMENT_FAULTS, StoreFault

QUICK_SEEDS = 10_000
FULL_SEEDS = 100_000
_PROCESSES = 2
_AT_ONCE = 2_500
"""Seeds of one process, so that progress is seen and a hanging one would be."""

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
    count = run.pick(QUICK_SEEDS, FULL_SEEDS)
    firsts = range(run.seed, run.seed + count, _AT_ONCE)
    free = asyncio.Semaphore(run.pick(1, _PROCESSES))
    findings = Findings(hits=Counter(dict.fromkeys(EXPECTED, 0)))
    started = time.monotonic()

    async def seeds(first: int) -> int:
        async with free:
            found = await _run_seeds(first, min(_AT_ONCE, run.seed + count - first), beside=run.full)
            findings.hits.update(found["hits"])
            findings.broken.extend(found["failing"])
            return int(found["count"])

    done = sum(await asyncio.gather(*map(seeds, firsts)))
    seconds = time.monotonic() - started
    findings.figures += [
        Figure("seeds", done, at_least=count if not findings.broken else 0),
        Figure(
            "kinds of outcome and fault met", sum(findings.hits[name] > 0 for name in EXPECTED), f"of {len(EXPECTED)}"
        ),
        Figure("seeds per second", round(done / seconds)),
    ]
    return findings


async def _run_seeds(first: int, count: int, *, beside: bool) -> dict[str, Any]:
    before = give_way if beside else None
    try:
        printed = await program("proof.simulation", str(first), str(count), preexec_fn=before)
    except ProgramFailed as failed:
        return {"count": 0, "hits": {}, "failing": [f"seeds from {first} ended with: {failed}"]}
    found: dict[str, Any] = json.loads(printed)
    return found


AREA = Area("simulation", "The Router's own code under a seeded scheduler", prove, (violations, run_seed))
