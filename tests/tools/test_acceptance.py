"""The page of acceptance: which row the first ring shows, and which command shows another one."""

from pathlib import Path

import pytest

from tools import acceptance
from tools.acceptance import BY_COMMAND, LATER, covered, later_rows, page

OF_A_MODULE = """
pytestmark = [pytest.mark.asyncio, pytest.mark.{mark}]

@pytest.mark.rows("CAT-01")
def test_one(): ...
"""
OF_A_TEST = """
@pytest.mark.{mark}
@pytest.mark.rows("CAT-01", "CAT-02")
async def test_one(): ...

@pytest.mark.rows("CAT-02")
def test_two(): ...
"""
OF_A_CASE = """
@pytest.mark.parametrize("case", [1, pytest.param(2, marks=pytest.mark.{mark})])
@pytest.mark.rows("CAT-01")
def test_one(case): ...
"""


def test_a_row_that_is_not_listed_with_its_command_has_a_test_in_the_first_ring() -> None:
    found = later_rows(covered())
    listed = {row: mark for mark, rows in LATER.items() for row in rows}
    assert {row: mark for row, mark in found.items() if row not in BY_COMMAND} == listed


@pytest.mark.parametrize("mark", sorted(LATER))
def test_the_mark_of_a_module_or_a_test_takes_a_row_out_of_the_first_ring_and_the_page_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setattr(acceptance, "ROOT", tmp_path)
    file = tmp_path / "tests" / "test_rows.py"
    file.parent.mkdir()
    for text, rows in ((OF_A_MODULE, ["CAT-01"]), (OF_A_TEST, ["CAT-01"]), (OF_A_CASE, [])):
        file.write_text(text.format(mark=mark))
        assert later_rows(covered()) == dict.fromkeys(rows, mark)
        lines = {line.split(" | ")[0]: line for line in page().splitlines()}
        command = {"second_ring": "`./dev prove --ring`", "long": "`./dev prove long-tests`"}[mark]
        assert ("| CAT-01" in lines, f"{command} |" in lines["| CAT-01"]) == (True, bool(rows))
