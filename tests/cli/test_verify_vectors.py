"""The verifier follows the vectors of bundles, as the one of the Console does."""

from typing import Any

import pytest

from aop.cli.shell.verify_bundle import FAULTS, verify
from aop.contracts.documents import document
from tests.support.vectors import each


@pytest.mark.rows("TREE-01")
@each("ledger-bundle")
def test_a_bundle_is_judged_as_the_vector_says(case: dict[str, Any]) -> None:
    bundle = case["bundle"]
    if case["verdict"] == "valid":
        assert document("ledger-bundle/1").violations(bundle) == ()
        assert len(verify(bundle, (bundle["head"]["size"], bundle["head"]["root"]))) == 4
        return
    with pytest.raises(FAULTS):
        verify(bundle)
