"""Judges one mutant: the ordinary tests meet it on a twin, and the one that fails must be sound."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from tests.mutants.mutant import Mutant, stale
from tests.mutants.reach import Reach
from tests.mutants.twin import Ended, Twin

_PASSED, _FAILED, _NOTHING_TO_RUN = 0, 1, 5
_FILES_OF_BATCH = (4, 12, 40, 10_000)
_SHORTEST_LIMIT, _TIMES_RECORDED = 120.0, 20.0


class Outcome(StrEnum):
    CAUGHT = "caught"
    HANGS = "caught by a hang"
    DOES_NOT_LOAD = "caught at import"
    SURVIVED = "survived"
    UNDECIDED = "undecided: the tests do not run"
    STALE = "stale"


CAUGHT = frozenset({Outcome.CAUGHT, Outcome.HANGS, Outcome.DOES_NOT_LOAD})


@dataclass(frozen=True)
class Trial:
    """`met` is how many tests it was given; `flaky` are those that failed for another reason than the mutant."""

    mutant: Mutant
    outcome: Outcome
    seconds: float
    met: int
    test: str | None = None
    flaky: Sequence[str] = field(default=())
    said: str = ""


class Judge:
    def __init__(self, twin: Twin, reach: Reach) -> None:
        self._twin = twin
        self._reach = reach

    async def judge(self, mutant: Mutant, tests: Sequence[str]) -> Trial:
        begun, flaky = time.monotonic(), list[str]()
        if (problem := stale(mutant)) is not None:
            return Trial(mutant, Outcome.STALE, 0.0, 0, said=problem)
        left = list(tests)
        while True:
            outcome, ended = await self._meet(mutant, left)
            if outcome is Outcome.DOES_NOT_LOAD and not await self._loads(left):
                outcome = Outcome.UNDECIDED
            if ended.test is None or await self._is_sound(mutant, ended.test):
                seconds = round(time.monotonic() - begun, 1)
                return Trial(mutant, outcome, seconds, len(tests), ended.test, tuple(flaky), ended.said)
            flaky.append(ended.test or "")
            left = _after(left, ended.test or "")

    async def _meet(self, mutant: Mutant, tests: Sequence[str]) -> tuple[Outcome, Ended]:
        ended = Ended(_NOTHING_TO_RUN, None, False, "")
        with self._twin.planted(mutant):
            for batch in _batches(tests):
                ended = await self._twin.run(batch, self._limit)
                if ended.hangs:
                    return Outcome.HANGS, ended
                if ended.code not in {_PASSED, _NOTHING_TO_RUN}:
                    return Outcome.CAUGHT if ended.code == _FAILED else Outcome.DOES_NOT_LOAD, ended
        return Outcome.SURVIVED, ended

    async def _loads(self, tests: Sequence[str]) -> bool:
        """Whether the tests can be read without the mistake."""
        return (await self._twin.run(tests, self._limit, "--collect-only")).code == _PASSED

    async def _is_sound(self, mutant: Mutant, test: str) -> bool:
        """It passes on the product as it is, and fails on the mutant once more."""
        if (await self._twin.run([test], self._limit)).code != _PASSED:
            return False
        outcome, _ = await self._meet(mutant, [test])
        return outcome in CAUGHT

    def _limit(self, test: str) -> float:
        known = self._reach.tests.get(test)
        return max(_SHORTEST_LIMIT, _TIMES_RECORDED * known.seconds if known is not None else 2 * _SHORTEST_LIMIT)


def _batches(tests: Sequence[str]) -> Iterator[list[str]]:
    """Few files first: most mistakes are caught there, and the others need not even be read."""
    left = [list(group) for _, group in groupby(tests, lambda test: test.partition("::")[0])]
    for size in _FILES_OF_BATCH:
        batch, left = left[:size], left[size:]
        if batch:
            yield [test for file in batch for test in file]


def _after(tests: Sequence[str], failed: str) -> list[str]:
    """Those that have not passed yet. A test may be listed by its function alone."""
    function = failed.partition("[")[0]
    place = next((number for number, test in enumerate(tests) if test in {failed, function}), len(tests) - 1)
    return list(tests[place + 1 :])
