"""Planted bugs: small mistakes in a second checkout, each of which the ordinary tests must notice; none is named."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from proof.area import Area, Figure, Findings, Run, proves
from tests.mutants import reach
from tests.mutants.edits import Edit, EditLost, read_edits
from tests.mutants.mutant import Mutant
from tests.mutants.order import select_tests
from tests.mutants.trial import CAUGHT, Judge, Trial
from tests.mutants.twin import Twin

BUGS: Sequence[Edit] = read_edits(Path(__file__).resolve().parents[1] / "planted_bugs.toml")
FEWEST = 24
_QUICK = 2
_AT_ONCE = 2


async def prove(run: Run) -> Findings:
    findings = Findings()
    mutants = _mutants(findings)
    findings.require(len({bug.name for bug in BUGS}) == len(BUGS), "two planted bugs have one name")
    findings.figures.append(Figure("planted bugs that still fit the product", len(mutants), at_least=FEWEST))
    if findings.broken:
        return findings
    if run.full and not reach.is_current():
        await reach.record([], _AT_ONCE, run.say)
    trials = await _judged(run, mutants if run.full else _by_turns(run.seed, mutants))
    findings.broken += [f"{one.mutant.name}: {one.outcome}\n{one.said}" for one in trials if not _ok(one)]
    findings.hits.update({one.mutant.name: 1 if _ok(one) else 0 for one in trials})
    findings.figures.append(Figure("planted bugs caught", sum(map(_ok, trials)), at_least=len(trials)))
    return findings


@proves("A bug whose place in the product has changed fails the build, so that the list stays true.")
def _mutants(findings: Findings) -> Sequence[Mutant]:
    mutants = []
    for bug in BUGS:
        try:
            mutants.append(bug.mutant())
        except EditLost as lost:
            findings.broken.append(str(lost))
    return mutants


def _ok(one: Trial) -> bool:
    return one.outcome in CAUGHT


def _by_turns(seed: int, mutants: Sequence[Mutant]) -> Sequence[Mutant]:
    return [mutants[(seed * _QUICK + number) % len(mutants)] for number in range(_QUICK)]


@proves(
    "Small mistakes planted in a second checkout, one at a time, are each noticed by the ordinary tests. No"
    " test is named for any of them: those run that reach the changed place, the nearest first, until one"
    " fails. That test passes on the product as it is, and fails on the mistake a second time."
)
async def _judged(run: Run, mutants: Sequence[Mutant]) -> Sequence[Trial]:
    reached, waiting, trials = reach.load(), list(mutants), list[Trial]()

    async def take(twin: Twin) -> None:
        await asyncio.to_thread(twin.renew)
        judge = Judge(twin, reached)
        while waiting:
            mutant = waiting.pop(0)
            tests = await asyncio.to_thread(select_tests, mutant, reached, everything=False)
            trials.append(one := await judge.judge(mutant, tests))
            run.say(f"{mutant.name}: {one.outcome} by {one.test} in {one.seconds:.0f} s")

    twins = [Twin(f"planted-{number}") for number in range(run.pick(1, _AT_ONCE))]
    try:
        await asyncio.gather(*map(take, twins))
    finally:
        for twin in twins:
            twin.release()
    return trials


AREA = Area("planted-bugs", "Planted bugs", prove, (_judged, _mutants))
