"""Planted bugs: small mistakes in a copy of the product, each of which a named test must catch."""

import asyncio
from collections.abc import Sequence

from tests.faults.area import Area, Figure, Findings, Run
from tests.faults.planted.copies import Tried, Verdict, passes, stale, try_mutant
from tests.faults.planted.edges import EDGES
from tests.faults.planted.ledger import LEDGER
from tests.faults.planted.mutant import Mutant
from tests.faults.planted.router import ROUTER

MUTANTS: Sequence[Mutant] = (*LEDGER, *ROUTER, *EDGES)
FEWEST = 24
_QUICK = 2
_AT_ONCE = 2


async def prove(run: Run) -> Findings:
    findings = Findings(broken=[text for mutant in MUTANTS if (text := stale(mutant)) is not None])
    findings.require(len({mutant.name for mutant in MUTANTS}) == len(MUTANTS), "two planted bugs have one name")
    findings.figures.append(Figure("planted bugs that still fit the product", len(MUTANTS), at_least=FEWEST))
    if findings.broken:
        return findings
    if run.full:
        findings.broken += await _unsound_tests(run)
    tried = await _tried(run, MUTANTS if run.full else _by_turns(run.seed))
    findings.broken += [
        f"{one.mutant.name}: {one.verdict} by {one.mutant.test}\n{one.said}" for one in tried if not _ok(one)
    ]
    findings.hits.update({one.mutant.name: 1 if _ok(one) else 0 for one in tried})
    findings.figures.append(Figure("planted bugs caught", sum(map(_ok, tried)), at_least=len(tried)))
    return findings


def _ok(one: Tried) -> bool:
    return one.verdict is Verdict.CAUGHT


def _by_turns(seed: int) -> Sequence[Mutant]:
    return [MUTANTS[(seed * _QUICK + number) % len(MUTANTS)] for number in range(_QUICK)]


async def _unsound_tests(run: Run) -> list[str]:
    """A test that fails without any bug would catch everything."""
    free = asyncio.Semaphore(_AT_ONCE)

    async def judged(test: str) -> str | None:
        async with free:
            return None if await passes(test) else f"fails on the product as it is: {test}"

    tests = dict.fromkeys(mutant.test for mutant in MUTANTS)
    found = await asyncio.gather(*map(judged, tests))
    run.say(f"{len(tests)} tests run on the product as it is")
    return [text for text in found if text is not None]


async def _tried(run: Run, mutants: Sequence[Mutant]) -> Sequence[Tried]:
    free = asyncio.Semaphore(run.pick(1, _AT_ONCE))

    async def tried(number: int, mutant: Mutant) -> Tried:
        async with free:
            one = await try_mutant(mutant, run.folder / f"planted-{number}")
            run.say(f"{mutant.name}: {one.verdict}")
            return one

    return await asyncio.gather(*(tried(number, mutant) for number, mutant in enumerate(mutants)))


AREA = Area(
    "planted-bugs",
    "Planted bugs",
    (
        "Small mistakes planted in a copy of the product, one at a time, are each caught by the test that is named for"
        " them; that test holds on the product as it is.",
        "A bug whose place in the product has changed fails the build, so that the list stays true.",
    ),
    prove,
)
