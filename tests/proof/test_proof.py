"""The proof as a command: areas by name, a seed that repeats, artefacts on failure, and a report renewed by area."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proof.__main__ import main
from proof.area import Area, Figure, Findings, Run, proves
from proof.report import INDEX, index, keep
from proof.runner import Proved, area_named, area_names, prove, summary
from tests.support.postgres import PostgresForTests
from tests.support.processes import processes_of, require_none_left
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

_ROOT = Path(__file__).parents[2]
_PROGRAM = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what it starts in the background
sys.path.insert(0, {str(_ROOT)!r})
from pathlib import Path
from proof.runner import SOAK, Order, prove_all
list(prove_all([SOAK], Order(False, 1, Path("kept"), hours=1)))
"""
_IMPORTS_PROOF = re.compile(r"^\s*(?:from|import) proof\b", re.MULTILINE)


def an_area(name: str, findings: Findings | Exception) -> Area:
    async def run(run: Run) -> Findings:
        (run.folder / "artefact.txt").write_text(str(run.random.random()))
        if isinstance(findings, Exception):
            raise findings
        return findings

    return Area(name, f"Title of {name}", run, (proves("A claim.")(run),))


def proof(folder: Path, postgres: PostgresForTests, said: list[str]) -> Run:
    return Run(False, 7, folder, postgres, said.append)


def test_artefacts_are_kept_of_an_area_that_did_not_hold_and_of_no_other(
    tmp_path: Path, postgres: PostgresForTests
) -> None:
    said: list[str] = []
    broken = Findings(broken=["it broke"])
    for area in (an_area("good", Findings()), an_area("bad", broken), an_area("worse", ValueError("no"))):
        prove(area, proof(tmp_path, postgres, said))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "worse"]
    assert (tmp_path / "bad" / "problems.txt").read_text() == "it broke\n"
    assert "ValueError: no" in (tmp_path / "worse" / "broke-off.txt").read_text()
    assert said[0].endswith("good: held")


def test_a_fault_that_never_happened_and_a_figure_out_of_bounds_are_problems() -> None:
    findings = Findings(figures=[Figure("time", 3.0, "s", at_most=2.0), Figure("rate", 5.0, at_least=4.0)])
    findings.hits["a kill"] += 0
    assert [problem.partition(":")[0] for problem in findings.problems] == ["the fault never happened", "out of bounds"]
    assert summary([Proved(an_area("x", findings), findings, 1.0)])[0].startswith("BROKEN  x")


def test_on_a_busy_machine_bounds_of_the_clock_are_wider_and_others_are_not() -> None:
    slow, large = Figure("time", 3.0, "s", at_most=2.0), Figure("memory", 3.0, "MiB", at_most=2.0)
    spent = Figure("work of the loop", 3.0, "ms of CPU", at_most=2.0)
    found = Findings(figures=[slow, large, spent]).on_busy_machine()
    assert [figure.held for figure in found.figures] == [True, False, False]
    assert not slow.held


def test_a_full_run_renews_its_own_section_of_the_report(tmp_path: Path) -> None:
    found = Findings(figures=[Figure("time", 1.5, "s", at_most=2.0)])
    found.hits["a kill"] += 3
    keep(Proved(an_area("kept", found), found, 61.0), 7, tmp_path)
    missed = Findings(figures=[Figure("time", 3.0, "s", at_most=2.0)], broken=["it broke"])
    for findings in (Findings(), missed):
        keep(Proved(an_area("renewed", findings), findings, 5.0, "15.4"), 8, tmp_path)
    page = (tmp_path / "report.md").read_text()
    assert "| a kill | 3 |" in page
    assert "| time | 1.5 s | ≤ 2 | held |" in page
    assert "| time | 3 s | ≤ 2 | **missed** |" in page
    assert page.count("## Title of renewed") == 1
    assert "- it broke" in page
    assert "seed 8" in page
    assert "PostgreSQL 15.4" in page
    assert json.loads((tmp_path / "areas" / "kept.json").read_text())["seconds"] == 61


def test_areas_are_listed_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in area_names())
    with pytest.raises(SystemExit) as ended:
        main(["no-such-area"])
    assert ended.value.code == 2
    assert "there is no area 'no-such-area'" in capsys.readouterr().err


def test_an_area_whose_command_was_ended_leaves_no_process_behind(tmp_path: Path) -> None:
    """Also when the command alone gets the signal, as by `kill`, and not all of its group, as by Ctrl-C."""
    place = str(tmp_path)  # they have it as their working folder
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], cwd=tmp_path, stderr=subprocess.DEVNULL) as command:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any("aop router" in line for line in processes_of(place).values()):
            assert time.monotonic() < deadline
            assert command.poll() is None, "it ended before its units ran"
            time.sleep(0.05)
        command.terminate()
    require_none_left(place, PATIENCE_SECONDS)


def test_the_index_says_what_proves_each_promise() -> None:
    assert INDEX.read_text("utf-8") == index(), "run: ./dev prove --index"
    for name in area_names():
        assert area_named(name).claims, f"{name} promises nothing"


def test_no_other_test_depends_on_the_proof() -> None:
    """What both use lies with the tests, where whoever changes it sees everybody who uses it."""
    tests = Path(__file__).parents[1]
    others = [path for path in tests.rglob("*.py") if Path(__file__).parent not in path.parents]
    assert [path for path in others if _IMPORTS_PROOF.search(path.read_text("utf-8"))] == []
