"""The planted bugs as a list: each fits the product, none says which test is to notice it, and lost ones are errors."""

from dataclasses import replace

import pytest

from proof.areas.planted_bugs import BUGS, FEWEST
from tests.mutants.edits import Edit, EditLost
from tests.mutants.mutant import stale

BY_NAME = {bug.name: bug for bug in BUGS}


def test_there_are_enough_of_them_and_none_twice() -> None:
    assert len(BY_NAME) == len(BUGS) >= FEWEST


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_fits_the_product_and_names_no_test(bug: Edit) -> None:
    mutant = bug.mutant()
    assert stale(mutant) is None
    assert mutant.new != mutant.old
    assert "test_" not in f"{bug.name} {bug.put} {bug.why}"


@pytest.mark.parametrize(
    "changes",
    [
        {"find": "no_such()"},
        {"find": "self"},
        {"function": "no_such"},
        {"file": "src/aop/no_such.py"},
        {"put": "self.worker.cancel()"},
        {"put": "no code ("},
    ],
    ids=str,
)
def test_a_bug_whose_place_is_gone_or_no_longer_the_only_one_is_lost(changes: dict[str, str]) -> None:
    with pytest.raises(EditLost):
        replace(BY_NAME["a stop is swallowed"], **changes).mutant()


@pytest.mark.parametrize("changes", [{"text": "no such text"}, {"text": "CREATE"}, {"file": "no/such.sql"}], ids=str)
def test_so_is_one_of_a_file_that_is_no_python(changes: dict[str, str]) -> None:
    with pytest.raises(EditLost):
        replace(BY_NAME["no index for one terminal"], **changes).mutant()
