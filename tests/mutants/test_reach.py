"""What a test reaches: marks that outlive their process, and the blocks around a line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.marks import BYTES, Block, mark_product
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.order import select_tests
from tests.mutants.reach import Reach, Reached, digest

pytestmark = pytest.mark.second_ring

PRODUCT = '''"""A module."""

from __future__ import annotations

import os, signal


def chosen(large: bool) -> str:
    """Says which."""
    if large:
        return "large"
    else:
        return "small"


class Program:
    def end(self) -> None:
        try:
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            chosen(True)
'''
FILE = "src/aop/base/json.py"


def test_a_mark_tells_which_block_ran_though_the_process_was_killed(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "product.py").write_text(PRODUCT)
    blocks = mark_product(tmp_path)
    program = "import product; print(product.chosen(False)); product.Program().end()"
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "src", check=False, capture_output=True)
    assert ended.returncode < 0
    marks = (tmp_path / "src" / BYTES).read_bytes()
    ran = {(block.function, block.first) for block, mark in zip(blocks, marks, strict=True) if mark}
    assert ran == {("chosen", 9), ("chosen", 13), ("Program.end", 18), ("Program.end", 19)}
    assert ("chosen", 11) in {(block.function, block.first) for block in blocks}


def test_the_closest_block_around_a_line_counts_and_the_function_where_the_file_has_changed() -> None:
    blocks = [Block(FILE, "read", 1, 9), Block(FILE, "read", 3, 4), Block(FILE, "write", 12, 15)]
    current = Reach(blocks, {FILE: digest(ROOT / FILE)})
    assert current.blocks_at(FILE, 3, "read") == 0b010
    assert current.blocks_at(FILE, 8, "read") == 0b001
    assert current.blocks_at(FILE, 10, "") == 0
    assert Reach(blocks, {FILE: "another"}).blocks_at(FILE, 3, "write") == 0b100


@pytest.mark.long
def test_tests_that_reach_the_change_come_first_then_the_others_of_their_files() -> None:
    reach = _reach(reaching={"tests/b.py::test_two": 0b1, "tests/b.py::test_one": 0b10, "tests/a.py::test_far": 0b100})
    assert select_tests(_inside(), reach, everything=False) == ["tests/b.py::test_two", "tests/b.py::test_one"]
    assert select_tests(_inside(), reach, everything=True)[2:] == ["tests/a.py::test_far"]


@pytest.mark.long
def test_a_change_that_runs_at_import_meets_every_test() -> None:
    reach = _reach(reaching={"tests/b.py::test_two": 0b1, "tests/a.py::test_far": 0b100})
    assert set(select_tests(_at_import(), reach, everything=False)) == set(reach.tests)


def test_a_test_that_has_changed_since_the_record_is_met_as_well() -> None:
    reach = _reach(reaching={"tests/b.py::test_two": 0b1})
    del reach.digests["tests/base/test_json.py"]
    found = select_tests(_inside(), reach, everything=False)
    assert "tests/b.py::test_two" in found
    assert {name.partition("::")[0] for name in found} == {"tests/b.py", "tests/base/test_json.py"}


@pytest.mark.long
def test_without_a_record_the_nearest_by_words_and_imports_comes_first() -> None:
    found = select_tests(_inside(), Reach(), everything=False)
    assert found[0].startswith("tests/base/test_json.py::")
    assert len(found) == len(set(found)) > 500
    assert not any(name.startswith(("tests/mutants/", "tests/proof/test_planted.py")) for name in found)


def _reach(reaching: dict[str, int]) -> Reach:
    lines = (ROOT / FILE).read_text("utf-8").count("\n")
    inside = Block(FILE, "any", _line(_inside().old), lines)
    blocks = [inside, Block("src/aop/other.py", "x", 1, 2), Block("src/aop/other.py", "y", 4, 5)]
    tests = {str(path.relative_to(ROOT)): digest(path) for path in (ROOT / "tests").rglob("test_*.py")}
    reached = {name: Reached(1.0, blocks) for name, blocks in reaching.items()}
    absent = {name.partition("::")[0]: "" for name in reaching}
    return Reach(blocks, {FILE: digest(ROOT / FILE), **tests, **absent}, reached)


def _line(text: str) -> int:
    return (ROOT / FILE).read_text("utf-8").partition(text)[0].count("\n") + 1


def _inside() -> Mutant:
    return Mutant("a member twice", FILE, "        if len(found) == len(pairs):\n", "        if True:\n", "")


def _at_import() -> Mutant:
    first = (ROOT / FILE).read_text("utf-8").splitlines()[0]
    return Mutant("its head", FILE, first, '"""Another."""', "")
