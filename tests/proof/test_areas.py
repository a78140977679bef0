"""Every area of the proof but one in its quick form; `./dev prove` runs the same areas alone, and at full scale."""

import random
from pathlib import Path

import pytest

from proof.area import Run
from proof.runner import area_named, area_names, prove
from tests.support.postgres import PostgresForTests

OF_THE_TESTS_THEMSELVES = "planted-bugs"
"""Runs these tests in a second checkout: it has its place in `./dev prove`, and would double what it looks at here."""


@pytest.mark.parametrize("name", [name for name in area_names() if name != OF_THE_TESTS_THEMSELVES])
def test_the_area_holds_in_its_quick_form(name: str, postgres: PostgresForTests, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**31)
    proved = prove(area_named(name), Run(False, seed, tmp_path, postgres, print))
    assert proved.findings.hits, "an area that provoked nothing proves nothing"
    assert proved.findings.problems == [], f"again: ./dev prove {name} --seed {seed}"
