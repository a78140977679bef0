"""`./dev tck` never says that a row passed which it did not run, and judges the kit's figures by the bar."""

from pathlib import Path

import pytest

from interop.page import write_section
from interop.tck.__main__ import EXIT_NOT_RUN, main
from interop.tck.kit import BAR, Count


@pytest.mark.parametrize("arguments", [[], ["--kit", "no-such-folder"], ["--kit", "docs"]])
def test_without_a_checkout_of_the_kit_the_row_is_not_run(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == EXIT_NOT_RUN
    said = capsys.readouterr().out
    assert "FOR-05: not run" in said
    assert "passed" not in said


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
