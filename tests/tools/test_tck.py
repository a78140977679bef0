"""`./dev tck` never says that a row passed which it did not run, and judges the kit's figures by the bar."""

from pathlib import Path

import pytest

from interop.page import write_section
from interop.tck.__main__ import EXIT_NOT_RUN, main
from interop.tck.door import BRANCHES, Branch, DoorResult, checkouts, door_table
from interop.tck.kit import BAR, Count, KitRun


@pytest.mark.parametrize("arguments", [[], ["--kit", "no-such-folder"], ["--kit", "docs"]])
def test_without_a_checkout_of_the_kit_the_row_is_not_run(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == EXIT_NOT_RUN
    said = capsys.readouterr().out
    assert "FOR-05: not run" in said
    assert "passed" not in said


def test_without_a_checkout_the_door_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--door", "--kit", "docs"]) == EXIT_NOT_RUN
    assert "DOOR-06: branch 0.3.x and 1.0-dev not run" in capsys.readouterr().out


def test_a_checkout_is_known_by_its_folders(tmp_path: Path) -> None:
    for branch in BRANCHES:
        (tmp_path / branch.name / branch.mark).mkdir(parents=True)
    kits = [tmp_path, *(tmp_path / branch.name for branch in BRANCHES)]
    assert checkouts(kits) == {branch.name: tmp_path / branch.name for branch in BRANCHES}


@pytest.mark.parametrize("branch", BRANCHES, ids=lambda branch: branch.name)
def test_only_failures_with_a_written_reason_are_excused(branch: Branch) -> None:
    excused = list(branch.excused)
    as_written = DoorResult(branch, "abc", KitRun(Count(9, len(excused), 1), excused))
    assert (as_written.unexcused, as_written.outdated) == ([], [])
    one_more = DoorResult(branch, "abc", KitRun(Count(8, len(excused) + 1, 1), [*excused, "tests/new.py::test"]))
    assert one_more.unexcused == ["tests/new.py::test"]
    empty = DoorResult(branch, "abc", KitRun(Count(0, 0, 0), []))
    assert empty.outdated == excused, "a run of nothing is no success"
    lines = door_table([as_written])
    assert sum("not run" in line for line in lines) == len(BRANCHES) - 1
    assert all(any(why in line for line in lines) for why in branch.excused.values())


@pytest.mark.parametrize(
    ("count", "reached"),
    [
        (Count(30, 0, 3), True),
        (Count(31, 0, 2), True),
        (Count(29, 0, 3), False),
        (Count(30, 1, 2), False),
        (Count(30, 0, 4), False),
        (Count(0, 0, 0), False),
    ],
)
def test_the_bar_is_reached_only_with_as_many_passed_and_no_more_failed_or_skipped(count: Count, reached: bool) -> None:
    assert count.reaches(BAR["mandatory"]) is reached


def test_a_table_replaces_its_own_section_of_the_page_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- a -->\nold\n<!-- end of a -->\nmiddle\n<!-- b -->\n<!-- end of b -->\n")
    write_section("a", ["new"], page)
    assert page.read_text() == "head\n<!-- a -->\n\nnew\n\n<!-- end of a -->\nmiddle\n<!-- b -->\n<!-- end of b -->\n"
    with pytest.raises(ValueError, match="no section c"):
        write_section("c", ["new"], page)
