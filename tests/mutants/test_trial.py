"""A trial: what a failing test proves, what a hang proves, and what neither does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from tests.mutants import report
from tests.mutants.__main__ import main
from tests.mutants.mutant import Mutant
from tests.mutants.reach import Reach
from tests.mutants.trial import Judge, Outcome, Trial
from tests.mutants.twin import Ended, Limit, Twin

pytestmark = pytest.mark.second_ring

FIRST, SECOND, THIRD = "tests/a.py::test_1", "tests/a.py::test_2", "tests/b.py::test_3"
MUTANT = Mutant("base/json.py:1 x", "src/aop/base/json.py", '"""', "'''", "x")
REAL = Mutant("one", "pyproject.toml", 'name = "agent-operating-platform"', 'name = "other"', "x")
PASSED = Ended(0, None, False, "")


@dataclass
class ScriptedTwin:
    """Fails the tests named, with the mutant and without."""

    planted_failures: Sequence[Ended] = ()
    sound_failures: frozenset[str] = frozenset()
    runs: list[tuple[bool, Sequence[str]]] = field(default_factory=list)
    _planted: bool = False

    @contextmanager
    def planted(self, _: Mutant) -> Iterator[None]:
        self._planted = True
        yield
        self._planted = False

    async def run(self, tests: Sequence[str], _: Limit, *options: str) -> Ended:
        self.runs.append((self._planted, tests))
        if self._planted:
            return next((ended for ended in self.planted_failures if ended.test in {*tests, None}), PASSED)
        return _failed(tests[0]) if tests[0] in self.sound_failures else PASSED


async def test_a_test_that_fails_with_the_mistake_only_catches_it() -> None:
    twin = ScriptedTwin([_failed(SECOND)])
    trial = await _judge(twin)
    assert (trial.outcome, trial.test, trial.flaky) == (Outcome.CAUGHT, SECOND, ())
    assert twin.runs == [(True, [FIRST, SECOND, THIRD]), (False, [SECOND]), (True, [SECOND])]


async def test_the_nearest_files_are_met_first_and_a_survivor_has_met_all() -> None:
    tests = [f"tests/{number // 2:02}.py::test_{number}" for number in range(200)]
    twin = ScriptedTwin()
    await judge(twin).judge(REAL, tests)
    assert [len(batch) for _, batch in twin.runs] == [8, 24, 80, 88]
    assert [test for _, batch in twin.runs for test in batch] == tests


async def test_a_test_that_fails_without_the_mistake_too_proves_nothing_and_the_rest_goes_on() -> None:
    twin = ScriptedTwin([_failed(FIRST), _failed(THIRD)], frozenset({FIRST}))
    trial = await _judge(twin)
    assert (trial.outcome, trial.test, trial.flaky) == (Outcome.CAUGHT, THIRD, (FIRST,))
    assert (True, [SECOND, THIRD]) in twin.runs


async def test_a_mistake_that_every_test_passes_with_survives() -> None:
    assert (await _judge(ScriptedTwin())).outcome is Outcome.SURVIVED
    assert (await judge(ScriptedTwin()).judge(REAL, [])).outcome is Outcome.SURVIVED


async def test_a_hang_and_a_product_that_does_not_load_are_told_apart() -> None:
    assert (await _judge(ScriptedTwin([Ended(-9, SECOND, True, "")]))).outcome is Outcome.HANGS
    assert (await _judge(ScriptedTwin([Ended(4, None, False, "")]))).outcome is Outcome.DOES_NOT_LOAD


async def test_tests_that_do_not_even_load_without_the_mistake_decide_nothing() -> None:
    twin = ScriptedTwin([Ended(4, None, False, "")], frozenset({FIRST}))
    assert (await _judge(twin)).outcome is Outcome.UNDECIDED


async def test_a_mistake_whose_place_is_gone_is_stale() -> None:
    assert (await judge(ScriptedTwin()).judge(MUTANT, [FIRST])).outcome is Outcome.STALE


async def test_a_list_and_a_report_are_read_as_they_were_written(tmp_path: Path) -> None:
    report.write_list(tmp_path / "list.json", 5, "abc", [REAL, MUTANT])
    assert report.read_list(tmp_path / "list.json") == [REAL, MUTANT]
    trials = {1: await _judge(ScriptedTwin([_failed(SECOND)])), 2: await _judge(ScriptedTwin())}
    report.write_trials(tmp_path / "report.json", trials)
    assert report.read_trials(tmp_path / "report.json", without=[2]) == {1: trials[1]}
    written = (tmp_path / "report.md").read_text("utf-8")
    assert written.startswith("Of 2 mutants: 1 caught, 1 survived.")
    assert '`name = "agent-operating-platform"` → `name = "other"`' in written


def test_a_list_is_never_drawn_over_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["draw", str(tmp_path / "list.json"), "--seed", "3", "--count", "2"]
    assert main(arguments) == 0
    before = (tmp_path / "list.json").read_bytes()
    assert main(arguments) == 2
    assert (tmp_path / "list.json").read_bytes() == before
    assert "drawn once" in capsys.readouterr().out


async def _judge(twin: ScriptedTwin) -> Trial:
    return await judge(twin).judge(REAL, [FIRST, SECOND, THIRD])


def judge(twin: ScriptedTwin) -> Judge:
    return Judge(cast("Twin", twin), Reach())


def _failed(test: str) -> Ended:
    return Ended(1, test, False, "")
