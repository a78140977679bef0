"""Simulation: the Router's own code under a seeded scheduler, with fake time, Agents, Ledger and callers."""

import asyncio
import json
import sys
import time
from collections import Counter
from itertools import product
from typing import Any

from proof.area import Area, Figure, Findings, Run, give_way
from proof.simulation.plan import Ending
from proof.simulation.scripts import JSON, STREAMS
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
            told = await _run_seeds(first, min(_AT_ONCE, run.seed + count - first), beside=run.full)
            findings.hits.update(told["hits"])
            findings.broken.extend(told["failing"])
            return int(told["count"])

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
    command = [sys.executable, "-m", "proof.simulation", str(first), str(count)]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=give_way if beside else None,
    )
    out, complaints = await process.communicate()
    if process.returncode:
        return {"count": 0, "hits": {}, "failing": [f"seeds from {first} ended with: {complaints.decode()[-2000:]}"]}
    told: dict[str, Any] = json.loads(out)
    return told


AREA = Area(
    "simulation",
    "The Router's own code under a seeded scheduler",
    (
        "Every accepted Invocation has exactly one terminal, whatever Agent, store, caller, clock and shutdown do, in"
        " whatever order it happens.",
        "Nobody is told what is not recorded, and no Agent is asked before the acceptance is.",
        "A seed is a whole history: `python -m proof.simulation SEED` tells it again.",
    ),
    prove,
)
