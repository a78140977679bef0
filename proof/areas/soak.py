"""Area `soak`: hours at half load with failing Agents, to see whether memory grows and every invariant lasts.

No part of `--quick` or `--full`: it runs only when it is named.
"""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import memory
from proof.load import jobs
from proof.load.jobs import Outcome
from proof.load.platform import Loaded, loaded
from tests.ledger.writing import breaches
from tests.support.waiting import background

JUDGED_HOURS = 1.0
"""Of a shorter run the slope is shown and not judged: it is noise."""
_CALLERS = 32
_CALIBRATION_SECONDS = 10.0
_ROUND_SECONDS = 300.0
_FAULTS_IN_A_HUNDRED = 5.0
_MAX_SLOPE = 2.0
_WARMING = 0.25
"""The part of the time in which caches and pools still fill."""
_QUIET_SECONDS = 10.0
_UNSOUND = (
    "SELECT count(*) FROM ledger.invocation AS whole WHERE 1 <> (SELECT count(*) FROM ledger.event AS fact"
    " WHERE fact.invocation_id = whole.invocation_id AND fact.type <> 'stream')"
)
_OUTCOMES = "SELECT type, count(*) AS number FROM ledger.event WHERE type <> 'stream' GROUP BY type"


@dataclass
class Tally:
    """What callers got and what the units held in all rounds so far, kept small."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    held: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """MiB of each unit, at seconds of a clock."""

    def add(self, outcome: Outcome) -> None:
        for call in outcome.calls:
            self.outcomes[call.outcome or "refused"] += 1
            if call.code is not None:
                self.codes[f"Agent fault: {call.code}"] += 1
            if call.wrong is not None:
                self.wrong.append(f"{call.invocation_id or call.trace_id}: {call.wrong}")

    async def weigh(self, pids: dict[str, int], seconds: float) -> None:
        while True:
            self.held.append((time.monotonic(), memory(pids)))
            await asyncio.sleep(seconds)


async def run(run: Run) -> Findings:
    found, tally, left = Findings(), Tally(), run.hours * 3600
    async with loaded(run, 512, log_level="warning") as on, background(tally.weigh(on.pids, max(1.0, run.hours * 5))):
        fastest = await on.uncounted(jobs.calls, callers=_CALLERS, seconds=_CALIBRATION_SECONDS)
        tally.add(fastest)
        rate, number = len(fastest.calls) / _CALIBRATION_SECONDS / 2, 0
        run.say(f"{rate:.0f} calls a second for {run.hours:g} h")
        while left > 0:
            number, seconds = number + 1, min(left, _ROUND_SECONDS)
            job = {"rate": rate, "seconds": seconds, "faults": _FAULTS_IN_A_HUNDRED, "seed": f"{run.seed} {number}"}
            tally.add(await on.uncounted(jobs.faulty, **job))
            left -= seconds
            run.say(f"{tally.outcomes.total()} calls, {len(tally.wrong)} wrong, {max(left, 0) / 60:.0f} min left")
        await asyncio.sleep(_QUIET_SECONDS)
        found.broken += [*tally.wrong[:50], *await _disagreements(on, tally)]
    found.hits.update(tally.codes)
    found.figures += [
        Figure("hours", run.hours, "h"),
        Figure("calls", tally.outcomes.total()),
        Figure("calls told otherwise than they went", len(tally.wrong), at_most=0),
        *_slopes(tally, run.hours),
    ]
    return found


@proves("The memory of the units grows by at most 2 MB an hour.")
def _slopes(tally: Tally, hours: float) -> Iterable[Figure]:
    settled = tally.held[int(len(tally.held) * _WARMING) :]
    seconds = [at for at, _ in settled]
    bound = _MAX_SLOPE if hours >= JUDGED_HOURS else None
    for name in settled[0][1]:
        slope = statistics.linear_regression(seconds, [held[name] for _, held in settled]).slope * 3600
        yield Figure(f"{name}: growth of its memory", slope, "MiB/h", at_most=bound)


@proves(
    "For hours at half of what the platform can do, 5 % of the calls meeting a failing Agent, every call gets exactly"
    " what became of it, and the Ledger holds the same."
)
async def _disagreements(on: Loaded, tally: Tally) -> Iterable[str]:
    """Too much to check every call: the Ledger's totals beside the callers'."""
    ledger = on.made.ledger
    recorded = {row["type"]: row["number"] for row in await ledger.rows(_OUTCOMES)}
    answered = {outcome: count for outcome, count in tally.outcomes.items() if outcome != "refused"}
    problems = [f"ledger check: {breach}" for breach in await breaches(on.made.stores.router)]
    if recorded != answered:
        problems.append(f"answered {answered}, recorded {recorded}")
    unsound = (await ledger.rows(_UNSOUND))[0]["count"]
    if unsound:
        problems.append(f"{unsound} invocations have not exactly one terminal")
    return [*problems, *_agent_problems(on.seen)]


def _agent_problems(seen: Path) -> Iterable[str]:
    messages, credentials, lines = set[str](), set[str](), 0
    with seen.open() as file:
        for line in file:
            _, method, invocation_id, jti = line.split()
            lines += 1
            credentials.add(jti)
            if method.startswith("message/"):
                if invocation_id in messages:
                    yield f"{invocation_id}: its Agent got a second message"
                messages.add(invocation_id)
    if len(credentials) != lines:
        yield f"{lines - len(credentials)} credentials were used again"


AREA = Area("soak", "Soak", run, (_disagreements, _slopes), alone=True)
