"""The planted bugs as a list: each fits the product, none says which test is to notice it, and stale ones are told."""

from dataclasses import replace

import pytest

from proof.areas.planted_bugs import FEWEST, MUTANTS
from tests.mutants.mutant import Mutant, stale


def test_there_are_enough_of_them_and_none_twice() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= FEWEST


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_bug_fits_the_product_and_names_no_test(mutant: Mutant) -> None:
    assert stale(mutant) is None
    assert mutant.new != mutant.old
    assert "test_" not in f"{mutant.name} {mutant.new} {mutant.why}"


def test_a_bug_whose_place_is_gone_or_no_longer_the_only_one_is_stale() -> None:
    mutant = MUTANTS[0]
    assert stale(replace(mutant, old="no such text")) is not None
    assert stale(replace(mutant, old="CREATE")) is not None
    assert stale(replace(mutant, file="no/such/file")) is not None
