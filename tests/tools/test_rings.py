"""The rings of the tests: a module is left out of a ring only where none of its tests is in it."""

from pathlib import Path

import pytest

from tests.support.rings import is_left_out, modules_in
from tools.check import CHECKS, RINGS
from tools.test_run import FIRST, SECOND

PLAIN = "def test_one(): ...\n"
WHOLE = f"pytestmark = [pytest.mark.asyncio, pytest.mark.second_ring]\n{PLAIN}"
PART = f"@pytest.mark.second_ring\n{PLAIN}\ndef test_two(): ...\n"
LONG = f"pytestmark = pytest.mark.long\n{PLAIN}"


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [(PLAIN, True, False), (WHOLE, False, True), (PART, True, True), (LONG, False, False)],
    ids=["no mark", "whole module", "one test", "long"],
)
def test_a_ring_reads_the_modules_that_have_a_test_of_it(tmp_path: Path, text: str, first: bool, second: bool) -> None:
    file = tmp_path / "test_module.py"
    file.write_text(text)
    assert (not is_left_out(file, FIRST.tests), not is_left_out(file, SECOND.tests)) == (first, second)
    assert not is_left_out(file, "")
    for other in (tmp_path, tmp_path / "conftest.py"):
        assert not is_left_out(other, FIRST.tests)


def test_a_place_is_a_folder_a_file_or_a_test_and_a_module_is_named_once() -> None:
    here = Path(__file__)
    assert modules_in([str(here), f"{here}::test_one"], FIRST.tests) == [here]
    assert here in modules_in(["tests/tools"], FIRST.tests)


def test_a_check_runs_beside_one_ring_at_most() -> None:
    names = [name for ring in (FIRST, SECOND) for name in RINGS[ring.checks]]
    assert len(names) == len(set(names))
    assert set(names) < set(CHECKS)
