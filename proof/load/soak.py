"""The soak: hours at half load with failing Agents, to see whether memory grows and every invariant lasts.

No part of `--quick` or `--full`: it runs only when it is named.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import Gauges, gauged, percentile, slope_per_hour
from proof.load.generator import Outcome
from proof.load.platform import Loaded, loaded
from tests.ledger.writing import breaches

SOAK = "soak"
HOURS = 2.0
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
    """What callers got in all rounds so far, kept small."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        for call in outcome.calls:
            self.outcomes[call.outcome or "refused"] += 1
            self.codes[call.code or "none"] += 1
            if call.wrong is not None:
                self.wrong.append(f"{call.invocation_id or call.trace_id}: {call.wrong}")
        self.slowest = max(self.slowest, percentile([call.seconds for call in outcome.calls], 0.99))


def soak(hours: float = HOURS) -> Area:
    return Area(SOAK, "Soak", partial(_soaked, hours=hours), (_disagreements, _slopes), alone=True)


async def _soaked(run: Run, hours: float) -> Findings:
    found, tally, left = Findings(), Tally(), hours * 3600
    async with loaded(run, 512, log_level="warning") as on, gauged(on.pids, max(1.0, hours * 5)) as gauges:
        fastest = await on.generators.do("calls", callers=_CALLERS, seconds=_CALIBRATION_SECONDS)
        tally.add(fastest)
        rate, number = len(fastest.calls) / _CALIBRATION_SECONDS / 2, 0
        run.say(f"{rate:.0f} calls a second for {hours:g} h")
        while left > 0:
            number, seconds = number + 1, min(left, _ROUND_SECONDS)
            job = {"rate": rate, "seconds": seconds, "faults": _FAULTS_IN_A_HUNDRED, "seed": f"{run.seed} {number}"}
            tally.add(await on.generators.do("faulty", **job))
            left -= seconds
            run.say(f"{sum(tally.outcomes.values())} calls, {len(tally.wrong)} wrong, {max(left, 0) / 60:.0f} min left")
        await asyncio.sleep(_QUIET_SECONDS)
        found.broken += [*tally.wrong[:50], *await _disagreements(on, tally)]
    found.hits.update({f"Agent fault: {code}": count for code, count in tally.codes.items() if code != "none"})
    found.figures += [
        Figure("hours", hours, "h"),
        Figure("calls a second", rate, "1/s"),
        Figure("calls", sum(tally.outcomes.values())),
        Figure("calls told otherwise than they went", len(tally.wrong), at_most=0),
        Figure("99th percentile of the slowest five minutes", tally.slowest, "s"),
        *_slopes(gauges, hours),
    ]
    found.plots.append(gauges.plot("memory", f"Memory of the units over {hours:g} hours"))
    return found


@proves("The memory of the units grows by at most 2 MB an hour.")
def _slopes(gauges: Gauges, hours: float) -> Iterable[Figure]:
    for name, points in gauges.memory.items():
        settled = [point for point in points if point[0] >= points[-1][0] * _WARMING]
        bound = _MAX_SLOPE if hours >= JUDGED_HOURS else None
        yield Figure(f"{name}: growth of its memory", slope_per_hour(settled), "MiB/h", at_most=bound)
        yield Figure(f"{name}: memory in the end", points[-1][1], "MiB")


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
    await on.end_agent()
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
